import assert from "node:assert/strict";
import { test } from "node:test";
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
