import type { Edns, Message } from "../message/message.ts";
import { concat, hex, plainEdns, question } from "./case-zone.ts";
import { opt, raw, withOption, wwwQuestion, type ResponseCase } from "./sixty-cases.ts";

const soa = "p.test SOA ns1.p.test. hostmaster.p.test. 7 7200 1800 86400 30";
const www = "www.p.test A 192.0.2.1, www.p.test A 192.0.2.2";
const answered = `NOERROR aa an: ${www}`;
const cookie = { code: 10, octets: hex("0102030405060708") };
const subnet = { code: 8, octets: hex("0001 18 00 c00002") };
const back = "10=0102030405060708+16 8=00011800c00002";

/** A question with a cookie and a client subnet. */
function asked(
  name: string,
  type: string,
  more: Partial<Omit<Message, "edns">> & { class?: number } = {},
): Uint8Array {
  return question(name, type, { ...more, edns: { ...plainEdns, options: [cookie, subnet] } });
}
const withEdns = (name: string, type: string, more: Partial<Edns>): Uint8Array =>
  question(name, type, { edns: { ...plainEdns, ...more } });
const anOpt = opt("0000");

/** More of the rules of a correct server, for zone `p.test` of `caseZoneText` over UDP. */
export const ruleCases: readonly ResponseCase[] = [
  // Header and sections (RFC 1035 §4.1, RFC 9619).
  ["an rcode in the question is ignored", raw("000f", "0001000000000000", wwwQuestion), answered],
  ["NOTIFY without a question", raw("2000", "0000000000000000"), "FORMERR"],
  ["NOTIFY with two questions", raw("2000", "0002000000000000", wwwQuestion, wwwQuestion), "FORMERR"],
  ["NOTIFY of another type", question("p.test", "A", { opcode: 4 }), "NOTIMP"],
  ["NOTIFY of another class", question("p.test", "SOA", { opcode: 4, class: 3 }), "REFUSED"],
  [
    "an authority record in the question is ignored",
    raw("0000", "0001000000010000", wwwQuestion, hex("c00c 0001 0001 00000000 0004 c0000201")),
    answered,
  ],
  [
    "a record before OPT is ignored",
    raw("0000", "0001000000000002", wwwQuestion, hex("c00c 0001 0001 00000000 0004 c0000201"), anOpt),
    `${answered} opt`,
  ],
  [
    "a record behind OPT is ignored",
    raw("0000", "0001000000000002", wwwQuestion, anOpt, hex("c00c 0001 0001 00000000 0004 c0000201")),
    `${answered} opt`,
  ],
  [
    "a record owned by a name that ends early",
    raw("0000", "0001000000000001", wwwQuestion, hex("0161")),
    "FORMERR",
  ],
  [
    "a record whose data ends early",
    raw("0000", "0001000000000001", wwwQuestion, hex("00 0001 0001 00000000 0004 c00002")),
    "FORMERR",
  ],
  [
    "octets behind OPT are ignored",
    concat(raw("0000", "0001000000000001", wwwQuestion, anOpt), hex("0102")),
    `${answered} opt`,
  ],
  ["no OPT that is counted", concat(raw("0000", "0001000000000000", wwwQuestion), anOpt), answered],

  // Classes and types.
  ["class ANY of no name", question("nx.p.test", "A", { class: 255 }), `NXDOMAIN ns: ${soa}`],
  ["class 65535", question("www.p.test", "A", { class: 65_535 }), "REFUSED"],
  ["type 0", question("www.p.test", "TYPE0"), `NOERROR aa ns: ${soa}`],
  ["type 65280", question("www.p.test", "TYPE65280"), `NOERROR aa ns: ${soa}`],
  ["type TKEY", question("www.p.test", "TKEY"), "NOTIMP"],
  ["type 129", question("www.p.test", "TYPE129"), "NOTIMP"],
  ["type MAILA", question("www.p.test", "MAILA"), "NOTIMP"],
  ["an unknown type of no name", question("nx.p.test", "TYPE65280"), `NXDOMAIN aa ns: ${soa}`],
  ["ANY of an alias", question("alias2.p.test", "ANY"), "NOERROR aa an: alias2.p.test CNAME alias.p.test."],
  ["ANY of an empty non-terminal", question("c.d.p.test", "ANY"), `NOERROR aa ns: ${soa}`],
  ["ANY below a wildcard", question("q.wild.p.test", "ANY"), "NOERROR aa an: q.wild.p.test A 192.0.2.10"],
  [
    "ANY at a cut",
    question("sub.p.test", "ANY"),
    "NOERROR ns: sub.p.test NS ns.sub.p.test. ar: ns.sub.p.test A 192.0.2.54",
  ],
  ["DS of the apex, whose parent is elsewhere", question("p.test", "DS"), `NOERROR aa ns: ${soa}`],
  [
    "DS below a cut",
    question("x.sub.p.test", "DS"),
    "NOERROR ns: sub.p.test NS ns.sub.p.test. ar: ns.sub.p.test A 192.0.2.54",
  ],
  ["RRSIG of an alias is no reason to follow it", question("alias.p.test", "RRSIG"), `NOERROR aa ns: ${soa}`],
  ["SOA of a host", question("www.p.test", "SOA"), `NOERROR aa ns: ${soa}`],

  // Names are octets (RFC 4343, RFC 1035 §3.1).
  ["octets over 127 are not folded", question("\\196.p.test", "A"), `NXDOMAIN aa ns: ${soa}`],
  ["a dot within a label", question("www\\.p.test", "A"), "REFUSED"],
  ["only letters are folded", question("[.p.test", "A"), `NXDOMAIN aa ns: ${soa}`],

  // Sizes (RFC 6891 §6.2.3).
  ["511 octets count as 512", withEdns("big.p.test", "TXT", { payloadSize: 511 }), "NOERROR aa tc opt"],
  [
    "with 1232 octets a big TXT fits",
    withEdns("big.p.test", "TXT", { payloadSize: 1232 }),
    `NOERROR aa an: big.p.test TXT "${"x".repeat(250)}" "${"y".repeat(250)}" "${"z".repeat(47)}" opt`,
  ],

  // OPT, cookie and subnet come back whatever the answer is (RFC 6891 §6.1.1, RFC 7873 §5.2, RFC 7871 §7.2.1).
  ["options with NXDOMAIN", asked("nx.p.test", "A"), `NXDOMAIN aa ns: ${soa} opt ${back}`],
  ["options with REFUSED", asked("example.org", "A"), `REFUSED opt ${back} 15=0014`],
  ["options with FORMERR", asked("www.p.test", "TSIG"), `FORMERR opt ${back} 15=001e`],
  ["options with NOTIMP", asked("www.p.test", "A", { opcode: 2 }), `NOTIMP opt ${back} 15=0015`],
  [
    "options with TC",
    withEdns("many.p.test", "A", { options: [cookie, subnet] }),
    `NOERROR aa tc opt ${back}`,
  ],
  [
    "options with a referral",
    asked("sub2.p.test", "A"),
    `NOERROR ns: sub2.p.test NS ns.other.example. opt ${back}`,
  ],
  ["options with NOTIFY for no zone", asked("example.org", "SOA", { opcode: 4 }), `9 opt ${back}`],
  ["options with class CH", asked("version.bind", "TXT", { class: 3 }), `REFUSED opt ${back}`],
  [
    "an extended error for a type that is not supported",
    withEdns("p.test", "AXFR", {}),
    "NOTIMP opt 15=0015",
  ],

  // Single options.
  [
    "a second cookie is ignored",
    withEdns("www.p.test", "A", { options: [cookie, { code: 10, octets: hex("01") }] }),
    `${answered} opt 10=0102030405060708+16`,
  ],
  [
    "a cookie of 16 octets",
    withOption(10, "01020304050607080102030405060708"),
    `${answered} opt 10=0102030405060708+16`,
  ],
  ["a cookie of 15 octets", withOption(10, "010203040506070801020304050607"), "FORMERR"],
  [
    "a cookie of 40 octets",
    withOption(10, `0102030405060708${"ff".repeat(32)}`),
    `${answered} opt 10=0102030405060708+16`,
  ],
  ["an empty cookie", withOption(10, ""), "FORMERR"],
  ["NSID with data", withOption(3, "0102"), `${answered} opt`],
  ["keepalive with data", withOption(11, "0102"), `${answered} opt`],
  ["padding is not answered in the clear", withOption(12, "00".repeat(100)), `${answered} opt`],
  ["an empty subnet option", withOption(8, ""), "FORMERR"],
  ["a subnet of no family with a prefix", withOption(8, "0000 08 00 c0"), "FORMERR"],
  ["a subnet of IPv6 over 128 bits", withOption(8, `0002 81 00 ${"20".repeat(17)}`), "FORMERR"],
  [
    "a whole address of IPv6",
    withOption(8, `0002 80 00 ${"20".repeat(16)}`),
    `${answered} opt 8=00028000${"20".repeat(16)}`,
  ],
  ["the zone's serial", withOption(19, ""), `${answered} opt 19=020000000007`],
  ["the zone's expiry is told for its SOA only", withOption(9, ""), `${answered} opt`],
  [
    "the zone's expiry",
    withEdns("p.test", "SOA", { options: [{ code: 9, octets: new Uint8Array() }] }),
    `NOERROR aa an: ${soa} opt 9=00015180`,
  ],
];
