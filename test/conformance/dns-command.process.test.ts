import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DnsClient, parseTsigKeyFile, updateZone, ZoneTransferClient } from "@meridian/dns";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { mmsgAvailability, nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, meridianCommand } from "./child-server.ts";

const execute = promisify(execFile);
const root = await mkdtemp(path.join(tmpdir(), "meridian-dns-command-"));
const runtime = nodeRuntime({ dataFolder: root, log: silentLogger });
const client = new DnsClient(runtime);
after(async () => {
  await client[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

const localhost = "127.0.0.1";
const datapaths = mmsgAvailability().available ? (["mmsg", "dgram"] as const) : (["dgram"] as const);
const zoneText = (origin: string, serial = 1, address = "192.0.2.7"): string => `$ORIGIN ${origin}.
$TTL 60
@ SOA ns hostmaster ${serial} 7200 1800 86400 30
@ NS ns
ns A 192.0.2.1
www A ${address}
`;
const secrets = { first: "MTExMTExMTExMTExMTExMTExMTE=", second: "MjIyMjIyMjIyMjIyMjIyMjIyMjI=" };

/** A folder for one server's files. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(root, "server-"));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  return folder;
}

/** Runs `meridian dns …` to its end. */
function meridian(...words: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const [program = "", ...before] = meridianCommand;
  return spawnSync(program, [...before, "dns", ...words], { encoding: "utf8" });
}

async function serve(folder: string, ...words: readonly string[]): Promise<ChildServer & { at: Endpoint }> {
  const command = [...meridianCommand, "dns", "--config", path.join(folder, "dns.yaml"), ...words];
  const server = await ChildServer.start(command, /Serving .* at 127\.0\.0\.1:(\d+)[^\n]*\n/);
  return Object.assign(server, { at: { address: localhost, port: Number(server.match[1]) } });
}

async function ask(at: Endpoint, name: string, type = "A"): Promise<string> {
  const verdict = await client.query({ name, type, servers: [at], deadlineMs: 5_000 });
  if (verdict.state === "refused") return verdict.rcode;
  if (verdict.state === "unreachable") return verdict.reason;
  return verdict.outcome === "data" ? verdict.records.map(({ data }) => data).join() : verdict.outcome;
}

/** Asks until the answer is as expected: a secondary needs a moment. */
async function askUntil(at: Endpoint, name: string, expected: string): Promise<void> {
  let got = "";
  for (let tries = 0; tries < 500; tries++) {
    got = await ask(at, name);
    if (got === expected) return;
    await runtime.clock.sleep(20);
  }
  assert.equal(got, expected);
}

function makeCertificate(folder: string, name: string): void {
  const made = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"],
    ...["-keyout", path.join(folder, `${name}.key`), "-out", path.join(folder, `${name}.crt`)],
    ...["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"],
  ]);
  assert.equal(made.status, 0, String(made.stderr));
}

/** What a tool prints, or `undefined` where it is not installed; on CI it must be. */
async function output(tool: string, words: readonly string[]): Promise<string | undefined> {
  try {
    return (await execute(tool, [...words])).stdout;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT" || process.env["CI"] === "true") throw error;
    return undefined;
  }
}

/** The folder of the documentation's example, with every file that it names. */
async function documentedFolder(): Promise<string> {
  const manual = fileURLToPath(new URL("../../../docs/dns-server.md", import.meta.url));
  const [, yaml = ""] =
    /^`dns\.yaml`:\n\n```yaml\n([\s\S]*?)^```/m.exec(await readFile(manual, "utf8")) ?? [];
  const local = yaml
    .replace(', "[::]:53"', "")
    .replaceAll(/"0\.0\.0\.0:\d+"/g, '"127.0.0.1:0"')
    .replace("127.0.0.1:9153", "127.0.0.1:0")
    .replaceAll("192.0.2.0/24", "127.0.0.0/8")
    .replaceAll(/server: 192\.0\.2\.5[45]:53/g, "server: 127.0.0.1:1");
  const folder = await folderWith({
    "dns.yaml": local,
    "example.org.zone": zoneText("example.org"),
    cookies: "000102030405060708090a0b0c0d0e0f\n",
    "geo.yaml": "networks: { 127.0.0.0/8: eu }\n",
    "ci.key": meridian("keygen", "--tsig", "ci.example.org").stdout,
    "peers.secret": `${secrets.first}\n`,
  });
  makeCertificate(folder, "tls");
  const keys = path.join(folder, "keys");
  assert.match(
    meridian("keygen", "--zone", "example.org", "--folder", keys).stdout,
    /Kexample\.org\.\+013\+\d{5}\n$/,
  );
  return folder;
}

for (const datapath of datapaths) {
  test(`the documented configuration is checked and served, all of it (${datapath})`, async () => {
    const folder = await documentedFolder();
    const config = path.join(folder, "dns.yaml");
    const checked = meridian("check", "--config", config);
    assert.deepEqual(
      [checked.status, checked.stdout, checked.stderr],
      [0, "example.org, serial 1: well\nexample.net: well\n", ""],
    );
    const map = path.join(folder, "geo.yaml");
    const mapText = await readFile(map, "utf8");
    await writeFile(map, "networks: { 10.0.0.0/33: eu }\n");
    const damaged = meridian("check", "--config", config);
    assert.equal(damaged.status, 1);
    assert.match(damaged.stderr, /geo\.yaml cannot be used: line 1: .*10\.0\.0\.0\/33/);
    await rm(map);
    const absent = meridian("check", "--config", config);
    assert.equal(absent.status, 0);
    assert.match(absent.stdout, /well\ngeo: .*geo\.yaml is not there; answers hold all targets/);
    await writeFile(map, mapText);

    await using server = await serve(folder, "--datapath", datapath);
    const { at } = server;
    const [, tlsPort] = await server.until(/Over TLS at 127\.0\.0\.1:(\d+)\n/);
    const [, dohUrl = ""] = await server.until(/Over HTTPS at (https:\S+)\n/);
    const [, metricsUrl = ""] = await server.until(/Metrics at (http:\S+)\n/);
    assert.equal(await ask(at, "ns.example.org"), "192.0.2.1");
    assert.match(await ask(at, "example.org"), /^(192\.0\.2\.7,192\.0\.2\.8|192\.0\.2\.8,192\.0\.2\.7)$/);
    assert.match(await ask(at, "app.example.org"), /^192\.0\.2\.1[01]$/);
    assert.equal(await ask(at, "near.example.org"), "192.0.2.10", "the map has 127.0.0.0/8 in eu");
    assert.equal(await ask(at, "www.example.net"), "SERVFAIL");

    const port = ["-p", String(at.port)];
    const dig = await output("dig", [`@${localhost}`, ...port, "ns.example.org", "+dnssec", "+nsid"]);
    if (dig !== undefined) {
      assert.match(dig, /RRSIG\s+A 13 3 60 /);
      assert.match(dig, /NSID: .*\("ns1"\)/);
      assert.match(dig, /COOKIE: [0-9a-f]{48} \(good\)/);
      const version = ["version.bind", "CH", "TXT", "+short"];
      assert.match(
        (await output("dig", [`@${localhost}`, ...port, ...version])) ?? "",
        /none of your business/,
      );
    }
    const kdig = [`@${localhost}`, "ns.example.org", "+short"];
    const overTls = await output("kdig", [...kdig, "-p", tlsPort!, "+tls"]);
    if (overTls !== undefined) {
      assert.equal(overTls, "192.0.2.1\n");
      const overHttps = await output("kdig", [...kdig, "-p", new URL(dohUrl).port, "+https"]);
      assert.equal(overHttps, "192.0.2.1\n");
    }

    const batch = path.join(folder, "batch");
    const change = "update add a.dyn.example.org 30 A 192.0.2.99\nupdate add a.dyn.example.org 30 TXT hello";
    await writeFile(batch, `server ${localhost} ${at.port}\nzone example.org\n${change}\nsend\n`);
    if ((await output("nsupdate", ["-k", path.join(folder, "ci.key"), batch])) !== undefined) {
      assert.equal(await ask(at, "a.dyn.example.org"), "192.0.2.99");
      await writeFile(
        batch,
        `server ${localhost} ${at.port}\nzone example.org\nupdate del www.example.org\nsend\n`,
      );
      await assert.rejects(output("nsupdate", ["-k", path.join(folder, "ci.key"), batch]), /REFUSED/);
    }
    const transfer = await new ZoneTransferClient(runtime).fetchZone({
      zone: "example.org",
      primaries: [at],
    });
    assert.equal(transfer.kind, "whole");

    const metrics = await (await fetch(metricsUrl)).text();
    assert.match(metrics, /^meridian_dns_zone_serial\{zone="example\.org"\} [2-9]$/m);
    assert.match(metrics, /^meridian_dns_geo_map_entries 1$/m);
    assert.match(metrics, /^process_cpu_seconds_total /m);
    const ready = await fetch(new URL("/readyz", metricsUrl));
    assert.equal(ready.status, 503, "the secondary has no primary yet");

    server.signal("SIGTERM");
    await server[Symbol.asyncDispose]();
    assert.equal(server.exitCode, 0);
    const logged = await readFile(path.join(folder, "query.log"), "utf8");
    assert.match(logged, /"name":"ns\.example\.org\.","type":"A"/);
  });
}

test("every mistake in files that a configuration names is told, with its line and without a secret", async () => {
  const folder = await folderWith({
    "bad.zone": "@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\nwww 60 A nonsense\n",
    "good.zone": zoneText("good.test"),
    "no.key": "this is hidden",
    short: "MTEx\n",
    cookies: "hidden\n",
  });
  makeCertificate(folder, "one");
  makeCertificate(folder, "two");
  const config = path.join(folder, "dns.yaml");
  await writeFile(
    config,
    `keys:
  - { file: no.key }
  - { name: short, secretFile: short }
  - { name: absent, secretFile: absent }
  - { name: twice, secret: ${secrets.first} }
  - { name: Twice, secret: ${secrets.second} }
  - { name: md5, algorithm: hmac-md5, secret: ${secrets.first} }
cookies: { secretsFile: cookies }
tls: { certificate: one.crt, privateKey: two.key }
zones:
  - { origin: bad.test, file: bad.zone, choices: [{ name: x, by: geo, data: [] }] }
  - { file: absent.zone, notify: [{ server: "192.0.2.1:53", key: nobody }] }
  - { file: good.zone, signing: { keys: . } }
  - { file: good.zone, notify: [{ server: "192.0.2.1:53", key: absent }] }
  - { origin: "a..b", primaries: [{ server: "192.0.2.1:53" }] }
`,
  );
  const { status, stdout, stderr } = meridian("check", "--config", config);
  assert.equal(status, 1);
  assert.equal(stdout, "");
  const lines = stderr.trimEnd().split("\n");
  const expected = [
    /dns\.yaml:2: keys\[0\]\.file: .*no\.key holds no keys of HMAC-SHA-2/,
    /dns\.yaml:3: keys\[1\]: the secret of key short has 3 octets/,
    /dns\.yaml:4: keys\[2\]\.secretFile: cannot read .*absent \(ENOENT\)/,
    /dns\.yaml:6: keys\[4\]: there is another key twice; keep one/,
    /dns\.yaml:7: keys\[5\]: algorithm "hmac-md5" of key md5 is not taken/,
    /dns\.yaml:12: zones\[1\]\.notify\[0\]\.key: there is no key nobody; list it under keys/,
    /dns\.yaml:8: cookies\.secretsFile: .* must hold one to 3 lines of 32 hexadecimal digits/,
    /dns\.yaml:9: tls\.privateKey: .*two\.key is not the key of .*one\.crt; give a pair/,
    /bad\.zone:3: /,
    /dns\.yaml:12: zones\[1\]\.file: cannot read .*absent\.zone \(ENOENT\)/,
    /dns\.yaml:13: zones\[2\]\.signing\.keys: .* has no key of good\.test; make one by meridian dns keygen/,
    /dns\.yaml:14: zones\[3\]: zone good\.test is there twice; keep one/,
    /dns\.yaml:15: zones\[4\]: the origin is no domain name/,
  ];
  assert.equal(lines.length, expected.length, stderr);
  for (const [index, line] of expected.entries()) assert.match(lines[index]!, line);
  for (const hidden of ["hidden", secrets.first, secrets.second]) assert.ok(!stderr.includes(hidden));
});

test("flags and a configuration that contradict each other are mistakes of the command line", () => {
  const both = meridian("--config", "dns.yaml", "--zone-file", "a.zone");
  assert.equal(both.status, 2);
  assert.match(both.stderr, /--zone-file does not go with --config/);
  const none = meridian();
  assert.equal(none.status, 2);
  assert.match(none.stderr, /--config FILE or --zone-file FILE is missing; --listen ADDR:PORT is missing/);
  assert.equal(meridian("keygen", "--zone", "a.test", "--tsig", "b").status, 2);
});

for (const datapath of datapaths) {
  test(`SIGHUP takes what changed, keeps all where there is a mistake, and loses no question (${datapath})`, async (context) => {
    const configOf = (zones: string, secret: string): string =>
      JSON.stringify({
        listen: ["127.0.0.1:0"],
        tls: { certificate: "tls.crt", privateKey: "tls.key", listen: ["127.0.0.1:0"] },
        keys: [{ name: "k", secret }],
        zones: zones.split(" ").map((zone) => ({ file: `${zone}.zone`, transfers: [{ key: "k" }] })),
      });
    const folder = await folderWith({
      "dns.yaml": configOf("one.test two.test", secrets.first),
      "one.test.zone": zoneText("one.test"),
      "two.test.zone": zoneText("two.test"),
      "three.test.zone": zoneText("three.test"),
    });
    const file = (name: string): string => path.join(folder, name);
    makeCertificate(folder, "tls");
    await using server = await serve(folder, "--datapath", datapath, "--workers", "2");
    const { at } = server;
    const [, tlsPort] = await server.until(/Over TLS at 127\.0\.0\.1:(\d+)\n/);
    const tlsAt = { address: localhost, port: Number(tlsPort) };
    const askOverTls = async (): Promise<string> => {
      const tls = { caPem: await readFile(file("tls.crt"), "utf8") };
      const question = { name: "www.one.test", type: "A", servers: [tlsAt], deadlineMs: 5_000 };
      return (await client.query({ ...question, transport: "tls", tls })).state;
    };
    assert.equal(await askOverTls(), "answered");
    let flooding = true;
    context.after(() => (flooding = false));
    let asked = 0;
    const flood = (async () => {
      while (flooding) {
        const data = await Promise.all(Array.from({ length: 20 }, () => ask(at, "www.one.test")));
        for (const each of data) assert.match(each, /^192\.0\.2\.[78]$/);
        asked += data.length;
      }
    })();

    await writeFile(file("one.test.zone"), zoneText("one.test", 2, "192.0.2.8"));
    await writeFile(file("dns.yaml"), configOf("one.test three.test", secrets.second));
    makeCertificate(folder, "tls");
    server.signal("SIGHUP");
    await server.until(/read everything again/);
    assert.equal(await ask(at, "www.one.test"), "192.0.2.8");
    assert.equal(await ask(at, "www.two.test"), "REFUSED");
    assert.equal(await ask(at, "www.three.test"), "192.0.2.7");
    assert.equal(await askOverTls(), "answered");
    const fetchWith = async (secret: string, haveSerial?: number): Promise<string> => {
      const [key] = parseTsigKeyFile(`key "k" { algorithm hmac-sha256; secret "${secret}"; };`);
      const have = haveSerial === undefined ? {} : { haveSerial };
      const transfer = { zone: "one.test", primaries: [{ ...at, key: key! }], ...have };
      return (await new ZoneTransferClient(runtime).fetchZone(transfer)).kind;
    };
    assert.equal(await fetchWith(secrets.second), "whole");
    assert.notEqual(await fetchWith(secrets.first), "whole");

    await writeFile(file("one.test.zone"), zoneText("one.test", 3, "192.0.2.7"));
    server.signal("SIGHUP");
    await server.until(/read everything again/);
    assert.equal(await fetchWith(secrets.second, 2), "changes", "a reload keeps transfers incremental");

    await writeFile(file("three.test.zone"), "www 60 A nonsense\n");
    await writeFile(file("one.test.zone"), zoneText("one.test", 4, "192.0.2.9"));
    server.signal("SIGHUP");
    await server.until(/three\.test\.zone:1: .*kept everything as it was/);
    assert.equal(await ask(at, "www.one.test"), "192.0.2.7");
    assert.equal(await ask(at, "www.three.test"), "192.0.2.7");

    await writeFile(file("dns.yaml"), "zones: [{ file: one.test.zone, port: 1 }]\n");
    server.signal("SIGHUP");
    await server.until(/dns\.yaml:1: zones\[0\]\.port: there is no such key.*kept everything as it was/);

    await writeFile(file("one.test.zone"), zoneText("one.test", 4, "192.0.2.8"));
    const moved = { listen: ["127.0.0.1:1"], zones: [{ file: "one.test.zone" }] };
    await writeFile(file("dns.yaml"), JSON.stringify(moved));
    server.signal("SIGHUP");
    await server.until(/"settings":\["listen","tls\.listen"\].*a restart is needed for some settings/);
    assert.equal(await ask(at, "one.test", "SOA"), "ns.one.test. hostmaster.one.test. 4 7200 1800 86400 30");
    flooding = false;
    await flood;
    assert.ok(asked > 0);
  });
}

test("a signed zone that takes updates survives kill -9, reloads and restarts, with one set of keys", async () => {
  const folder = await folderWith({
    "a.zone": zoneText("a.test"),
    "dns.yaml": JSON.stringify({
      listen: ["127.0.0.1:0"],
      keys: [{ name: "k", secret: secrets.first }],
      zones: [{ file: "a.zone", journal: "a.updates", updates: [{ key: "k" }], signing: { keys: "keys" } }],
    }),
  });
  meridian("keygen", "--zone", "a.test", "--folder", path.join(folder, "keys"));
  const [key] = parseTsigKeyFile(`key "k" { algorithm hmac-sha256; secret "${secrets.first}"; };`);
  const acknowledged: string[] = [];
  const add = async (
    at: Endpoint,
    record: { readonly name: string; readonly type: string; readonly data: string },
  ): Promise<boolean> => {
    const changes = [{ kind: "add", ttl: 60, ...record } as const];
    const primary = { servers: [at] };
    const { state } = await updateZone(client, {
      zone: "a.test",
      primary,
      key: key!,
      changes,
      deadlineMs: 3_000,
    });
    return state === "applied";
  };
  for (let round = 0; round < 3; round++) {
    const server = await serve(folder);
    const { at } = server;
    for (const name of acknowledged) assert.equal(await ask(at, name), "192.0.2.1", `round ${round}`);
    assert.ok(await add(at, { name: "a.test", type: "TXT", data: `"round ${round}"` }));
    assert.equal((await ask(at, "a.test", "DNSKEY")).split(",").length, 1);
    assert.equal((await ask(at, "a.test", "TXT")).split(",").length, round + 1);
    if (round === 1) {
      server.signal("SIGHUP");
      await server.until(/read everything again/);
      for (const name of acknowledged) assert.equal(await ask(at, name), "192.0.2.1", "after a reload");
    }
    await new Promise<void>((resolve) => {
      for (let index = 0; index < 60; index++) {
        const name = `r${round}n${index}.a.test`;
        void add(at, { name, type: "A", data: "192.0.2.1" }).then((isDone) => {
          if (!isDone) return;
          acknowledged.push(name);
          if (acknowledged.length >= (round + 1) * 10) resolve();
        });
      }
    });
    await server.kill();
  }
  {
    await using server = await serve(folder);
    for (const name of acknowledged) assert.equal(await ask(server.at, name), "192.0.2.1");
  }
  const journal = path.join(folder, "a.updates");
  const check = (): ReturnType<typeof meridian> =>
    meridian("check", "--config", path.join(folder, "dns.yaml"));
  const whole = await readFile(journal);
  assert.match(check().stdout, /^a\.test, serial \d+: well\n$/);
  assert.deepEqual(await readFile(journal), whole, "a check writes nothing");
  await writeFile(journal, Buffer.concat([whole, Buffer.from("MUJ1")]));
  const torn = check().stdout;
  const end = `zones[0].journal: journal ${journal} ends at octet ${whole.length} with 4 octets`;
  assert.ok(torn.includes(end), torn);
  whole[20]! ^= 1;
  await writeFile(journal, whole);
  const damaged = check();
  assert.equal(damaged.status, 1);
  assert.ok(
    damaged.stderr.includes(`journal ${journal} of zone a.test is damaged at octet 0 of ${whole.length}`),
    damaged.stderr,
  );
  whole[20]! ^= 1;
  await writeFile(journal, whole);
  await writeFile(path.join(folder, "a.zone"), zoneText("a.test", 7));
  const { status, stderr } = meridian("--config", path.join(folder, "dns.yaml"));
  assert.equal(status, 1);
  assert.ok(stderr.includes(`journal ${path.join(folder, "a.updates")} stands on serial`), stderr);
});

/** A folder of a zone `a.test` that is signed, with its first key, and how to make it another. */
async function signedFolder(): Promise<{
  readonly folder: string;
  readonly keygen: (...words: readonly string[]) => number | null;
}> {
  const folder = await folderWith({
    "a.zone": zoneText("a.test"),
    "dns.yaml": JSON.stringify({
      listen: ["127.0.0.1:0"],
      zones: [{ file: "a.zone", signing: { keys: "keys" } }],
    }),
  });
  const keygen = (...words: readonly string[]): number | null =>
    meridian("keygen", "--zone", "a.test", "--folder", path.join(folder, "keys"), ...words).status;
  assert.equal(keygen(), 0);
  return { folder, keygen };
}

test("a signed zone whose file changes stays signed, and its serial never stands still or goes back", async () => {
  const { folder, keygen } = await signedFolder();
  await using server = await serve(folder);
  const serial = async (): Promise<number> => Number((await ask(server.at, "a.test", "SOA")).split(" ")[2]);
  const reload = async (): Promise<void> => {
    server.signal("SIGHUP");
    await server.until(/read everything again/);
  };
  const first = await serial();
  await writeFile(path.join(folder, "a.zone"), zoneText("a.test", first, "192.0.2.8"));
  await reload();
  assert.equal(await ask(server.at, "www.a.test"), "192.0.2.8");
  const second = await serial();
  assert.ok(second > first, `${second} > ${first}`);
  assert.equal((await ask(server.at, "a.test", "DNSKEY")).split(",").length, 1);

  assert.equal(keygen("--zsk"), 0);
  await reload();
  assert.equal((await ask(server.at, "a.test", "DNSKEY")).split(",").length, 2);
  assert.ok((await serial()) > second);
  const third = await serial();
  await reload();
  assert.equal(await serial(), third, "nothing changed");

  const unsigned = JSON.stringify({ listen: ["127.0.0.1:0"], zones: [{ file: "a.zone" }] });
  await writeFile(path.join(folder, "dns.yaml"), unsigned);
  await reload();
  assert.equal(await ask(server.at, "a.test", "DNSKEY"), "nodata");
  assert.equal(await ask(server.at, "www.a.test"), "192.0.2.8");
});

test("a restart takes the serial of a signed zone not back behind the steps of its keys", async () => {
  const { folder, keygen } = await signedFolder();
  const serial = async (at: Endpoint): Promise<number> =>
    Number((await ask(at, "a.test", "SOA")).split(" ")[2]);
  let last: number;
  {
    await using server = await serve(folder);
    assert.equal(keygen("--zsk"), 0);
    server.signal("SIGHUP");
    await server.until(/read everything again/);
    last = await serial(server.at);
  }
  await using server = await serve(folder);
  const now = await serial(server.at);
  assert.ok(now > last, `${now} > ${last}`);
});

test("a secondary of a configuration follows its primary by NOTIFY, and serves its copy without it", async () => {
  const key = { name: "k", secret: secrets.first };
  const secondaryFolder = await folderWith({});
  const secondaryConfig = (primary: Endpoint): Promise<void> =>
    writeFile(
      path.join(secondaryFolder, "dns.yaml"),
      JSON.stringify({
        listen: ["127.0.0.1:0"],
        keys: [key],
        zones: [
          {
            origin: "a.test",
            primaries: [{ server: `127.0.0.1:${primary.port}`, key: "k" }],
            copyFolder: "copies",
          },
        ],
      }),
    );
  const primaryFolder = await folderWith({ "a.zone": zoneText("a.test") });
  const primaryConfig = (port: number, notify: readonly object[]): Promise<void> =>
    writeFile(
      path.join(primaryFolder, "dns.yaml"),
      JSON.stringify({
        listen: [`127.0.0.1:${port}`],
        keys: [key],
        zones: [{ file: "a.zone", transfers: [{ key: "k" }], notify }],
      }),
    );
  await primaryConfig(0, []);
  const primary = await serve(primaryFolder);
  await secondaryConfig(primary.at);
  const secondary = await serve(secondaryFolder);
  await askUntil(secondary.at, "www.a.test", "192.0.2.7");

  await writeFile(path.join(primaryFolder, "a.zone"), zoneText("a.test", 2, "192.0.2.8"));
  await primaryConfig(0, [{ server: `127.0.0.1:${secondary.at.port}`, key: "k" }]);
  primary.signal("SIGHUP");
  await askUntil(secondary.at, "www.a.test", "192.0.2.8");

  await primary[Symbol.asyncDispose]();
  await secondary[Symbol.asyncDispose]();
  await using again = await serve(secondaryFolder);
  assert.equal(await ask(again.at, "www.a.test"), "192.0.2.8");
});
