import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { DnsClient, parseTsigKey, updateZone, type UpdateZoneOptions } from "@meridian/dns";
import { silentLogger, type Endpoint, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type { ChildServer } from "./child-server.ts";
import { key, keyText, startNamed } from "./update-world.ts";

const missing = ["named", "openssl"].filter((tool) => spawnSync(tool, ["version"]).error !== undefined);
const absent =
  missing.length === 0 || process.env["CI"] === "true"
    ? false
    : `${missing.join(" and ")} not installed: apt-get install bind9 openssl`;

let folder: string;
let runtime: Runtime;
let client: DnsClient;
let caPem: string;
let named: { readonly server: ChildServer; readonly at: Endpoint; readonly tlsAt: Endpoint };

before(async () => {
  if (absent !== false) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-update-client-"));
  runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  client = new DnsClient(runtime);
  const identity = await createIdentity(folder);
  caPem = identity.certificatePem;
  named = await startNamed(runtime, { folder: path.join(folder, "named"), tls: identity });
});

after(async () => {
  if (absent !== false) return;
  await client[Symbol.asyncDispose]();
  await named.server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A certificate that vouches for itself and for localhost. */
async function createIdentity(
  below: string,
): Promise<{ readonly certificatePem: string; readonly privateKeyPem: string }> {
  const [certificate, privateKey] = [path.join(below, "own.pem"), path.join(below, "own.key")];
  const words =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost";
  const { status, stderr } = spawnSync("openssl", [
    ...words.split(" "),
    "-out",
    certificate,
    "-keyout",
    privateKey,
  ]);
  assert.equal(status, 0, String(stderr));
  return {
    certificatePem: await readFile(certificate, "utf8"),
    privateKeyPem: await readFile(privateKey, "utf8"),
  };
}

async function ask(name: string, type: string): Promise<readonly string[] | string> {
  const verdict = await client.query({ name, type, servers: [named.at], deadlineMs: 5_000, key });
  if (verdict.state === "refused") return verdict.rcode;
  if (verdict.state === "unreachable") return verdict.reason;
  // A delegation is in the authority section.
  const records = [...verdict.records, ...verdict.authority].filter((record) => record.type === type);
  return records.length > 0 ? records.map((record) => record.data).sort() : verdict.outcome;
}

function update(options: Partial<UpdateZoneOptions>, from = client): ReturnType<typeof updateZone> {
  return updateZone(from, {
    zone: "u.test",
    primary: { servers: [named.at] },
    key,
    changes: [],
    deadlineMs: 5_000,
    ...options,
  });
}

test(
  "one cluster replaces its part of a delegation at BIND and leaves the other's",
  { skip: absent },
  async () => {
    const verdict = await update({
      prerequisites: [{ kind: "setExists", name: "cloud.u.test", type: "NS" }],
      changes: [
        { kind: "deleteRecord", name: "cloud.u.test", type: "NS", data: "GSLB-ns-eu.cloud.u.test." },
        { kind: "deleteRecord", name: "gslb-ns-eu.cloud.u.test", type: "A", data: "192.0.2.10" },
        { kind: "add", name: "cloud.u.test", type: "NS", ttl: 60, data: "gslb-ns-za.cloud.u.test." },
        { kind: "add", name: "gslb-ns-za.cloud.u.test", type: "A", ttl: 60, data: "192.0.2.12" },
      ],
    });
    assert.deepEqual(verdict, { state: "applied", server: named.at });
    assert.deepEqual(await ask("cloud.u.test", "NS"), [
      "gslb-ns-us.cloud.u.test.",
      "gslb-ns-za.cloud.u.test.",
    ]);
  },
);

test("the primary is found by the SOA's MNAME", { skip: absent }, async () => {
  const verdict = await update({
    primary: { findAt: [named.at], port: named.at.port },
    changes: [{ kind: "add", name: "found.u.test", type: "A", ttl: 60, data: "192.0.2.20" }],
  });
  assert.equal(verdict.state, "applied", JSON.stringify(verdict));
  assert.deepEqual(await ask("found.u.test", "A"), ["192.0.2.20"]);
});

test("an update of more than a datagram goes by TCP", { skip: absent }, async () => {
  const changes = Array.from({ length: 100 }, (_, index) => ({
    kind: "add" as const,
    name: `n${index}.u.test`,
    type: "A",
    ttl: 60,
    data: `198.51.100.${index}`,
  }));
  assert.equal((await update({ changes })).state, "applied");
  assert.deepEqual(await ask("n99.u.test", "A"), ["198.51.100.99"]);
});

test("a prerequisite that does not hold is told, and nothing is changed", { skip: absent }, async () => {
  const verdict = await update({
    prerequisites: [{ kind: "setAbsent", name: "www.u.test", type: "A" }],
    changes: [{ kind: "add", name: "unmet.u.test", type: "A", ttl: 60, data: "192.0.2.20" }],
  });
  assert.deepEqual(verdict, { state: "unmet", rcode: "YXRRSET", server: named.at, repeated: false });
  assert.equal(await ask("unmet.u.test", "A"), "nxdomain");
});

test(
  "a zone that is not BIND's and a key that it does not know are told apart",
  { skip: absent },
  async () => {
    const changes = [{ kind: "add" as const, name: "x.v.test", type: "A", ttl: 60, data: "192.0.2.20" }];
    const wrongZone = await update({ zone: "v.test", changes });
    assert.equal(wrongZone.state === "refused" && wrongZone.rcode, "NOTAUTH");
    const stranger = parseTsigKey({ ...keyText, name: "stranger" });
    const unknown = await update({
      key: stranger,
      changes: [{ ...changes[0]!, name: "x.u.test" }],
      deadlineMs: 2_000,
    });
    assert.equal(unknown.state === "unproved" && unknown.error, "BADKEY", JSON.stringify(unknown));
  },
);

test("a clock an hour off is set by what BIND says, once, and remembered", { skip: absent }, async () => {
  const { clock } = runtime;
  const slow: Runtime = {
    ...runtime,
    clock: {
      now: () => clock.now() - 3_600_000,
      monotonicMs: () => clock.monotonicMs(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      after: (ms, callback) => clock.after(ms, callback),
    },
  };
  await using slowClient = new DnsClient(slow);
  const changes = [{ kind: "add" as const, name: "late.u.test", type: "A", ttl: 60, data: "192.0.2.21" }];
  assert.equal((await update({ changes }, slowClient)).state, "applied");
  assert.equal((await update({ changes }, slowClient)).state, "applied");
  assert.deepEqual(await ask("late.u.test", "A"), ["192.0.2.21"]);
});

test(
  "questions go over TLS to a server that proves its name, and to no other",
  { skip: absent },
  async () => {
    const overTls = {
      name: "www.u.test",
      type: "A",
      servers: [named.tlsAt],
      deadlineMs: 3_000,
      transport: "tls",
    } as const;
    const proved = await client.query({ ...overTls, tls: { caPem, serverName: "localhost" } });
    assert.ok(proved.state === "answered", JSON.stringify(proved));
    assert.deepEqual(
      proved.records.map((record) => record.data),
      ["192.0.2.1"],
    );
    const signed = await client.query({ ...overTls, key, tls: { caPem, serverName: "localhost" } });
    assert.equal(signed.state, "answered");
    const otherName = await client.query({
      ...overTls,
      deadlineMs: 500,
      tls: { caPem, serverName: "other.example" },
    });
    assert.equal(otherName.state, "unreachable");
    const stranger = await client.query({ ...overTls, deadlineMs: 500 });
    assert.equal(stranger.state, "unreachable");
  },
);
