import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTsigKey, type NotifyOptions } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { HintRelay } from "./hint-relay.ts";

const zone = "_localtargets.cloud.example.com";
const usName = "gslb-ns-us-cloud.example.com";
const serial = 1_900_000_000;
const key = parseTsigKey({ name: "meridian-peers", algorithm: "hmac-sha256", secret: "A".repeat(44) });
const both: readonly Endpoint[] = [
  { address: "10.0.0.1", port: 53 },
  { address: "10.0.0.2", port: 53 },
];

function open(replicas: readonly Endpoint[] = both): {
  readonly relay: HintRelay;
  readonly pass: (ms: number) => Promise<void>;
  /** Who was hinted at, and what was told to the replicas. */
  readonly hinted: (string | undefined)[];
  readonly told: NotifyOptions[];
} {
  const simulation = new Simulation({ seed: 3 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const hinted: (string | undefined)[] = [];
  const told: NotifyOptions[] = [];
  const relay = new HintRelay(runtime, {
    peers: {
      key,
      hint({ mname }) {
        hinted.push(mname);
        return mname === "gslb-ns-eu-cloud.example.com" ? undefined : mname === usName ? "us" : "*";
      },
    },
    dnsClient: {
      notify: (options) => {
        told.push(options);
        return Promise.resolve([]);
      },
    },
    tasks: new TaskScope(runtime.log),
    replicas: () => replicas,
  });
  return { relay, hinted, told, pass: (ms) => simulation.run({ untilMs: simulation.nowMs + ms }) };
}

test("a hint is passed on to the other replicas with a mark in place of the serial", async () => {
  const { relay, hinted, told, pass } = open();
  relay.take({ zone, mname: usName, serial });
  await pass(10);
  assert.deepEqual(hinted, [usName]);
  assert.equal(told.length, 1);
  assert.deepEqual([told[0]!.zone, told[0]!.servers, told[0]!.soa?.mname], [zone, both, usName]);
  assert.ok(told[0]!.soa!.serial < 2 ** 20);
});

test("what bears a mark is taken and told to nobody, and what bears the own one is not even taken", async () => {
  const { relay, hinted, told, pass } = open();
  relay.take({ zone, mname: usName, serial });
  await pass(2_000);
  const own = told[0]!.soa!.serial;
  relay.take({ zone, mname: usName, serial: own });
  relay.take({ zone, mname: usName, serial: own === 7 ? 8 : 7 });
  await pass(5_000);
  assert.equal(hinted.length, 2);
  assert.equal(told.length, 1);
});

test("a hint that names nobody is passed on as one, a stranger's with its name", async () => {
  const { relay, hinted, told, pass } = open();
  relay.take({ zone });
  await pass(2_000);
  relay.take({ zone, mname: "", serial: 5 });
  relay.take({ zone, mname: "gslb-ns-za-cloud.example.com", serial });
  await pass(2_000);
  assert.deepEqual(hinted, [undefined, undefined, "gslb-ns-za-cloud.example.com"]);
  assert.deepEqual(
    told.map(({ soa }) => soa?.mname),
    [".", "gslb-ns-za-cloud.example.com"],
  );
});

test("a flood of hints costs one a second and sender, and what concerns no peer nothing", async () => {
  const { relay, told, pass } = open();
  for (let count = 0; count < 1_000; count++) {
    relay.take({ zone, mname: usName, serial });
    relay.take({ zone, mname: "gslb-ns-eu-cloud.example.com", serial });
    relay.take({ zone, mname: `x${count}.example.net`, serial });
  }
  await pass(3_000);
  assert.equal(told.length, 4, "the first and the last of us, and of strangers");
});

test("one replica has nobody to tell", async () => {
  const { relay, hinted, told, pass } = open(both.slice(0, 1));
  relay.take({ zone, mname: usName, serial });
  await pass(10);
  assert.deepEqual([hinted.length, told.length], [1, 0]);
});

test("a hint with proof is passed on with proof, ten times a second at most; one by another key without", async () => {
  const { relay, told, pass } = open();
  relay.take({ zone, mname: usName, serial, key: "other" });
  await pass(1_000);
  for (let count = 0; count < 100; count++) {
    relay.take({ zone, mname: usName, serial, key: key.name });
    await pass(10);
  }
  assert.deepEqual([told[0]!.key, told[1]!.key], [undefined, key]);
  assert.ok(told.length >= 10 && told.length <= 12, `${told.length}`);
});
