import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { mmsgAvailability, nodeRuntime } from "@meridian/runtime/node";
import { DnsClient } from "../client/dns-client.ts";
import { caseZoneText, loadZone } from "../testdata/case-zone.ts";
import { UdpWorkers } from "../workers/udp-workers.ts";
import { Authority } from "./authority.ts";
import { serveDns, type DnsServer } from "./serve-dns.ts";

const run = promisify(execFile);
const address = "127.0.0.1";

const mmsg = mmsgAvailability();
/** Each way to answer datagrams, and why it cannot be tried here. */
const datapaths = [
  { datapath: "dgram", skip: false },
  { datapath: "mmsg", skip: mmsg.available ? false : mmsg.reason },
] as const;
type Datapath = (typeof datapaths)[number]["datapath"];

const servers = new Map<Datapath, DnsServer>();
let folder: string;
let client: DnsClient;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-dns-"));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  for (const { datapath, skip } of datapaths) {
    if (skip !== false) continue;
    const authority = new Authority({ ...runtime, serverId: "test-1" });
    authority.setZone(loadZone(caseZoneText));
    const more =
      datapath === "mmsg" ? { serveUdp: new UdpWorkers(runtime, { authority, threads: 2 }).serveUdp } : {};
    servers.set(datapath, await serveDns(runtime, { authority, listen: [{ address, port: 0 }], ...more }));
  }
  client = new DnsClient(runtime, { from: address, randomCase: true });
});

after(async () => {
  await client[Symbol.asyncDispose]();
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function localOf(datapath: Datapath): Endpoint {
  return servers.get(datapath)!.local[0]!;
}

/** What a tool prints, or `undefined` where it is not installed; on CI it must be. */
async function output(
  tool: string,
  words: readonly string[],
  datapath: Datapath,
): Promise<string | undefined> {
  try {
    const { stdout } = await run(tool, [`@${address}`, "-p", String(localOf(datapath).port), ...words]);
    return stdout;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT" || process.env["CI"] === "true") throw error;
    return undefined;
  }
}

interface Case {
  readonly name: string;
  readonly dig: readonly string[];
  readonly expect: readonly RegExp[];
}

const cases: readonly Case[] = [
  {
    name: "an address",
    dig: ["www.p.test", "A"],
    expect: [/status: NOERROR/, /flags: qr aa rd;/, /www\.p\.test\.\s+60\s+IN\s+A\s+192\.0\.2\.[12]/],
  },
  {
    name: "no such name",
    dig: ["nx.p.test", "A"],
    expect: [/status: NXDOMAIN/, /p\.test\.\s+30\s+IN\s+SOA/],
  },
  {
    name: "a chain",
    dig: ["alias2.p.test", "A"],
    expect: [/alias2\.p\.test\.\s+60\s+IN\s+CNAME\s+alias\.p\.test\./, /ANSWER: 4/],
  },
  {
    name: "a referral",
    dig: ["x.sub.p.test", "A"],
    expect: [
      /flags: qr rd;/,
      /sub\.p\.test\.\s+60\s+IN\s+NS\s+ns\.sub\.p\.test\./,
      /ns\.sub\.p\.test\.\s+60\s+IN\s+A/,
    ],
  },
  { name: "a big answer, over TCP by itself", dig: ["many.p.test", "A"], expect: [/ANSWER: 100/, /TCP/] },
  {
    name: "pipelined TCP",
    dig: ["+tcp", "+keepopen", "www.p.test", "A", "www.p.test", "AAAA"],
    expect: [/192\.0\.2\.1/, /2001:db8::1/],
  },
  {
    name: "DNAME",
    dig: ["a.dn.p.test", "A"],
    expect: [/dn\.p\.test\.\s+60\s+IN\s+DNAME\s+target\.p\.test\./, /192\.0\.2\.20/],
  },
  { name: "HTTPS and CAA", dig: ["svc.p.test", "TYPE65"], expect: [/ANSWER: 1/] },
  { name: "an unknown type", dig: ["t666.p.test", "TYPE666"], expect: [/\\# 4 01020304/] },
  { name: "EDNS version 1", dig: ["+edns=1", "+noednsneg", "www.p.test", "SOA"], expect: [/BADVERS/] },
  {
    name: "an unknown option",
    dig: ["+ednsopt=100", "www.p.test", "A"],
    expect: [/status: NOERROR/, /ANSWER: 2/],
  },
  { name: "an unknown opcode", dig: ["+opcode=15", "+header-only"], expect: [/status: NOTIMP/] },
  { name: "NSID", dig: ["+nsid", "www.p.test", "A"], expect: [/NSID: .*test-1|NSID:.*74 65 73 74/] },
  {
    name: "a client subnet",
    dig: ["+subnet=192.0.2.0/24", "www.p.test", "A"],
    expect: [/CLIENT-SUBNET: 192\.0\.2\.0\/24\/0/],
  },
  { name: "a zone of somebody else", dig: ["example.org", "A"], expect: [/status: REFUSED/] },
];

for (const { datapath, skip } of datapaths)
  for (const { name, dig, expect } of cases) {
    test(`dig sees ${name} (${datapath})`, { skip }, async (context) => {
      const words =
        dig.includes("+subnet=192.0.2.0/24") || dig.includes("+nsid") ? dig : ["+nocookie", ...dig];
      const text = await output("dig", words, datapath);
      if (text === undefined) return context.skip("dig is not installed: apt install bind9-dnsutils");
      for (const pattern of expect) assert.match(text, pattern);
      assert.doesNotMatch(
        text,
        /malformed|Warning: Message parser|recursion requested but not available\n.*mismatch/i,
      );
    });
  }

for (const { datapath, skip } of datapaths)
  test(`dig and its cookie get on (${datapath})`, { skip }, async (context) => {
    const text = await output("dig", ["www.p.test", "A"], datapath);
    if (text === undefined) return context.skip("dig is not installed: apt install bind9-dnsutils");
    assert.match(text, /COOKIE: [0-9a-f]{48} \(good\)/);
  });

const kdigCases: readonly Case[] = [
  { name: "an address", dig: ["www.p.test", "A"], expect: [/status: NOERROR/, /192\.0\.2\.1/] },
  { name: "HTTPS", dig: ["svc.p.test", "HTTPS"], expect: [/1 \. alpn=(h2,h3|"h2,h3") port=8443/] },
  { name: "CAA", dig: ["caa.p.test", "CAA"], expect: [/0 issue "ca\.example"/] },
  { name: "a truncated answer, then TCP", dig: ["big.p.test", "TXT", "+bufsize=512"], expect: [/x{250}/] },
  {
    name: "two questions on one connection",
    dig: ["+tcp", "+keepopen", "www.p.test", "A", "nx.p.test", "A"],
    expect: [/192\.0\.2\.2/, /NXDOMAIN/],
  },
  { name: "ANY", dig: ["www.p.test", "ANY", "+notcp"], expect: [/ANSWER: 1;/] },
];
for (const { datapath, skip } of datapaths)
  for (const { name, dig, expect } of kdigCases) {
    test(`kdig sees ${name} (${datapath})`, { skip }, async (context) => {
      const text = await output("kdig", dig, datapath);
      if (text === undefined) return context.skip("kdig is not installed: apt install knot-dnsutils");
      for (const pattern of expect) assert.match(text, pattern);
      assert.doesNotMatch(text, /malformed|WARNING/i);
    });
  }

for (const { datapath, skip } of datapaths)
  test(`our own client asks over real sockets, by UDP and TCP (${datapath})`, { skip }, async () => {
    for (const [name, count] of [
      ["www.p.test", 2],
      ["many.p.test", 100],
    ] as const) {
      const verdict = await client.query({
        name,
        type: "A",
        servers: [localOf(datapath)],
        deadlineMs: 5_000,
      });
      assert.ok(verdict.state === "answered", JSON.stringify(verdict));
      assert.equal(verdict.records.length, count);
    }
  });
