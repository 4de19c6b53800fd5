import { concat, hex, plainEdns, question } from "./case-zone.ts";

/** What is asked, and the answer in the words of `describe`. */
export type ResponseCase = readonly [name: string, message: Uint8Array, expected: string];

const soa = "p.test SOA ns1.p.test. hostmaster.p.test. 7 7200 1800 86400 30";
const nxdomain = `NXDOMAIN aa ns: ${soa}`;
const nodata = `NOERROR aa ns: ${soa}`;
const www = "www.p.test A 192.0.2.1, www.p.test A 192.0.2.2";
const subReferral = "ns: sub.p.test NS ns.sub.p.test. ar: ns.sub.p.test A 192.0.2.54";

export const opt = (more: string): Uint8Array => hex(`00 0029 04d0 00000000 ${more}`);
export const withOption = (code: number, data: string): Uint8Array =>
  question("www.p.test", "A", { edns: { ...plainEdns, options: [{ code, octets: hex(data) }] } });
/** A header with these flags and counts, then the rest. */
export const raw = (flags: string, counts: string, ...rest: Uint8Array[]): Uint8Array =>
  concat(hex(`4242 ${flags} ${counts}`), ...rest);
export const wwwQuestion: Uint8Array = hex("03777777 0170 0474657374 00 0001 0001");
const counted = (message: Uint8Array, at: number, count: number): Uint8Array => {
  const changed = message.slice();
  changed[at] = count >>> 8;
  changed[at + 1] = count;
  return changed;
};
const nameOf = (labels: readonly number[]): Uint8Array =>
  concat(...labels.map((length) => Uint8Array.from([length, ...Array<number>(length).fill(0x61)])));
const longName = (octets: number): Uint8Array => {
  // p.test and the root take 8; three labels of 63 take 192.
  return concat(nameOf([63, 63, 63, octets - 8 - 192 - 1]), hex("0170 0474657374 00 0001 0001"));
};

const clientCookie = "0102030405060708";
const cookie = `10=${clientCookie}+16`;

const subnets = ["0001 18 00 c00002", "0001 00 00", "0000 00 00", "0002 38 00 20010db8000000"];
const subnetAnswers = [
  ["www.p.test", `NOERROR aa an: ${www}`],
  ["nx.p.test", nxdomain],
  ["x.sub.p.test", `NOERROR ${subReferral}`],
  ["example.org", "REFUSED"],
] as const;
/** A client subnet comes back as it was sent, with scope 0, in every answer. */
// oxlint-disable-next-line max-params -- a row of a table
function subnetCase(name: string, subnet: string, expected: string): ResponseCase {
  const octets = hex(subnet);
  const asked = question(name, "A", { edns: { ...plainEdns, options: [{ code: 8, octets }] } });
  const why = expected === "REFUSED" ? " 15=0014" : "";
  return [
    `57 subnet ${subnet} for ${name}`,
    asked,
    `${expected} opt 8=${Buffer.from(octets).toString("hex")}${why}`,
  ];
}

const hmacSha256 = "0b686d61632d736861323536 00";
const signatureData = `${hmacSha256} 000065000000 012c 0004 01020304 4242 0000 0000`;
const unknownSignature = hex(
  `036b6579 00 00fa 00ff 00000000 ${hex(signatureData).length.toString(16).padStart(4, "0")} ${signatureData}`,
);
/** Without a MAC, with error BADKEY. */
const unknownSignatureText = `\\# 29 ${`${hmacSha256} 000065000000 012c 0000 4242 0011 0000`.replaceAll(" ", "")}`;

const bigText = [250, 250, 47].map((length, index) => `"${"xyz"[index]!.repeat(length)}"`).join(" ");
const many = Array.from({ length: 100 }, (_, index) => `many.p.test A 198.51.100.${index + 1}`);

const incremental = question("p.test", "IXFR", {
  authority: [{ name: "p.test", type: "SOA", class: 1, ttl: 0, data: ". . 6 0 0 0 0" }],
});

/** Zone `p.test` of `caseZoneText`: what is asked, and what is answered over UDP. */
export const sixtyCases: readonly ResponseCase[] = [
  ["1 SOA of the apex without EDNS", question("p.test", "SOA"), `NOERROR aa an: ${soa}`],
  ["2 A with RD", question("www.p.test", "A", { recursionDesired: true }), `NOERROR aa an: ${www}`],
  [
    "3 Z, AA, TC, RA, AD, CD set in the question",
    raw("06f0", "0001000000000000", wwwQuestion),
    `NOERROR aa an: ${www}`,
  ],
  [
    "4 mixed case",
    question("wWw.P.TeSt", "A"),
    "NOERROR aa an: wWw.P.TeSt A 192.0.2.1, wWw.P.TeSt A 192.0.2.2",
  ],
  ["5 a name elsewhere", question("www.example.org", "A"), "REFUSED"],
  ["5 the root", question(".", "A"), "REFUSED"],
  ["6 an answer", question("www.p.test", "A", { response: true }), "silence"],
  ["7 eleven octets", hex("4242 0000 0001 0000 0000 00"), "silence"],
  ["8 a header that promises a question", raw("0000", "0001000000000000"), "FORMERR"],
  ["9 no question", raw("0000", "0000000000000000"), "FORMERR"],
  [
    "10 a question for a cookie only",
    raw("0000", "0000000000000001", opt(`000c 000a 0008 ${clientCookie}`)),
    `NOERROR opt ${cookie}`,
  ],
  ["11 two questions", raw("0000", "0002000000000000", wwwQuestion, wwwQuestion), "FORMERR"],
  ["12 a name of 255 octets", raw("0000", "0001000000000000", longName(255)), nxdomain],
  ["12 a name of 256 octets", raw("0000", "0001000000000000", longName(256)), "FORMERR"],
  ["13 label length 0x40", raw("0000", "0001000000000000", hex("40"), wwwQuestion), "FORMERR"],
  ["13 a pointer as name", raw("0000", "0001000000000000", hex("c00c 0001 0001")), "FORMERR"],
  ["14 NUL within a label", question("a\\000b.p.test", "A"), nxdomain],
  ["15 an authority record promised", counted(question("www.p.test", "A"), 8, 1), "FORMERR"],
  [
    "16 a record in the answer section",
    question("www.p.test", "A", {
      answers: [{ name: "www.p.test", type: "A", class: 1, ttl: 1, data: "192.0.2.9" }],
    }),
    `NOERROR aa an: ${www}`,
  ],
  ["17 three octets behind", concat(question("www.p.test", "A"), hex("010203")), `NOERROR aa an: ${www}`],
  ...[1, 2, 3, 6, 15].flatMap((opcode) => [
    [`18 opcode ${opcode}`, question("www.p.test", "A", { opcode }), "NOTIMP"] as const,
    [
      `18 opcode ${opcode}, header only`,
      raw((opcode << 11).toString(16).padStart(4, "0"), "0000000000000000"),
      "NOTIMP",
    ] as const,
  ]),
  ["19 NOTIFY for a foreign zone", question("example.org", "SOA", { opcode: 4, authoritative: true }), "9"],
  ["20 UPDATE", question("p.test", "SOA", { opcode: 5 }), "REFUSED"],
  ["21 version.bind", question("version.bind", "TXT", { class: 3 }), "REFUSED"],
  ["21 foo.bar in CH", question("foo.bar", "TXT", { class: 3 }), "REFUSED"],
  ["22 class HS", question("www.p.test", "A", { class: 4 }), "REFUSED"],
  ["22 class NONE", question("www.p.test", "A", { class: 254 }), "REFUSED"],
  ["22 class 0", question("www.p.test", "A", { class: 0 }), "REFUSED"],
  ["23 class ANY", question("www.p.test", "A", { class: 255 }), `NOERROR an: ${www}`],
  ["24 MX of a host", question("www.p.test", "MX"), nodata],
  ["25 A of the apex", question("p.test", "A"), nodata],
  ["26 no such name", question("nx.p.test", "A"), nxdomain],
  ["27 an empty non-terminal", question("c.d.p.test", "A"), nodata],
  ["28 below it", question("zz.c.d.p.test", "A"), nxdomain],
  ["29 a wildcard, one label", question("Q.wild.p.test", "A"), "NOERROR aa an: Q.wild.p.test A 192.0.2.10"],
  [
    "29 a wildcard, two labels",
    question("p.q.wild.p.test", "A"),
    "NOERROR aa an: p.q.wild.p.test A 192.0.2.10",
  ],
  ["30 a wildcard without the type", question("q.wild.p.test", "AAAA"), nodata],
  ["31 a host beside the wildcard", question("x.host.wild.p.test", "A"), nxdomain],
  ["31 an empty non-terminal beside the wildcard", question("x.ent.wild.p.test", "A"), nxdomain],
  ["32 that one itself", question("ent.wild.p.test", "A"), nodata],
  ["33 the asterisk itself", question("*.wild.p.test", "A"), "NOERROR aa an: *.wild.p.test A 192.0.2.10"],
  ["33 below the asterisk", question("x.*.wild.p.test", "A"), nxdomain],
  ["34 an empty wildcard", question("zz.wc2.p.test", "A"), nodata],
  [
    "35 a chain of two",
    question("alias2.p.test", "A"),
    `NOERROR aa an: alias2.p.test CNAME alias.p.test., alias.p.test CNAME www.p.test., ${www}`,
  ],
  [
    "36 CNAME as type",
    question("alias2.p.test", "CNAME"),
    "NOERROR aa an: alias2.p.test CNAME alias.p.test.",
  ],
  [
    "37 a chain without the type",
    question("alias.p.test", "MX"),
    `NOERROR aa an: alias.p.test CNAME www.p.test. ns: ${soa}`,
  ],
  [
    "38 a dangling chain",
    question("dangling.p.test", "A"),
    `NXDOMAIN aa an: dangling.p.test CNAME nope.p.test. ns: ${soa}`,
  ],
  ["39 a chain that leaves", question("ext.p.test", "A"), "NOERROR aa an: ext.p.test CNAME www.example.org."],
  [
    "40 a chain into a delegation",
    question("deepcn.p.test", "A"),
    `NOERROR aa an: deepcn.p.test CNAME x.sub.p.test. ${subReferral}`,
  ],
  [
    "41 a loop",
    question("loop1.p.test", "A"),
    "NOERROR aa an: loop1.p.test CNAME loop2.p.test., loop2.p.test CNAME loop1.p.test.",
  ],
  [
    "42 CNAME of a wildcard",
    question("x.wcn.p.test", "CNAME"),
    "NOERROR aa an: x.wcn.p.test CNAME www.p.test.",
  ],
  ["43 A at the cut", question("sub.p.test", "A"), `NOERROR ${subReferral}`],
  ["43 A below the cut", question("x.sub.p.test", "A"), `NOERROR ${subReferral}`],
  ["43 NS at the cut", question("sub.p.test", "NS"), `NOERROR ${subReferral}`],
  ["43 A of the glue", question("ns.sub.p.test", "A"), `NOERROR ${subReferral}`],
  [
    "43 A below a cut without glue",
    question("x.sub2.p.test", "A"),
    "NOERROR ns: sub2.p.test NS ns.other.example.",
  ],
  ["44 DS at the cut", question("sub.p.test", "DS"), nodata],
  ["45 ANY", question("www.p.test", "ANY"), "NOERROR aa an: www.p.test AAAA 2001:db8::1"],
  ["45 ANY of no name", question("nx.p.test", "ANY"), nxdomain],
  [
    "46 an unknown type",
    question("t666.p.test", "TYPE666"),
    "NOERROR aa an: t666.p.test TYPE666 \\# 4 01020304",
  ],
  ["46 type 65535", question("www.p.test", "TYPE65535"), nodata],
  ["47 type 128", question("www.p.test", "TYPE128"), "FORMERR"],
  ["47 type TSIG", question("www.p.test", "TSIG"), "FORMERR"],
  ["47 type OPT", question("www.p.test", "OPT"), "FORMERR"],
  ["47 type MAILB", question("www.p.test", "MAILB"), "NOTIMP"],
  ["48 AXFR over UDP", question("p.test", "AXFR"), "NOTIMP"],
  ["48 IXFR over UDP without permission", incremental, "REFUSED"],
  ["49 a big TXT without EDNS", question("big.p.test", "TXT"), "NOERROR aa tc"],
  [
    "49 with 512",
    question("big.p.test", "TXT", { edns: { ...plainEdns, payloadSize: 512 } }),
    "NOERROR aa tc opt",
  ],
  [
    "49 with 0",
    question("big.p.test", "TXT", { edns: { ...plainEdns, payloadSize: 0 } }),
    "NOERROR aa tc opt",
  ],
  ...[1232, 4096, 65535].map(
    (payloadSize) =>
      [
        `50 a hundred addresses with ${payloadSize}`,
        question("many.p.test", "A", { edns: { ...plainEdns, payloadSize } }),
        "NOERROR aa tc opt",
      ] as const,
  ),
  [
    "51 EDNS version 1",
    question("www.p.test", "A", {
      edns: { ...plainEdns, version: 1, options: [{ code: 100, octets: hex("01") }] },
    }),
    "16 opt",
  ],
  ["52 an unknown option", withOption(100, "010203"), `NOERROR aa an: ${www} opt`],
  [
    "53 two OPT records",
    raw("0000", "0001000000000002", wwwQuestion, opt("0000"), opt("0000")),
    "FORMERR opt",
  ],
  [
    "53 OPT with a name",
    raw("0000", "0001000000000001", wwwQuestion, hex("016100 0029 04d0 00000000 0000")),
    "FORMERR",
  ],
  ["53 OPT in the answer section", raw("0000", "0001000100000000", wwwQuestion, opt("0000")), "FORMERR"],
  ["53 OPT longer than the message", raw("0000", "0001000000000001", wwwQuestion, opt("0004")), "FORMERR"],
  [
    "53 an option longer than OPT",
    raw("0000", "0001000000000001", wwwQuestion, opt("0005 0064 0002 01")),
    "FORMERR",
  ],
  ["54 NSID that is not configured", withOption(3, ""), `NOERROR aa an: ${www} opt`],
  ["55 cookie of 8 octets", withOption(10, clientCookie), `NOERROR aa an: ${www} opt ${cookie}`],
  ["55 cookie of 7 octets", withOption(10, "01020304050607"), "FORMERR"],
  ["55 cookie of 9 octets", withOption(10, "010203040506070809"), "FORMERR"],
  ["55 cookie of 41 octets", withOption(10, "01".repeat(41)), "FORMERR"],
  [
    "56 a wrong cookie",
    withOption(10, `${clientCookie}${"ff".repeat(16)}`),
    `NOERROR aa an: ${www} opt ${cookie}`,
  ],
  ...subnets.flatMap((subnet) => subnetAnswers.map(([name, expected]) => subnetCase(name, subnet, expected))),
  ["58 subnet with scope", withOption(8, "0001 18 18 c00002"), "FORMERR"],
  ["58 subnet /33", withOption(8, "0001 21 00 c000020100"), "FORMERR"],
  ["58 subnet too short", withOption(8, "0001 18 00 c000"), "FORMERR"],
  ["58 subnet too long", withOption(8, "0001 18 00 c0000201"), "FORMERR"],
  ["58 subnet with stray bits", withOption(8, "0001 17 00 c00003"), "FORMERR"],
  ["58 subnet of family 3", withOption(8, "0003 08 00 c0"), "FORMERR"],
  ["58 subnet option of three octets", withOption(8, "000118"), "FORMERR"],
  [
    "58 two subnet options",
    raw("0000", "0001000000000001", wwwQuestion, opt("0010 0008 0004 00010000 0008 0004 00010000")),
    "FORMERR",
  ],
  ["59 keepalive over UDP", withOption(11, ""), `NOERROR aa an: ${www} opt`],
  [
    "60 a signature of an unknown key",
    raw("0000", "0001000000000001", wwwQuestion, unknownSignature),
    `9 ar: key TSIG ${unknownSignatureText}`,
  ],
  [
    "60 TSIG that is not last",
    raw("0000", "0001000000000002", wwwQuestion, unknownSignature, opt("0000")),
    "FORMERR",
  ],
  [
    "60 octets behind TSIG",
    concat(raw("0000", "0001000000000001", wwwQuestion, unknownSignature), hex("00")),
    "FORMERR",
  ],
];

/** The same zone over TCP, where that is another answer. */
export const tcpCases: readonly ResponseCase[] = [
  ["21 foo.bar in CH", question("foo.bar", "TXT", { class: 3 }), "REFUSED"],
  ["45 ANY over TCP", question("www.p.test", "ANY"), `NOERROR aa an: ${www}, www.p.test AAAA 2001:db8::1`],
  ["48 AXFR without permission", question("p.test", "AXFR"), "REFUSED"],
  ["48 IXFR without permission", incremental, "REFUSED"],
  ["49 a big TXT over TCP", question("big.p.test", "TXT"), `NOERROR aa an: big.p.test TXT ${bigText}`],
  [
    "50 a hundred addresses over TCP",
    question("many.p.test", "A"),
    `NOERROR aa an: ${many.toSorted().join(", ")}`,
  ],
  ["59 keepalive over TCP", withOption(11, ""), `NOERROR aa an: ${www} opt 11=012c`],
];
