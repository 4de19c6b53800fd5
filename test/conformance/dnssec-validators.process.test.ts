import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import {
  AnswerSigner,
  Authority,
  dsToText,
  generateKey,
  keyFromFiles,
  keyToFiles,
  parseZoneFile,
  serveDns,
  ZoneKeys,
  type DnsServer,
  type SigningKey,
  type ZoneSigning,
} from "@meridian/dns";
import { silentLogger, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { run } from "../../e2e/harness/command.ts";
import { unboundConfig } from "../../e2e/harness/resolver-config.ts";
import { ChildServer, freePort } from "./child-server.ts";
import { datapaths, threadsFor, type Datapath } from "./datapath.ts";

// What we sign is checked by code that is not ours: delv and Unbound validate it, drill follows its chain of trust, and
// BIND's tools read and write the same key files.

const address = "127.0.0.1";
const zoneName = "p.test";

/** Rdata of every type with names in it, in mixed case, and of those that canonical form must leave alone. */
const rdataByType: readonly (readonly [type: string, rdata: string])[] = [
  ["A", "192.0.2.1"],
  ["CNAME", "Away.Other.Example."],
  ["MB", "Box.P.test."],
  ["MG", "Box.P.test."],
  ["MR", "Box.P.test."],
  ["PTR", "Host.P.test."],
  ["HINFO", '"CPU" "Os"'],
  ["MINFO", "Owner.P.test. Errors.P.test."],
  ["MX", "10 Mail.Other.Example."],
  ["TXT", '"Some Text" "And More"'],
  ["RP", "Person.P.test. Text.P.test."],
  ["AFSDB", "1 Cell.P.test."],
  // RT, whose name canonical form folds although it is opaque to us.
  ["TYPE21", "\\# 8 000A02486F015000"],
  ["AAAA", "2001:db8::1"],
  ["SRV", "1 2 443 Target.P.test."],
  ["NAPTR", '10 20 "S" "SIP+D2U" "" Next.P.test.'],
  ["KX", "1 Exchange.P.test."],
  ["CERT", "1 2 3 AQIDBA=="],
  ["DNAME", "Other.Example."],
  ["SSHFP", "1 2 ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789"],
  ["DHCID", "AQIDBAUG"],
  ["TLSA", "3 1 1 ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789"],
  ["OPENPGPKEY", "AQIDBA=="],
  ["CSYNC", "1 3 A NS AAAA"],
  ["SVCB", "1 Svc.P.test. alpn=H2"],
  ["HTTPS", "1 Svc.P.test. alpn=h2 port=8443"],
  ["SPF", '"V=spf1 -all"'],
  ["URI", '10 1 "https://P.test/"'],
  ["CAA", '0 Issue "Ca.Example"'],
  ["TYPE666", "\\# 4 41424344"],
];

/** Sets whose records come in another order than the canonical one, and in a different one each time. */
const extraText = `
www A 192.0.2.200
www A 192.0.2.3
www A 10.0.0.1
mail MX 10 b
mail MX 10 A
mail MX 2 c
txt TXT "b" "a"
txt TXT "ba"
txt TXT "a"
*.wild A 192.0.2.9
deep.ent A 192.0.2.10
alias CNAME www
dangling CNAME nothing
old DNAME ent
sub NS ns.sub
ns.sub A 192.0.2.54
big TXT ${Array.from({ length: 10 }, (_, index) => `"${String(index).repeat(250)}"`).join(" ")}
`;

const questions: readonly (readonly [name: string, type: string])[] = [
  ...rdataByType.map(([type]) => [`rR-${type}.mIXed`, type] as const),
  ...rdataByType
    .map(([type]) => [`Rr-${type}.Mixed`, "LOC"] as const)
    .filter(([name]) => !name.includes("CNAME")),
  ["www", "A"],
  ["mail", "MX"],
  ["txt", "TXT"],
  ["any.x.wild", "A"],
  ["any.x.wild", "MX"],
  ["ent", "A"],
  ["nothing.here", "A"],
  ["alias", "A"],
  ["dangling", "A"],
  ["x.old", "A"],
  ["deep.old", "A"],
  ["sub", "DS"],
  ["big", "TXT"],
  ["@", "SOA"],
  ["@", "NS"],
  ["@", "DNSKEY"],
  ["@", "CDS"],
  ["@", "CDNSKEY"],
  ["@", "NSEC3PARAM"],
];
const fullName = (name: string): string => (name === "@" ? zoneName : `${name}.${zoneName}`);

let folder: string;
let keys: readonly SigningKey[];
const servers = new Map<Datapath, DnsServer>();

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-validators-"));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  keys = [true, false].map((secureEntryPoint) =>
    generateKey(runtime.random, { secureEntryPoint, times: { publish: 0, activate: 0 } }),
  );
  for (const datapath of datapaths) servers.set(datapath, await serve(runtime, datapath));
  const ds = dsToText(zoneName, keys[0]!);
  await writeFile(path.join(folder, "anchor.ds"), `${zoneName}. IN DS ${ds}\n`);
  await writeFile(path.join(folder, "anchor.conf"), anchorFor(ds));
  const other = generateKey(runtime.random, { secureEntryPoint: true, times: { publish: 0 } });
  await writeFile(path.join(folder, "other.conf"), anchorFor(dsToText(zoneName, other)));
  await writeFile(path.join(folder, "anchor.key"), keyToFiles(zoneName, keys[0]!).publicText);
});

/** Serves the zone, signed by `keys`. */
async function serve(runtime: Runtime, datapath: Datapath): Promise<DnsServer> {
  const text = rdataByType.map(([type, rdata]) => `Rr-${type}.Mixed ${type} ${rdata}`).join("\n");
  const { zone, problems } = parseZoneFile(
    `$ORIGIN ${zoneName}.\n$TTL 60\n@ SOA Ns1 Host 1 3600 600 86400 30\n@ NS Ns1\nns1 A 127.0.0.1\n${text}\n${extraText}`,
  );
  assert.ok(zone !== undefined, JSON.stringify(problems));
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const threads = threadsFor(datapath, runtime, authority);
  const parts = {
    ...runtime,
    answers: new AnswerSigner({ clock: runtime.clock }),
    onSigning: (signing: ZoneSigning) => threads?.sign(signing),
  };
  // The zone stays signed as long as the test runs.
  void new ZoneKeys(zone, { keys: { own: keys, foreign: [] } }, parts);
  return serveDns(runtime, {
    authority,
    listen: [{ address, port: 0 }],
    ...(threads === undefined ? {} : { serveUdp: threads.serveUdp }),
  });
}

after(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A trust anchor as BIND's tools read it. */
function anchorFor(ds: string): string {
  const [tag, algorithm, type, digest] = ds.split(" ");
  return `trust-anchors { ${zoneName}. static-ds ${tag} ${algorithm} ${type} "${digest}"; };\n`;
}

/** Whether a tool is there; without it the test is skipped, and fails on CI. */
function has(context: TestContext, tool: string): boolean {
  if (spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0) return true;
  assert.notEqual(process.env["CI"], "true", `${tool} is not installed`);
  context.skip(`${tool} is not installed`);
  return false;
}

/** Both outputs of a tool that runs while this process goes on answering it. */
async function output(command: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(command, args, { timeoutMs: 20_000 });
  return stdout + stderr;
}

// oxlint-disable-next-line max-params -- the words of the tool
const delv = (port: number, anchor: string, name: string, type: string): Promise<string> =>
  output("delv", [
    `@${address}`,
    "-p",
    `${port}`,
    "-a",
    path.join(folder, anchor),
    `+root=${zoneName}`,
    fullName(name),
    type,
  ]);

for (const datapath of datapaths) {
  test(`delv validates every kind of answer and every type (${datapath})`, async (context) => {
    if (!has(context, "delv")) return;
    const { port } = servers.get(datapath)!.local[0]!;
    for (const [name, type] of questions)
      assert.match(
        await delv(port, "anchor.conf", name, type),
        /; (negative response, )?fully validated/,
        `${name} ${type}`,
      );
  });

  test(`delv refuses the zone where it trusts another key (${datapath})`, async (context) => {
    if (!has(context, "delv")) return;
    const { port } = servers.get(datapath)!.local[0]!;
    for (const [name, type] of [
      ["www", "A"],
      ["nothing", "A"],
      ["@", "DNSKEY"],
    ] as const) {
      const text = await delv(port, "other.conf", name, type);
      assert.match(
        text,
        /resolution failed: (broken trust chain|no valid|insecurity proof failed|SERVFAIL)/i,
        `${name} ${type}: ${text}`,
      );
    }
  });

  test(`Unbound validates every kind of answer and every type (${datapath})`, async (context) => {
    if (!has(context, "unbound") || !has(context, "dig")) return;
    const { port } = servers.get(datapath)!.local[0]!;
    const unboundPort = await freePort(nodeRuntime({ dataFolder: folder, log: silentLogger }));
    const file = path.join(folder, "unbound.conf");
    const settings = [
      "val-log-level: 2",
      'module-config: "validator iterator"',
      `trust-anchor-file: "${folder}/anchor.ds"`,
    ];
    const config = unboundConfig(
      { folder, address, port: unboundPort },
      { zone: zoneName, server: `${address}@${port}`, settings },
    );
    await writeFile(file, config);
    await using _unbound = await ChildServer.start(["unbound", "-d", "-c", file], /start of service/);
    for (const [name, type] of questions) {
      const text = await output("dig", [
        `@${address}`,
        "-p",
        `${unboundPort}`,
        "+dnssec",
        "+tries=2",
        fullName(name),
        type,
      ]);
      assert.match(text, /status: NOERROR/, `${name} ${type}: ${text}`);
      assert.match(text, /flags: [a-z ]*\bad\b/, `${name} ${type}: ${text}`);
    }
  });

  test(`drill finds the chain of trust from an answer to the key, and from a denial (${datapath})`, async (context) => {
    if (!has(context, "drill")) return;
    const { port } = servers.get(datapath)!.local[0]!;
    for (const [name, type] of [
      ["www", "A"],
      ["nothing", "A"],
      ["any.x.wild", "A"],
      ["mail", "MX"],
    ] as const) {
      const text = await output("drill", [
        "-p",
        `${port}`,
        "-S",
        "-k",
        path.join(folder, "anchor.key"),
        `@${address}`,
        fullName(name),
        type,
      ]);
      assert.match(text, /Chase successful/, `${name} ${type}: ${text}`);
    }
  });

  test(`kdig shows signatures with DO, and none without (${datapath})`, async (context) => {
    if (!has(context, "kdig")) return;
    const { port } = servers.get(datapath)!.local[0]!;
    const ask = (...words: readonly string[]): Promise<string> =>
      output("kdig", [`@${address}`, "-p", `${port}`, ...words]);
    const signed = await ask("+dnssec", `www.${zoneName}`, "A");
    assert.match(signed, /flags: do;/);
    assert.match(signed, /IN\s+RRSIG\s+A 13 3 60 /);
    const denied = await ask("+dnssec", `nothing.${zoneName}`, "A");
    assert.match(denied, /status: NOERROR/);
    assert.match(
      denied,
      /nothing\.p\.test\.\s+30\s+IN\s+NSEC\s+\\000\.nothing\.p\.test\. RRSIG NSEC (NXNAME|TYPE128)/,
    );
    const plain = await ask("+edns", `nothing.${zoneName}`, "A");
    assert.match(plain, /status: NXDOMAIN/);
    assert.doesNotMatch(plain, /RRSIG|NSEC/);
  });
}

test("BIND's key files are read as BIND means them, and ours are read by BIND", async (context) => {
  if (!has(context, "dnssec-keygen") || !has(context, "dnssec-dsfromkey") || !has(context, "dnssec-settime"))
    return;
  const made = await output("dnssec-keygen", [
    "-q",
    "-K",
    folder,
    "-a",
    "ECDSAP256SHA256",
    "-f",
    "KSK",
    "-P",
    "20300101000000",
    "-A",
    "20300201000000",
    "-I",
    "20300301000000",
    "-D",
    "20300401000000",
    zoneName,
  ]);
  const base = path.join(folder, made.trim());
  const text = (ending: string): Promise<string> => readFile(`${base}.${ending}`, "utf8");
  const key = keyFromFiles(zoneName, { publicText: await text("key"), privateText: await text("private") });
  const seconds = (month: number): number => Date.UTC(2030, month, 1) / 1000;
  assert.equal(key.secureEntryPoint, true);
  assert.deepEqual(key.times, {
    publish: seconds(0),
    activate: seconds(1),
    retire: seconds(2),
    remove: seconds(3),
  });
  const dsOf = async (file: string): Promise<string> =>
    (await output("dnssec-dsfromkey", ["-2", file]))
      .replace(/^.*\sDS\s+/, "")
      .trim()
      .toLowerCase();
  assert.equal(await dsOf(base), dsToText(zoneName, key));

  const files = keyToFiles(zoneName, { ...keys[0]!, times: key.times });
  const ours = path.join(folder, files.baseName);
  await writeFile(`${ours}.key`, files.publicText);
  await writeFile(`${ours}.private`, files.privateText);
  assert.equal(await dsOf(ours), dsToText(zoneName, keys[0]!));
  const times = await output("dnssec-settime", ["-u", "-p", "all", ours]);
  for (const [field, month] of [
    ["Publish", 0],
    ["Activate", 1],
    ["Inactive", 2],
    ["Delete", 3],
  ] as const)
    assert.match(times, new RegExp(`${field}: ${seconds(month)}`));
});
