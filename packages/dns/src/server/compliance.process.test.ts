/*
 * What tools say of `meridian dns`: the questions of RFC 8906 §8 and more of their kind by `dig`, and a dozen answers as
 * `dig`, `kdig` and `drill` read them.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";
import { caseZoneText } from "../testdata/case-zone.ts";
import { datapaths, startDnsCommand, type DnsCommand } from "../testdata/dns-command.ts";

const run = promisify(execFile);
const servers = new Map<string, DnsCommand>();
let folder: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-compliance-"));
  const file = path.join(folder, "zone");
  await writeFile(file, caseZoneText);
  for (const { datapath, skip } of datapaths) {
    if (skip !== false) continue;
    servers.set(datapath, await startDnsCommand(["--zone-file", file, "--datapath", datapath]));
  }
});

after(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** What a tool prints, or `undefined` where it is not installed; on CI it must be. */
async function output(tool: string, words: readonly string[]): Promise<string | undefined> {
  try {
    return (await run(tool, words)).stdout;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT" || process.env["CI"] === "true") throw error;
    return undefined;
  }
}

/** Status and flags, counts of question, answer and authority, and OPT with the names of its options. */
function summary(text: string): string {
  const [, opcode = "", status = ""] = /opcode: (\w+), status: (\w+)/.exec(text) ?? [];
  const [, flags = "", ...counts] =
    /flags:(.*); QUERY: (\d+), ANSWER: (\d+), AUTHORITY: (\d+)/.exec(text) ?? [];
  const head = `${opcode === "QUERY" ? "" : `${opcode} `}${status}${flags} ${counts.join(" ")}`;
  const edns = /; EDNS: version: (\d+), flags:([^;]*);(.*) udp: (\d+)\n((?:; .*\n)*)/.exec(text);
  if (edns === null) return head;
  const [, version, ednsFlags = "", reserved = "", size, options = ""] = edns;
  const names = options.split("\n").flatMap((line) => /^; ([^:]+):/.exec(line)?.[1] ?? []);
  return [`${head} edns${version}${ednsFlags}${reserved} ${size}`, ...names].join(" ");
}

const soa = ["soa", "p.test"];
const plain = ["+noedns", "+noad", "+norec"];
const edns = ["+nocookie", "+edns=0", "+noad", "+norec"];
const edns1 = ["+nocookie", "+edns=1", "+noednsneg", "+noad", "+norec"];
const answered = "NOERROR qr aa 1 1 0";
const badVersion = "BADVERS qr 1 0 0 edns0 1232";

/** RFC 8906 §8.1 and §8.2 by their numbers; those without one ask the same of other values. */
const questions: readonly (readonly [name: string, words: readonly string[], expected: string])[] = [
  ["8.1.1 the server is configured for the zone", [...plain, ...soa], answered],
  ["8.1.2 an unknown type", [...plain, "type1000", "p.test"], "NOERROR qr aa 1 0 1"],
  ["8.1.3.1 CD", [...plain, "+cd", ...soa], answered],
  ["8.1.3.2 AD", ["+noedns", "+norec", "+ad", ...soa], answered],
  ["8.1.3.3 the reserved bit", [...plain, "+zflag", ...soa], answered],
  ["AA in the question", [...plain, "+aaflag", ...soa], answered],
  ["TC in the question", [...plain, "+tcflag", "+ignore", ...soa], answered],
  ["RA in the question", [...plain, "+raflag", ...soa], answered],
  ["8.1.3.4 RD", ["+noedns", "+noad", "+rec", ...soa], "NOERROR qr aa rd 1 1 0"],
  ["8.1.4 an unknown opcode", [...plain, "+opcode=15", "+header-only"], "RESERVED15 NOTIMP qr 0 0 0"],
  ...[1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14].map(
    (opcode) =>
      [
        `opcode ${opcode}`,
        [...plain, `+opcode=${opcode}`, "+header-only"],
        `${["", "IQUERY", "STATUS"][opcode] ?? `RESERVED${opcode}`} NOTIMP qr 0 0 0`,
      ] as const,
  ),
  [
    "an unknown opcode with flags",
    ["+noedns", "+ad", "+aaflag", "+cd", "+rec", "+zflag", "+opcode=15", "+header-only"],
    "RESERVED15 NOTIMP qr rd 0 0 0",
  ],
  ["8.1.5 TCP", [...plain, "+tcp", ...soa], answered],
  ["8.2.1 EDNS", [...edns, ...soa], `${answered} edns0 1232`],
  ["8.2.2 EDNS version 1", [...edns1, ...soa], badVersion],
  ["8.2.3 an unknown option", [...edns, "+ednsopt=100", ...soa], `${answered} edns0 1232`],
  ["8.2.4 unknown flags of EDNS", [...edns, "+ednsflags=0x40", ...soa], `${answered} edns0 1232`],
  ["8.2.5 version 1 with unknown flags", [...edns1, "+ednsflags=0x40", ...soa], badVersion],
  ["8.2.6 version 1 with an unknown option", [...edns1, "+ednsopt=100", ...soa], badVersion],
  [
    "8.2.7 an answer that is truncated",
    ["+norec", "+noad", "+nocookie", "+dnssec", "+bufsize=512", "+ignore", "txt", "big.p.test"],
    "NOERROR qr aa tc 1 0 0 edns0 do 1232",
  ],
  ["8.2.8 DO", [...edns, "+dnssec", ...soa], `${answered} edns0 do 1232`],
  ["8.2.9 version 1 with DO", [...edns1, "+dnssec", ...soa], "BADVERS qr 1 0 0 edns0 do 1232"],
  [
    "8.2.10 several options",
    ["+edns=0", "+noad", "+norec", "+cookie", "+nsid", "+expire", "+subnet=0.0.0.0/0", ...soa],
    `${answered} edns0 1232 COOKIE CLIENT-SUBNET EXPIRE`,
  ],
  ["EDNS over TCP", [...edns, "+tcp", ...soa], `${answered} edns0 1232`],
  ["512 octets", [...edns, "+bufsize=512", ...soa], `${answered} edns0 1232`],
  ["NSID alone, not configured", [...edns, "+nsid", ...soa], `${answered} edns0 1232`],
  ["EXPIRE alone", [...edns, "+expire", ...soa], `${answered} edns0 1232 EXPIRE`],
  ["padding", [...edns, "+padding=128", ...soa], `${answered} edns0 1232`],
  ["keepalive over UDP", [...edns, "+keepalive", ...soa], `${answered} edns0 1232`],
  ["keepalive over TCP", [...edns, "+keepalive", "+tcp", ...soa], `${answered} edns0 1232 TCP KEEPALIVE`],
  ["a name of somebody else", [...edns, "a", "example.org"], "REFUSED qr 1 0 0 edns0 1232 EDE"],
];

/** One question for each type that a zone may have (RFC 8906 §7.1.2): none is an error, or silence. */
const types =
  "a ns md mf cname mb mg mr null wks ptr hinfo minfo mx txt rp afsdb x25 isdn rt nsap nsap-ptr sig key px gpos aaaa loc " +
  "nxt srv naptr kx cert a6 dname apl ds sshfp ipseckey rrsig nsec dnskey dhcid nsec3 nsec3param tlsa smimea hip cds " +
  "cdnskey openpgpkey csync zonemd svcb https spf nid l32 l64 lp eui48 eui64 uri caa avc doa amtrelay ta dlv type1000";

for (const { datapath, skip } of datapaths) {
  const dig = (words: readonly string[]): Promise<string | undefined> => {
    const { address, port } = servers.get(datapath)!.local;
    return output("dig", [`@${address}`, "-p", String(port), ...words]);
  };

  for (const [name, words, expected] of questions) {
    test(`${datapath}: ${name}`, { skip }, async (context) => {
      const text = await dig(words);
      if (text === undefined) return context.skip("dig is not installed: apt install bind9-dnsutils");
      assert.equal(summary(text), expected, text);
      assert.doesNotMatch(text, /malformed|mismatch|Warning: Message parser|MBZ/i);
    });
  }

  test(`${datapath}: every type is answered`, { skip }, async (context) => {
    const words = types.split(" ").flatMap((type) => [...plain, "-t", type, "-q", "p.test"]);
    const text = await dig(words);
    if (text === undefined) return context.skip("dig is not installed: apt install bind9-dnsutils");
    // dig asks many at once, and prints answers as they come.
    const answers = text
      .split(";; Got answer:")
      .slice(1)
      .map((part) => `${/;p\.test\.\s+IN\s+(\S+)/.exec(part)?.[1]?.toLowerCase()} ${summary(part)}`);
    const expected = types
      .split(" ")
      .map((type) => `${type} ${type === "ns" ? "NOERROR qr aa 1 2 0" : "NOERROR qr aa 1 0 1"}`);
    assert.deepEqual(answers.toSorted(), expected.toSorted());
  });
}

const readAlike: readonly (readonly [name: string, type: string])[] = [
  ["www.p.test", "A"],
  ["www.p.test", "AAAA"],
  ["p.test", "SOA"],
  ["p.test", "NS"],
  ["nx.p.test", "A"],
  ["c.d.p.test", "A"],
  ["q.wild.p.test", "TXT"],
  ["alias2.p.test", "A"],
  ["dangling.p.test", "A"],
  ["x.sub.p.test", "A"],
  ["a.dn.p.test", "A"],
  ["mail.p.test", "MX"],
  ["srv.p.test", "SRV"],
  ["caa.p.test", "CAA"],
  ["t666.p.test", "TYPE666"],
  ["example.org", "A"],
];

/** Status, flags, counts and records in the form that the three tools have in common. */
function read(text: string): string[] {
  const [, status = ""] = /(?:status|rcode): (\w+)/.exec(text) ?? [];
  const [, flags = ""] = /flags: ([a-z ]*)/i.exec(text) ?? [];
  const counts = ["QUERY", "ANSWER", "AUTHORITY", "ADDITIONAL"].map(
    (section) => new RegExp(`${section}: (\\d+)`).exec(text)?.[1],
  );
  const records = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(";"))
    .map((line) => line.trim().replaceAll(/\s+/g, " "));
  return [status, flags.trim(), counts.join(" "), ...records.toSorted()];
}

for (const { datapath, skip } of datapaths)
  for (const [name, type] of readAlike) {
    test(`${datapath}: dig, kdig and drill read ${name} ${type} alike`, { skip }, async (context) => {
      const { address, port } = servers.get(datapath)!.local;
      const at = ["-p", String(port)];
      const texts = [
        await output("dig", [`@${address}`, ...at, "+noedns", "+noad", name, type]),
        await output("kdig", [`@${address}`, ...at, "+noedns", name, type]),
        await output("drill", [...at, name, type, `@${address}`]),
      ];
      const present = texts.filter((text) => text !== undefined);
      if (present.length < 3) return context.skip("one of dig, kdig and drill is not installed");
      const [first, ...others] = present.map(read);
      assert.match(first![0]!, /^(NOERROR|NXDOMAIN|REFUSED)$/);
      for (const other of others) assert.deepEqual(other, first);
    });
  }
