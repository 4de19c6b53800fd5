import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";
import { silentLogger, type Endpoint, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type { DnsTlsOptions } from "../client/stream-exchanges.ts";
import { DnsClient } from "../client/dns-client.ts";
import { Authority } from "../server/authority.ts";
import { createRequestPipeline } from "../server/request-pipeline.ts";
import { serveDns, type DnsServer } from "../server/serve-dns.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { parseZoneFile } from "../zone/zone-file.ts";
import type { Zone } from "../zone/zone.ts";
import { SecondaryZone } from "./secondary-zone.ts";
import { TransferPolicy } from "./transfer-policy.ts";
import { TransferServer } from "./transfer-server.ts";
import { ZoneTransferClient } from "./zone-transfer-client.ts";

const run = promisify(execFile);
const address = "127.0.0.1";
const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQ=";
const key = parseTsigKey({ name: "k", algorithm: "hmac-sha256", secret });
const hosts = 3_000;

let folder: string;
let runtime: Runtime;
let zone: Zone;
let server: DnsServer;
let transfers: TransferServer;
let caPem: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-transfers-"));
  runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  const [keyPath, certificate] = [path.join(folder, "one.key"), path.join(folder, "one.pem")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const names = ["-subj", "/CN=one.test", "-addext", "subjectAltName=DNS:dns.test,IP:127.0.0.1"];
  await run("openssl", [...words, ...names, "-days", "2", "-keyout", keyPath, "-out", certificate]);
  caPem = await readFile(certificate, "utf8");
  const identity = { certificatePem: caPem, privateKeyPem: await readFile(keyPath, "utf8") };
  const lines = Array.from({ length: hosts }, (_, index) => `n${index} 60 A 192.0.2.${index % 256}`);
  zone = parseZoneFile(
    `$ORIGIN p.test.\n@ 60 SOA ns host 10 3600 10 7200 30\n@ 60 NS ns\n${lines.join("\n")}\n`,
  ).zone!;
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const { clock } = runtime;
  const policy = new TransferPolicy([{ zone: ".", allow: [{ key: "k" }] }]);
  transfers = new TransferServer({ clock, zones: authority, policy });
  authority.requests = createRequestPipeline({
    ...{ clock, log: silentLogger, authority, keyring: new TsigKeyring([key]) },
    transfer: transfers.answer,
  });
  const listen = [{ address, port: 0 }];
  server = await serveDns(runtime, { authority, listen, tls: { listen, identity }, closeGraceMs: 200 });
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const follow = (tls: DnsTlsOptions, client: DnsClient): Promise<SecondaryZone> =>
  SecondaryZone.open(runtime, {
    ...{ origin: "p.test", client, transfers: new ZoneTransferClient(runtime) },
    primaries: [{ ...(server.localTls[0] as Endpoint), key, tls }],
  });

/** Waits for what real sockets bring. */
async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 20_000; !condition();) {
    assert.ok(performance.now() < end, "it did not come about within 20 s");
    await runtime.clock.sleep(10);
  }
}

test("a secondary zone is had and followed over TLS alone", async () => {
  await using client = new DnsClient(runtime);
  await using secondary = await follow({ serverName: "dns.test", caPem }, client);
  await until(() => secondary.state.at === "current");
  assert.deepEqual([...secondary.zone.recordSets()], [...zone.recordSets()]);
  const before = transfers.counters.incremental;
  const set = {
    name: "new.p.test",
    type: "A",
    ttl: 60,
    data: ["192.0.2.9"],
    policy: { kind: "rotate" },
  } as const;
  zone.replace(new Map([[set.name, [set]]]));
  secondary.refresh();
  await until(() => secondary.zone.serial === zone.serial);
  assert.deepEqual([...secondary.zone.recordSets()], [...zone.recordSets()]);
  assert.equal(transfers.counters.incremental, before + 1);
});

test("nothing is had from a primary that cannot prove its name", async () => {
  await using client = new DnsClient(runtime);
  const had = transfers.counters.whole;
  await using secondary = await follow({ serverName: "other.test", caPem }, client);
  await until(() => secondary.state.problem !== undefined);
  assert.deepEqual([secondary.state.at, secondary.zone.ready], ["empty", false]);
  assert.equal(transfers.counters.whole, had);
});

for (const [tool, words] of [
  ["dig", ["+tls", "+onesoa", "+noall", "+answer"]],
  ["kdig", ["+tls", "+noall", "+answer"]],
] as const)
  test(`${tool} has a zone over TLS`, async (context) => {
    const { port } = server.localTls[0]!;
    const question = [`@${address}`, "-p", String(port), "-y", `hmac-sha256:k:${secret}`, "p.test", "AXFR"];
    let text: string;
    try {
      ({ stdout: text } = await run(tool, [...words, ...question], { maxBuffer: 1 << 24 }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      assert.ok(process.env["CI"] === undefined, `${tool} is not installed`);
      return context.skip(`${tool} is not installed`);
    }
    const addresses = text.split("\n").filter((line) => /^\S+\s+60\s+IN\s+A\s/.test(line));
    assert.equal(addresses.length, zone.nameCount - 1, text.slice(0, 500));
  });
