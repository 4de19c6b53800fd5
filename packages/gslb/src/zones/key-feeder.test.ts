import assert from "node:assert/strict";
import { test } from "node:test";
import { generateKey, keyToFiles } from "@meridian/dns";
import type { Secret } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import { FakeServer } from "../testdata/fake-server.ts";
import { dnsKeysLabel, type DnsKeys } from "./dns-secrets.ts";
import { KeyFeeder } from "./key-feeder.ts";

function cookies(name: string, version: number, active: string): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...{ namespace: "k8gb", name, uid: name, resourceVersion: String(version) },
      labels: { [dnsKeysLabel]: "cookies" },
    },
    data: { active: Buffer.from(active).toString("base64") },
  };
}

test("keys are handed on whenever they change; a Secret that cannot be used leaves what it gave before", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const server = new FakeServer(cookies("one", 1, "0".repeat(32)));
  const handed: DnsKeys[] = [];
  const notes: string[] = [];
  const feeder = new KeyFeeder(runtime, {
    client: server.client,
    namespace: "k8gb",
    events: {
      record: (about, { reason, message }) => notes.push(`${about.metadata.name} ${reason} ${message}`),
    },
    onKeys: (keys) => handed.push(keys),
  });
  const stop = new AbortController();
  void feeder.run(stop.signal);
  const first = (): number | undefined => handed.at(-1)?.cookies?.active[0];
  await simulation.complete(feeder.synced);
  assert.equal(first(), 0);

  server.tell(cookies("one", 2, "1".repeat(32)));
  await simulation.run({ untilMs: 20 });
  assert.equal(first(), 0x11);

  server.tell(cookies("one", 3, "not hexadecimal"));
  await simulation.run({ untilMs: 30 });
  assert.equal(first(), 0x11);
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, /^one KeysRefused the keys in this Secret cannot be used: .*32 hexadecimal digits/);
  assert.doesNotMatch(notes[0]!, /not hex/);

  server.tell(cookies("one", 4, "2".repeat(32)), "DELETED");
  await simulation.run({ untilMs: 40 });
  assert.equal(handed.at(-1)?.cookies, undefined);
  stop.abort();
});

test("a zone whose keys are gone stays signed with the last ones, until it is named as unsigned", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const key = generateKey(runtime.random, { secureEntryPoint: true, times: { publish: 0, activate: 0 } });
  const { publicText, privateText } = keyToFiles("Cloud.Example.com", key);
  const secret = (version: number, kind: string, data: Record<string, string>): Secret => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...{ namespace: "k8gb", name: kind, uid: kind, resourceVersion: String(version) },
      labels: { [dnsKeysLabel]: kind },
    },
    data: Object.fromEntries(
      Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
    ),
  });
  const pair = { "a.key": publicText, "a.private": privateText };
  const server = new FakeServer(secret(1, "dnssec", pair));
  const handed: DnsKeys[] = [];
  const notes: string[] = [];
  const feeder = new KeyFeeder(runtime, {
    client: server.client,
    namespace: "k8gb",
    events: { record: (about, { reason }) => notes.push(`${about.metadata.name} ${reason}`) },
    onKeys: (keys) => handed.push(keys),
  });
  const signed = (): number => handed.at(-1)!.signing.get("cloud.example.com")?.length ?? 0;
  const stop = new AbortController();
  void feeder.run(stop.signal);
  await simulation.complete(feeder.synced);
  assert.equal(signed(), 1);

  server.tell(secret(2, "dnssec", {}));
  await simulation.run({ untilMs: 20 });
  assert.equal(signed(), 1);
  assert.deepEqual(notes, ["dnssec KeysRefused"]);

  server.tell(secret(3, "dnssec", pair), "DELETED");
  await simulation.run({ untilMs: 30 });
  assert.equal(handed.length, 2);
  assert.equal(signed(), 1);
  assert.deepEqual(notes.slice(1), ["dnssec SigningKeysKept"]);

  server.tell(secret(4, "unsigned", { zones: "cloud.example.com.\n" }));
  await simulation.run({ untilMs: 40 });
  assert.equal(signed(), 0);

  server.tell(secret(5, "unsigned", { zones: "cloud.example.com.\n" }), "DELETED");
  await simulation.run({ untilMs: 50 });
  assert.equal(signed(), 0);
  stop.abort();
});
