import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { secondsFromText } from "./file-record.ts";
import { parseZoneFile } from "./zone-file.ts";

const head = "$ORIGIN example.com.\n$TTL 1h\n@ IN SOA ns host ( 7 ; serial\n 2h 30m\n\t1w 5m )\n  NS ns\n";

function setsOf(text: string, origin?: string): string[] {
  const { zone, problems } = parseZoneFile(text, origin === undefined ? {} : { origin });
  assert.deepEqual(problems, undefined);
  return [...zone.recordSets()].map((set) => `${set.name} ${set.ttl} ${set.type} ${set.data.join(" | ")}`);
}

test("a file with all of the format's forms is read", () => {
  const text = `${head}; a comment
ns      A 192.0.2.1
www  60 IN A 192.0.2.1
     IN 30 A 192.0.2.2   ; other order, other TTL
     AAAA 2001:db8::1
txt     TXT "a;b \\" (c)" d\\;e "" \\097
@       MX 10 mail
\t20    MX 20 mail.example.net.
a\\.b   A 192.0.2.3
*.wild  A 192.0.2.4
t       TYPE1234 \\# 3 (01
                02 03)
c       class1 CNAME @
$ORIGIN sub
x       A 192.0.2.5
$TTL 10
y.example.com. A 192.0.2.6
`;
  assert.deepEqual(
    setsOf(text),
    [
      "example.com 3600 SOA ns.example.com. host.example.com. 7 7200 1800 604800 300",
      "example.com 3600 NS ns.example.com.",
      "example.com 20 MX 10 mail.example.com. | 20 mail.example.net.",
      "a\\.b.example.com 3600 A 192.0.2.3",
      "c.example.com 3600 CNAME example.com.",
      "ns.example.com 3600 A 192.0.2.1",
      "x.sub.example.com 3600 A 192.0.2.5",
      "t.example.com 3600 TYPE1234 \\# 3 010203",
      'txt.example.com 3600 TXT "a;b \\" (c)" "d;e" "" "a"',
      "*.wild.example.com 3600 A 192.0.2.4",
      "www.example.com 30 A 192.0.2.1 | 192.0.2.2",
      "www.example.com 3600 AAAA 2001:db8::1",
      "y.example.com 10 A 192.0.2.6",
    ].sort((left, right) => order(left) - order(right)),
  );
  function order(line: string): number {
    const names = [
      "example.com",
      "a\\.b",
      "c",
      "ns",
      "sub",
      "x.sub",
      "t",
      "txt",
      "wild",
      "*.wild",
      "www",
      "y",
    ];
    return names.indexOf(line.split(" ")[0]!.replace(/\.example\.com$/, ""));
  }
});

test("loading keeps the file's serial, and addresses rotate", () => {
  const { zone } = parseZoneFile(`${head}ns A 192.0.2.1\nns A 192.0.2.2\n`);
  assert.equal(zone!.serial, 7);
  assert.deepEqual(zone!.recordSetsOf("ns.example.com")[0]!.policy, { kind: "rotate" });
});

test("a file without $ORIGIN takes the one given; without $TTL, the TTL before or the SOA's minimum", () => {
  assert.deepEqual(setsOf("@ SOA a b 1 2 3 4 5\n@ NS a\nx 9 A 192.0.2.1\ny A 192.0.2.1\n", "z."), [
    "z 5 SOA a.z. b.z. 1 2 3 4 5",
    "z 5 NS a.z.",
    "x.z 9 A 192.0.2.1",
    "y.z 9 A 192.0.2.1",
  ]);
});

test("times have units", () => {
  assert.deepEqual(["0", "90", "1m30s", "1W2d3H", "2x", "", "1h-", "99999999999"].map(secondsFromText), [
    0,
    90,
    90,
    604_800 + 172_800 + 10_800,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

/** A name with so many types. */
function types(name: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${name} TYPE${1_000 + index} \\# 1 00\n`).join("");
}

/** Each file has one fault; expected are the line and a word of the message. */
const faults: readonly (readonly [string, number, RegExp])[] = [
  [`${head}ns A 192.0.2.256\n`, 7, /not an IPv4 address/],
  [`${head}\n\nns 1 IN A\n`, 9, /missing/],
  [`${head}ns FOO bar\n`, 7, /TYPEnnn/],
  [`${head}ns CH A 192.0.2.1\n`, 7, /class CH/],
  [`${head}other.org. A 192.0.2.1\n`, 7, /not in the zone/],
  [`${head}c CNAME a\nd A 192.0.2.1\nc A 192.0.2.1\n`, 7, /CNAME cannot stand beside/],
  [`${head}@ CNAME a\n`, 7, /apex cannot be a CNAME/],
  [`${head}$INCLUDE other.zone\n`, 7, /\$INCLUDE/],
  [`${head}$GENERATE 1-9 a$ A 192.0.2.$\n`, 7, /\$GENERATE/],
  [`${head}$FOO\n`, 7, /no directive/],
  [`${head}$TTL soon\n`, 7, /\$TTL needs/],
  [`${head}x TXT "open\n`, 7, /does not end/],
  [`${head}x TXT ( "a"\n`, 7, /not closed/],
  [`${head}x A 192.0.2.1 )\n`, 7, /closes nothing/],
  [`${head}x TXT "${"x".repeat(256)}"\n`, 7, /over 255/],
  [`${head}x 3000000000 A 192.0.2.1\n`, 7, /TTL 3000000000/],
  [`${head}${"x".repeat(64)} A 192.0.2.1\n`, 7, /over 63/],
  [`${head}x TYPE5 \\# 2 01\n`, 7, /2 octets and 1/],
  [`${head}@ SOA a b 1 2 3 4 5\n`, 7, /already/],
  [`${head}${types("x", 257)}`, 263, /at most 256 types/],
  [`${head}${types("x", 200)}y A 192.0.2.1\n${types("x", 257)}`, 464, /at most 256 types/],
  ["@ A 192.0.2.1\n", 1, /no origin/],
  ["$ORIGIN a.\nx A 192.0.2.1\n", 0, /no SOA/],
  ["$ORIGIN a.\n@ SOA a b 1 2 3 4 5\n", 0, /no NS/],
  [" A 192.0.2.1\n", 1, /no owner/],
  ["", 0, /no SOA/],
];
for (const [text, line, message] of faults) {
  test(`line ${line} is told for ${message}`, () => {
    const { problems } = parseZoneFile(text);
    assert.ok(
      problems?.some((problem) => problem.line === line && message.test(problem.message)),
      JSON.stringify(problems),
    );
  });
}

test("all faults are told at once, in order", () => {
  const { problems } = parseZoneFile(`${head}a A 1\nb A 192.0.2.1\nc A 2\nd MX x\n`);
  assert.deepEqual(
    problems!.map((problem) => problem.line),
    [7, 9, 10],
  );
  const { problems: ofTheSoa } = parseZoneFile("@ 60 SOA a b 1 2\n", { origin: "z" });
  assert.deepEqual(
    ofTheSoa!.map((problem) => problem.line),
    [1, 0],
    "that no SOA is there comes after why",
  );
});

test("the SOA must be of the zone that was named", () => {
  assert.match(
    parseZoneFile(head, { origin: "example.org" }).problems![0]!.message,
    /not of the zone example.org/,
  );
});

test("property: any text gives a zone or problems, and nothing is thrown", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "@",
      "$ORIGIN",
      "$TTL",
      "SOA",
      "NS",
      "A",
      "IN",
      "(",
      ")",
      '"',
      "\\",
      ";",
      "\n",
      " ",
      "1h",
      "\\#",
      "x.",
      "192.0.2.1",
      "*",
    ),
    fc.string({ unit: "binary", maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const result = parseZoneFile(head + pieces.join(" "));
      assert.ok(result.zone !== undefined || result.problems.length > 0);
    }),
    { numRuns: 1_000 },
  );
});
