import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { DnsError } from "../dns-error.ts";
import { concat, hex } from "../testdata/case-zone.ts";
import { foldTypeText, typeFromText } from "./codes.ts";
import { composeMessage, parseMessage, type MessageRecord } from "./message.ts";
import { rdataFromText, rdataToText } from "./rdata.ts";
import { textToTxtData } from "./rdata-text.ts";

/** Presentation form in, wire form, presentation form out where it differs. */
const rdataCases: readonly (readonly [type: string, text: string, wire: string, out?: string])[] = [
  ["A", "192.0.2.1", "c0000201"],
  ["AAAA", "2001:DB8:0:0:1:0:0:1", "20010db8000000000001000000000001", "2001:db8::1:0:0:1"],
  ["AAAA", "::ffff:192.0.2.1", "00000000000000000000ffffc0000201", "::ffff:c000:201"],
  ["AAAA", "::", "00".repeat(16)],
  ["NS", "ns.example.", "026e73076578616d706c6500"],
  ["CNAME", ".", "00"],
  ["SOA", "a. b. 4294967295 1 2 3 4", "016100 016200 ffffffff 00000001 00000002 00000003 00000004"],
  ["MX", "10 m.", "000a 016d00"],
  ["TXT", '"a b" c "" "\\"\\\\\\001"', "03612062 0163 00 03225c01", '"a b" "c" "" "\\"\\\\\\001"'],
  ["SRV", "1 2 443 x.", "0001 0002 01bb 017800"],
  ["PTR", "x.", "017800"],
  ["CAA", '128 issue "ca.example; a=b"', "80 05 6973737565 63612e6578616d706c653b20613d62"],
  ["DNAME", "x.", "017800"],
  ["DS", "60485 5 1 2BB1 83AF", "ec45 05 01 2bb183af", "60485 5 1 2bb183af"],
  ["DNSKEY", "256 3 13 AQID", "0100 03 0d 010203"],
  ["TLSA", "3 1 1 0a0b", "030101 0a0b"],
  ["SSHFP", "4 2 ff", "0402ff"],
  ["NAPTR", '1 2 "u" "sip+E2U" "!^.*$!x!" .', "0001 0002 0175 077369702b453255 08215e2e2a24217821 00"],
  ["NSEC", "b. A MX RRSIG NSEC CAA", "016200 0006 400100000003 0101 40"],
  [
    "RRSIG",
    "A 13 2 60 20300101000000 20291231000000 5 p. AQID",
    "0001 0d 02 0000003c 70dbd880 70da8700 0005 017000 010203",
  ],
  [
    "HTTPS",
    "1 . alpn=h2,h3 port=8443",
    "0001 00 0001 0006 026832026833 0003 0002 20fb",
    '1 . alpn="h2,h3" port=8443',
  ],
  [
    "SVCB",
    '16 x. port=53 mandatory=port key667="\\001"',
    "0010 017800 0000 0002 0003 0003 0002 0035 029b 0001 01",
    '16 x. mandatory=port port=53 key667="\\001"',
  ],
  [
    "SVCB",
    "1 x. ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1",
    "0001 017800 0004 0008 c0000201c0000202 0006 0010 20010db8000000000000000000000001",
  ],
  ["SVCB", "0 x.", "0000 017800"],
  ["TYPE666", "\\# 3 010203", "010203"],
  ["TYPE666", "\\# 0", ""],
  ["A", "\\# 4 c0000201", "c0000201", "192.0.2.1"],
  // Without a digest there is no text of the type: the form that fits all types says it.
  ["DS", "\\# 4 00010d02", "00010d02"],
  ["OPENPGPKEY", "\\# 0", ""],
];
for (const [type, text, wire, out] of rdataCases) {
  test(`${type} ${text} is ${wire} on the wire, and back`, () => {
    const rdata = rdataFromText(typeFromText(type), text);
    assert.deepEqual(rdata, hex(wire));
    assert.equal(rdataToText(typeFromText(type), rdata), out ?? text);
  });
}

const badRdata: readonly (readonly [type: string, text: string, message: RegExp])[] = [
  ["A", "192.0.2", /not an IPv4/],
  ["A", "192.0.2.01", /not an IPv4/],
  ["A", "192.0.2.1 x", /more than its fields/],
  ["A", "", /is missing/],
  ["AAAA", "1::2::3", /not an IPv6/],
  ["AAAA", "1:2:3:4:5:6:7", /not an IPv6/],
  ["MX", "65536 x.", /integer from 0 to 65535/],
  ["MX", "x.", /integer/],
  ["TXT", `"${"x".repeat(256)}"`, /over 255/],
  ["TXT", '"open', /not closed/],
  ["CAA", '0 is-sue "x"', /not a CAA tag/],
  ["SVCB", "1 . foo=1", /keyNNN/],
  ["SVCB", "1 . port=1 port=2", /twice/],
  ["SVCB", "1 . mandatory=alpn", /mandatory lists alpn/],
  ["HTTPS", "1 . ipv4hint=::1", /no address/],
  ["TYPE666", "abc", /\\# length hex/],
  ["TYPE666", "\\# 2 01", /2 octets and 1/],
  ["A", "\\# 3 010203", /not that of A/],
  ["NSEC", "\\# 7 00 000140 000140", /not that of NSEC|bitmap/],
  ["NSEC", "\\# 7 00 010140 000140", /not that of NSEC|bitmap/],
  ["NSEC", "\\# 3 00 0000", /not that of NSEC|bitmap/],
  ["NS", "a..b.", /empty label/],
];
for (const [type, text, message] of badRdata) {
  test(`${type} ${text} is refused`, () => {
    assert.throws(
      () => rdataFromText(typeFromText(type), text),
      (error) => error instanceof DnsError && message.test(error.message),
    );
  });
}

const typesWithFields = [
  "A NS SOA HINFO MINFO MX TXT RP AAAA SRV NAPTR CERT DNAME DS SSHFP RRSIG NSEC DNSKEY DHCID TLSA CDS CDNSKEY",
  "OPENPGPKEY CSYNC ZONEMD SVCB HTTPS URI CAA TYPE65000",
].flatMap((types) => types.split(" "));

test("a type given by its number is the one of its name", () => {
  const folded = ["a", "TYPE1", "type0028", "TYPE5", "TYPE65400", "TYPE0"].map(foldTypeText);
  assert.deepEqual(folded, ["A", "A", "AAAA", "CNAME", "TYPE65400", "TYPE0"]);
  for (const text of ["", "TYPE", "TYPE65536", "TYPE-1", "NOPE"])
    assert.throws(() => foldTypeText(text), { code: "BadRecord" });
});

test("property: any octets that are data of a type are written as text that reads as the same octets", () => {
  const names = ["00", "0161 00", "03 2e5c22 00", "01 40 02 ff00 00"].map(hex);
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 5 }),
    fc.constantFrom(...names),
    fc.integer({ min: 0, max: 8 }).map((key) => Uint8Array.of(0, key)),
    fc.string({ maxLength: 4 }).map((text) => {
      const octets = new TextEncoder().encode(text);
      return Uint8Array.of(octets.length, ...octets);
    }),
  );
  const octets = fc
    .array(piece, { maxLength: 7 })
    .map((pieces) => Uint8Array.from(pieces.flatMap((part) => [...part])));
  let read = 0;
  fc.assert(
    fc.property(fc.constantFrom(...typesWithFields), octets, (name, rdata) => {
      const type = typeFromText(name);
      let text: string;
      try {
        text = rdataToText(type, rdata);
      } catch (error) {
        assert.ok(error instanceof DnsError, String(error));
        return;
      }
      read++;
      assert.deepEqual(rdataFromText(type, text), rdata, text);
    }),
    {
      numRuns: 20_000,
      examples: [
        ["CAA", hex("00 00")],
        ["TLSA", hex("010203")],
      ],
    },
  );
  assert.ok(read > 1_000, `only ${read} of the octets were data of their type`);
});

test("property: any text as data of any type gives rdata or a DnsError, and ends", () => {
  const type = fc.constantFrom("A", "MX", "TXT", "SOA", "CAA", "HTTPS", "NSEC", "TYPE9");
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\f", "\v", "\u00a0", "a\u2003b", "\\", "1 . alpn=\\"),
  );
  fc.assert(
    fc.property(type, text, (name, data) => {
      try {
        rdataFromText(typeFromText(name), data);
      } catch (error) {
        if (!(error instanceof DnsError)) throw error;
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a text of any length becomes character strings of at most 255 octets", () => {
  assert.equal(textToTxtData('say "hi" \\ now'), '"say \\"hi\\" \\\\ now"');
  assert.equal(textToTxtData(""), '""');
  const rdata = rdataFromText(16, textToTxtData("x".repeat(600)));
  assert.deepEqual([rdata[0], rdata[256], rdata[512], rdata.length], [255, 255, 90, 603]);
});

test("names are compressed only where RFC 3597 allows it", () => {
  const record = (type: string, data: string): MessageRecord => ({
    name: "a.example",
    type,
    class: 1,
    ttl: 1,
    data,
  });
  const octets = composeMessage({
    answers: [record("NS", "ns.example."), record("SRV", "1 2 3 ns.example.")],
  });
  assert.equal(octets.length, 12 + (11 + 10 + 2 + 3) + (2 + 10 + 6 + 12));
  assert.equal(parseMessage(octets).answers[1]!.data, "1 2 3 ns.example.");
});

const hostile: readonly (readonly [string, string])[] = [
  ["a pointer to itself", "0000 8000 0001 0000 0000 0000 c00c 0001 0001"],
  ["a pointer forward", "0000 8000 0001 0000 0000 0000 c00e 00 0001 0001"],
  ["a pointer into the header", "0000 8000 0001 0000 0000 0000 c000 0001 0001"],
  ["a pointer into its own labels", "0000 8000 0001 0000 0000 0000 0161 c00c 0001 0001"],
  ["a reserved label type", "0000 8000 0001 0000 0000 0000 80 00 0001 0001"],
  ["a name that is cut", "0000 8000 0001 0000 0000 0000 05 61"],
  ["counts without records", "0000 8000 ffff ffff ffff ffff"],
  [
    "a character string longer than its record",
    "0000 8000 0000 0001 0000 0000 00 0010 0001 00000000 0003 ff6161",
  ],
  ["an OPT in the answer section", "0000 8000 0000 0001 0000 0000 00 0029 0001 00000000 0000"],
  ["an A record of five octets", "0000 8000 0000 0001 0000 0000 00 0001 0001 00000000 0005 0102030405"],
];
for (const [name, octets] of hostile) {
  test(`E4, E5, E23: ${name} is refused`, () => {
    assert.throws(() => parseMessage(hex(octets)), { code: "BadMessage" });
  });
}

test("E4, E7, E10: pointers to pointers are followed, and 60 KiB of them cost nothing", () => {
  // Question `a.`, then each record's owner is a pointer to the owner before.
  const parts = [hex("0000 8000 0001 0fa0 0000 0000 0161 00 0001 0001")];
  let at = 12;
  for (let index = 0; index < 4000; index++) {
    parts.push(Uint8Array.from([0xc0 | (at >>> 8), at & 0xff, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]));
    at = Math.min(0x3fff, 19 + 12 * index);
  }
  assert.throws(() => parseMessage(concat(...parts)), { code: "BadMessage" });
  const two = hex(
    "0000 8000 0001 0002 0000 0000 0161 00 0001 0001 c00c 0001 0001 00000000 0004 01020304 c013 0001 0001 00000000 0004 01020304",
  );
  assert.deepEqual(
    parseMessage(two).answers.map((record) => record.name),
    ["a", "a"],
  );
});

test("property: parsing any octets gives a message or a DnsError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
      try {
        parseMessage(octets);
      } catch (error) {
        if (!(error instanceof DnsError)) throw error;
      }
    }),
    { numRuns: 2_000 },
  );
});

test("compression keeps the case of each name", () => {
  const answers = [{ name: "a", type: "MX", class: 1, ttl: 5, data: "0 A." }];
  const parsed = parseMessage(
    composeMessage({ id: 1, questions: [{ name: "a", type: "A", class: 1 }], answers }),
  );
  assert.deepEqual(parsed.answers, answers);
});

test("property: what is composed parses to the same", () => {
  const label = fc.stringMatching(/^[a-zA-Z0-9_*-]{1,20}$/);
  const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join("."));
  const data = fc.oneof(
    fc.tuple(fc.constant("A"), fc.ipV4()),
    fc.tuple(
      fc.constant("NS"),
      name.map((text) => `${text}.`),
    ),
    fc.tuple(
      fc.constant("MX"),
      fc.tuple(fc.nat(65535), name).map(([preference, text]) => `${preference} ${text}.`),
    ),
    fc.tuple(fc.constant("TXT"), fc.string({ unit: "binary", maxLength: 400 }).map(textToTxtData)),
    fc.tuple(
      fc.constant("SRV"),
      name.map((text) => `1 2 3 ${text}.`),
    ),
    fc.tuple(
      fc.constant("TYPE1234"),
      fc
        .uint8Array({ maxLength: 20 })
        .map((octets) => `\\# ${octets.length} ${Buffer.from(octets).toString("hex")}`.trim()),
    ),
  );
  const record = fc
    .tuple(name, data)
    .map(([owner, [type, text]]) => ({ name: owner, type, class: 1, ttl: 5, data: text }));
  const records = fc.array(record, { maxLength: 8 });
  fc.assert(
    fc.property(fc.tuple(fc.nat(65535), name), records, records, ([id, asked], ...[answers, authority]) => {
      const message = { id, questions: [{ name: asked, type: "A", class: 1 }], answers, authority };
      const parsed = parseMessage(composeMessage(message));
      assert.deepEqual(
        { id: parsed.id, questions: parsed.questions, answers: parsed.answers, authority: parsed.authority },
        message,
      );
    }),
    { numRuns: 500 },
  );
});
