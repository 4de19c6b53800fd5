import type { Edns } from "../message/message.ts";
import { concat, hex, plainEdns, question } from "./case-zone.ts";
import { opt, raw, sixtyCases, wwwQuestion, type ResponseCase } from "./sixty-cases.ts";

/** A bug that another server had, by its trigger: a zone `p.`, a question, the right answer in the words of `describe`. */
export interface ZoneReport {
  readonly id: string;
  /** Behind `reportApex`. */
  readonly zone: string;
  readonly ask: Parameters<typeof question>;
  readonly expect: string;
}

const manyServers = Array.from({ length: 12 }, (_, index) => `ns${index}.sub`)
  .map((name) => `sub NS ${name}\n${name} A 192.0.2.1\n${name} AAAA 2001:db8::1`)
  .join("\n");
const addresses = (count: number): string =>
  Array.from({ length: count }, (_, index) => `h A 192.0.2.${index + 1}`).join("\n");

export const reportApex = "$ORIGIN p.\n$TTL 60\n@ SOA ns.example. h.example. 1 2 3 4 30\n@ NS ns.example.\n";
const soa = "p SOA ns.example. h.example. 1 2 3 4 30";
const nxdomain = `NXDOMAIN aa ns: ${soa}`;
const nodata = `NOERROR aa ns: ${soa}`;

export const zoneReports: readonly ZoneReport[] = [
  {
    id: "A1 a wildcard node without data",
    zone: "f.*.e A 192.0.2.1\nt.e A 192.0.2.2",
    ask: ["x.e.p", "A"],
    expect: nodata,
  },
  {
    id: "A2 a nearer ancestor blocks",
    zone: "*.d A 192.0.2.1\nr.c.d A 192.0.2.2",
    ask: ["x.c.d.p", "A"],
    expect: nxdomain,
  },
  {
    id: "A2 a nearer ancestor with data blocks",
    zone: "*.d A 192.0.2.1\nr.c.d A 192.0.2.2",
    ask: ["x.r.c.d.p", "A"],
    expect: nxdomain,
  },
  {
    id: "A5 two labels",
    zone: "* A 192.0.2.1",
    ask: ["a.b.p", "A"],
    expect: "NOERROR aa an: a.b.p A 192.0.2.1",
  },
  { id: "A6 wildcard without the type", zone: "* A 192.0.2.1", ask: ["x.p", "MX"], expect: nodata },
  { id: "A7 below the literal asterisk", zone: "* A 192.0.2.1", ask: ["a.*.p", "A"], expect: nxdomain },
  {
    id: "A8 nested wildcards",
    zone: "* A 192.0.2.1\n*.* A 192.0.2.2",
    ask: ["foo.*.p", "A"],
    expect: "NOERROR aa an: foo.*.p A 192.0.2.2",
  },
  { id: "A14 NUL in a label", zone: "b A 192.0.2.1", ask: ["a\\000b.p", "A"], expect: nxdomain },
  {
    id: "B1 a dangling chain of two",
    zone: "b CNAME c\nc CNAME d",
    ask: ["b.p", "A"],
    expect: `NXDOMAIN aa an: b.p CNAME c.p., c.p CNAME d.p. ns: ${soa}`,
  },
  {
    id: "B2 a target with an asterisk",
    zone: "foo CNAME www.*",
    ask: ["foo.p", "A"],
    expect: `NXDOMAIN aa an: foo.p CNAME www.*.p. ns: ${soa}`,
  },
  {
    id: "B3 CNAME of a wildcard that dangles",
    zone: "*.c CNAME nope",
    ask: ["a.c.p", "CNAME"],
    expect: "NOERROR aa an: a.c.p CNAME nope.p.",
  },
  {
    id: "B4 CNAME asked, chain not followed",
    zone: "* CNAME ww\nww CNAME out.",
    ask: ["foo.p", "CNAME"],
    expect: "NOERROR aa an: foo.p CNAME ww.p.",
  },
  {
    id: "B7 a loop through a wildcard",
    zone: "*.foo CNAME bar.foo",
    ask: ["x.foo.p", "A"],
    expect: "NOERROR aa an: x.foo.p CNAME bar.foo.p., bar.foo.p CNAME bar.foo.p.",
  },
  {
    id: "B8 an alias of itself",
    zone: "self CNAME self",
    ask: ["self.p", "A"],
    expect: "NOERROR aa an: self.p CNAME self.p.",
  },
  {
    id: "B9 a DNAME to itself",
    zone: "a DNAME a",
    ask: ["c.a.p", "A"],
    expect: "NOERROR aa an: a.p DNAME a.p., c.a.p CNAME c.a.p.",
  },
  {
    id: "B10 a wildcard to itself",
    zone: "* CNAME *",
    ask: ["a.p", "A"],
    expect: "NOERROR aa an: a.p CNAME *.p., *.p CNAME *.p.",
  },
  {
    id: "B11 the same DNAME twice",
    zone: "d DNAME x.y\nx.y DNAME d.e\nd.e DNAME out.",
    ask: ["h.d.p", "A"],
    expect:
      "NOERROR aa an: d.p DNAME x.y.p., h.d.p CNAME h.x.y.p., x.y.p DNAME d.e.p., h.x.y.p CNAME h.d.e.p., d.e.p DNAME out., h.d.e.p CNAME h.out.",
  },
  {
    id: "B15 data below a cut",
    zone: "sub NS x.example.\na.sub NS y.example.",
    ask: ["q.a.sub.p", "A"],
    expect: "NOERROR ns: sub.p NS x.example.",
  },
  {
    id: "B16 glue asked for",
    zone: "sub NS ns.sub\nns.sub A 192.0.2.1",
    ask: ["ns.sub.p", "A"],
    expect: "NOERROR ns: sub.p NS ns.sub.p. ar: ns.sub.p A 192.0.2.1",
  },
  {
    id: "B18 sibling glue by wildcard",
    zone: "* A 192.0.2.1\na NS foo",
    ask: ["x.a.p", "A"],
    expect: "NOERROR ns: a.p NS foo.p.",
  },
  { id: "B19 DS at a cut", zone: "sub NS x.example.", ask: ["sub.p", "DS"], expect: nodata },
  {
    id: "B20 sibling glue",
    zone: "a NS ns.b\nb NS ns.b\nns.b A 192.0.2.1",
    ask: ["a.p", "A"],
    expect: "NOERROR ns: a.p NS ns.b.p. ar: ns.b.p A 192.0.2.1",
  },
  { id: "C4 unhandled type of no name", zone: "b A 192.0.2.1", ask: ["nope.p", "HINFO"], expect: nxdomain },
  {
    id: "C5 CNAME of an alias",
    zone: "b CNAME c",
    ask: ["b.p", "CNAME"],
    expect: "NOERROR aa an: b.p CNAME c.p.",
  },
  { id: "E13 type 65535", zone: "b A 192.0.2.1", ask: ["b.p", "TYPE65535"], expect: nodata },
  {
    id: "B17 glue that is required and does not fit",
    zone: manyServers,
    ask: ["x.sub.p", "A", { edns: { ...plainEdns, payloadSize: 512 } }],
    expect: "NOERROR tc opt",
  },
  {
    id: "D4 a hundred addresses without EDNS",
    zone: addresses(100),
    ask: ["h.p", "A"],
    expect: "NOERROR aa tc",
  },
  {
    id: "D5 fifty-two addresses without EDNS",
    zone: addresses(52),
    ask: ["h.p", "A"],
    expect: "NOERROR aa tc",
  },
  {
    id: "E19 a DNAME that makes the name too long",
    zone: `d DNAME ${"x".repeat(63)}.${"y".repeat(63)}.${"z".repeat(50)}`,
    ask: [`${"a".repeat(60)}.${"b".repeat(60)}.d.p`, "A"],
    expect: `YXDOMAIN aa an: d.p DNAME ${"x".repeat(63)}.${"y".repeat(63)}.${"z".repeat(50)}.p.`,
  },
  {
    id: "F18 an alias asked for another type",
    zone: "b CNAME c.out.",
    ask: ["b.p", "MX"],
    expect: "NOERROR aa an: b.p CNAME c.out.",
  },
  {
    id: "F18 a name hides the wildcard beside it",
    zone: "* A 192.0.2.1\nb TXT t",
    ask: ["b.p", "A"],
    expect: nodata,
  },
];

const unknownSignature = sixtyCases.find(([name]) => name === "60 a signature of an unknown key")!;
const withEdns = (type: string, options: Edns["options"], more: Partial<Edns> = {}): Uint8Array =>
  question("www.p.test", type, { edns: { ...plainEdns, options, ...more } });
const subnet = (data: string): { code: number; octets: Uint8Array } => ({ code: 8, octets: hex(data) });
const cookieSent = { code: 10, octets: hex("0102030405060708") };
const cookieBack = "10=0102030405060708+16";
const www = "www.p.test A 192.0.2.1, www.p.test A 192.0.2.2";
const answered = `NOERROR aa an: ${www}`;

/** A record whose owner is a pointer to the owner before: the first to the question's. */
function pointerRecord(index: number): string {
  const target = index === 0 ? 12 : Math.min(0x3fff, 12 + 16 + 12 * (index - 1));
  return `${(0xc000 | target).toString(16)} 0001 0001 00000000 0000`;
}

/** The same for zone `p.test` of `caseZoneText`, by whole packets. */
export const packetReports: readonly ResponseCase[] = [
  ["D1 EDNS version 100", withEdns("A", [], { version: 100 }), "16 opt"],
  ["D2 an unknown option", withEdns("A", [{ code: 100, octets: hex("0102") }]), `${answered} opt`],
  [
    "D2 flags of EDNS that mean nothing yet",
    concat(raw("0000", "0001000000000001", wwwQuestion), hex("00 0029 04d0 0000 00ff 0000")),
    `${answered} opt`,
  ],
  [
    "D10 no question, a cookie",
    raw("0000", "0000000000000001", opt("000c 000a 0008 0102030405060708")),
    `NOERROR opt ${cookieBack}`,
  ],
  ["D11 two OPT", raw("0000", "0001000000000002", wwwQuestion, opt("0000"), opt("0000")), "FORMERR opt"],
  [
    "D11 OPT owned by a.",
    raw("0000", "0001000000000001", wwwQuestion, hex("016100 0029 04d0 00000000 0000")),
    "FORMERR",
  ],
  ["D11 OPT among the answers", raw("0000", "0001000100000000", wwwQuestion, opt("0000")), "FORMERR"],
  ["D14 a /24 stays a /24", withEdns("A", [subnet("0001 18 00 c00002")]), `${answered} opt 8=00011800c00002`],
  [
    "D15 a /23 has three octets",
    withEdns("A", [subnet("0001 17 00 c00002")]),
    `${answered} opt 8=00011700c00002`,
  ],
  ["D15 a /20 has no stray bits", withEdns("A", [subnet("0001 14 00 c0000f")]), "FORMERR"],
  ["D15 a /23 has not four octets", withEdns("A", [subnet("0001 17 00 c0000200")]), "FORMERR"],
  [
    "D15 a /56 of IPv6 has seven octets",
    withEdns("A", [subnet("0002 38 00 20010db8000100")]),
    `${answered} opt 8=0002380020010db8000100`,
  ],
  [
    "D17 a cookie before the subnet",
    withEdns("A", [cookieSent, subnet("0001 18 00 c00002")]),
    `${answered} opt ${cookieBack} 8=00011800c00002`,
  ],
  [
    "D17 an unknown option before the subnet",
    withEdns("A", [{ code: 65_001, octets: new Uint8Array(9) }, subnet("0001 18 00 c00002")]),
    `${answered} opt 8=00011800c00002`,
  ],
  ["D18 a subnet of 20 octets", withEdns("A", [subnet(`0002 80 00 ${"20".repeat(20)}`)]), "FORMERR"],
  ["D18 a subnet of 160 bits", withEdns("A", [subnet(`0002 a0 00 ${"20".repeat(20)}`)]), "FORMERR"],
  ...Array.from(
    { length: 12 },
    (_, length) => [`E1 ${length} octets`, new Uint8Array(length), "silence"] as const,
  ),
  ["E1 a text", new TextEncoder().encode("test\n"), "silence"],
  ["E4 a pointer to itself", raw("0000", "0001000000000000", hex("c00c 0001 0001")), "FORMERR"],
  ["E4 a pointer forward", raw("0000", "0001000000000000", hex("c00e 00 0001 0001")), "FORMERR"],
  ["E4 a pointer behind a label", raw("0000", "0001000000000000", hex("0161 c00c 0001 0001")), "FORMERR"],
  ["E4 label bits 01", raw("0000", "0001000000000000", hex("4161 00 0001 0001")), "FORMERR"],
  ["E4 label bits 10", raw("0000", "0001000000000000", hex("8161 00 0001 0001")), "FORMERR"],
  [
    "E4 a chain of 5,000 pointers behind the question",
    raw(
      "0000",
      "0001000000001388",
      wwwQuestion,
      ...Array.from({ length: 5_000 }, (_, index) => hex(pointerRecord(index))),
    ),
    answered,
  ],
  [
    "E4 a chain of pointers forward",
    raw(
      "0000",
      "0001000000000002",
      wwwQuestion,
      hex("c028 0001 0001 00000000 0000"),
      hex("00 0001 0001 00000000 0000"),
    ),
    "FORMERR",
  ],
  ["E5 a name that is cut", raw("0000", "0001000000000000", hex("05616263")), "FORMERR"],
  ["E5 a question that is cut", raw("0000", "0001000000000000", hex("0161 00 0001 00")), "FORMERR"],
  ["E10 65,535 of everything", raw("0000", "ffffffffffffffff", wwwQuestion), "FORMERR"],
  ["E10 65,535 records that are not there", raw("0000", "0001ffffffffffff", wwwQuestion), "FORMERR"],
  ["E11 UPDATE", question("p.test", "SOA", { opcode: 5 }), "REFUSED"],
  ["E14 an answer", question("www.p.test", "A", { response: true, answers: [] }), "silence"],
  ["E14 an answer to NOTIFY", question("p.test", "SOA", { response: true, opcode: 4 }), "silence"],
  ["E14 an answer of no known opcode", question("p.test", "SOA", { response: true, opcode: 15 }), "silence"],
  ["F2 a signature of an unknown key", unknownSignature[1], unknownSignature[2]],
  ["E18 two questions", raw("0000", "0002000000000000", wwwQuestion, wwwQuestion), "FORMERR"],
  ["E18 a header that is cut behind", raw("0000", "0001000000000000"), "FORMERR"],
];
