import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AnswerSigner,
  dnskeyOf,
  dsToText,
  generateKey,
  keyState,
  parseTsigKeyFile,
  Zone,
  type DnsQuestion,
  type SigningKey,
  type Verdict,
} from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { KeyExchanges } from "./key-exchanges.ts";
import { KeyMemory } from "./key-memory.ts";
import { SignedZones } from "./signed-zones.ts";

const origin = "cloud.example.com";
const periodMs = 600_000;
const hourMs = 3_600_000;
const tsig = parseTsigKeyFile(
  'key "meridian-peers" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };',
);

/** One cluster's operator as far as keys go, its API server, which outlives it, and what others say. */
class World {
  readonly simulation = new Simulation({ seed: 1 });
  readonly node: SimNode = this.simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  readonly objects = new FakeObjects();
  readonly asked: DnsQuestion[] = [];
  /** Where each peer is asked: `peerServers` below, or nowhere. */
  servers: ReadonlyMap<string, readonly Endpoint[]> = new Map();
  /** The key of the peer at an address; a peer without one is silent. */
  readonly peerKeys = new Map<string, SigningKey>();
  ds: readonly string[] = [];
  signed!: SignedZones;
  exchanges!: KeyExchanges;
  #stop = new AbortController();

  key(times: SigningKey["times"] = { publish: 0, activate: 0 }): SigningKey {
    return generateKey(this.node.runtime.random, { secureEntryPoint: true, times });
  }

  /** Starts the operator again, with these keys in Secrets. */
  async restart(own: readonly SigningKey[], keys = tsig): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const { runtime } = this.node;
    const memory = new KeyMemory(runtime.log, { client: this.objects.client, namespace: "k8gb" });
    await memory.load(signal);
    this.signed = new SignedZones(runtime, { answers: new AnswerSigner(runtime), memory });
    this.exchanges = new KeyExchanges(runtime, {
      dnsClient: { query: (question) => Promise.resolve(this.#answer(question)) },
      ...{ signed: this.signed, memory, peers: () => this.servers },
      ...{ edgeServers: () => [{ address: "10.0.0.53", port: 53 }], deadlineMs: 1_000, periodMs },
    });
    this.exchanges.setKeys(keys);
    this.signed.setKeys(new Map([[origin, own]]));
    this.signed.addZone(emptyZone());
    void this.exchanges.run(signal);
    await this.pass(1_000);
  }

  async pass(ms: number): Promise<void> {
    await this.simulation.run({ untilMs: this.simulation.nowMs + ms });
  }

  get foreign(): readonly string[] {
    return this.signed.signed
      .get(origin)!
      .keys.foreign.map(({ dnskey }) => dnskey.join())
      .toSorted();
  }

  stateOf(key: SigningKey): string {
    const own = this.signed.signed.get(origin)!.keys.own;
    const found = own.find((one) => dnskeyOf(one).join() === dnskeyOf(key).join());
    return found === undefined ? "removed" : keyState(found, this.node.runtime.clock.now() / 1000);
  }

  #answer(question: DnsQuestion): Verdict {
    this.asked.push(question);
    const { name, type } = question;
    const records = this.#records(question);
    if (records === undefined) return { state: "unreachable", reason: "silence" };
    const found = records.map((data) => ({ name, type, ttl: 60, data }));
    return { state: "answered", outcome: "data", records: found } as unknown as Verdict;
  }

  #records({ name, type, servers: [server] }: DnsQuestion): readonly string[] | undefined {
    if (type === "DS") return this.ds;
    const key = this.peerKeys.get(server?.address ?? "");
    if (key === undefined) return undefined;
    if (name !== origin) return [dnskeyText(dnskeyOf(key))];
    // At the apex a peer has the keys of all.
    return [dnskeyOf(key), ...this.signed.signed.get(origin)!.keys.own.map(dnskeyOf)].map(dnskeyText);
  }
}

function dnskeyText(dnskey: Uint8Array): string {
  return `257 3 13 ${Buffer.from(dnskey.subarray(4)).toString("base64")}`;
}

function emptyZone(): Zone {
  return new Zone({
    origin,
    soa: {
      ...{ mname: "ns.example.com", rname: "hostmaster.example.com", serial: 1 },
      ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: 30, ttl: 30 },
    },
    nameServers: ["ns.example.com"],
    nameServerTtl: 300,
  });
}

const peerServers = new Map([
  ["us", [{ address: "10.0.0.2", port: 53 }]],
  ["za", [{ address: "10.0.0.3", port: 53 }]],
]);

function worldOfThree(): World {
  const world = new World();
  world.servers = peerServers;
  for (const address of ["10.0.0.2", "10.0.0.3"]) world.peerKeys.set(address, world.key());
  return world;
}

const foreignOf = ({ peerKeys }: World): readonly string[] =>
  [...peerKeys.values()].map((key) => dnskeyOf(key).join()).toSorted();

test("peers are asked only with the key that they share", async () => {
  const world = worldOfThree();
  await world.restart([world.key()], []);
  assert.equal(world.asked.length, 0);
  world.exchanges.setKeys(tsig);
  await world.pass(periodMs);
  const names = new Set(world.asked.map(({ name, key }) => `${name} ${key?.name}`));
  assert.deepEqual([...names], ["_meridian-keys.cloud.example.com meridian-peers"]);
  assert.deepEqual(world.foreign, foreignOf(world));
});

test("the union does not shrink while a peer is silent or nobody knows where it is, restarts included", async () => {
  const world = worldOfThree();
  const own = world.key();
  await world.restart([own]);
  const all = foreignOf(world);
  assert.deepEqual(world.foreign, all);
  world.peerKeys.delete("10.0.0.3");
  await world.pass(periodMs);
  assert.deepEqual(world.foreign, all);
  await world.restart([own]);
  await world.pass(2 * periodMs);
  assert.deepEqual(world.foreign, all, "za is silent");
  world.servers = new Map([...peerServers, ["za", []]]);
  world.peerKeys.clear();
  await world.restart([own]);
  await world.pass(2 * periodMs);
  assert.deepEqual(world.foreign, all, "nobody answers, and za has no address");
});

test("keys of peers are not published unless they are stored, and are when they can be", async () => {
  const world = worldOfThree();
  await world.restart([world.key()], []);
  world.objects.failure = new Error("the disk is full");
  world.exchanges.setKeys(tsig);
  await world.pass(periodMs);
  assert.deepEqual(world.foreign, []);
  world.objects.failure = undefined;
  await world.pass(periodMs);
  assert.deepEqual(world.foreign, foreignOf(world));
});

test("keys that clusters share are own ones, and nothing is written for them", async () => {
  const world = worldOfThree();
  const own = world.key();
  for (const address of world.peerKeys.keys()) world.peerKeys.set(address, own);
  await world.restart([own]);
  assert.deepEqual(world.foreign, []);
  assert.equal(world.objects.writes, 0);
});

test("a key that waits takes over when all know it, and no restart takes that back", async () => {
  const world = worldOfThree();
  const old = world.key();
  const fresh = world.key({ publish: 0 });
  await world.restart([old, fresh]);
  await world.pass(48 * hourMs);
  assert.deepEqual(
    [old, fresh].map((key) => world.stateOf(key)),
    ["active", "published"],
    "the parent has no DS",
  );
  world.ds = [dsToText(origin, fresh)];
  await world.pass(20 * hourMs);
  assert.equal(world.stateOf(fresh), "published", "caches may have the old DS set");
  await world.pass(5 * hourMs);
  assert.deepEqual(
    [old, fresh].map((key) => world.stateOf(key)),
    ["retired", "active"],
  );
  world.peerKeys.clear();
  await world.restart([old, fresh]);
  assert.deepEqual(
    [old, fresh].map((key) => world.stateOf(key)),
    ["retired", "active"],
  );
  await world.pass(25 * hourMs);
  assert.equal(world.stateOf(old), "removed");
  await world.restart([old, fresh]);
  assert.equal(world.stateOf(old), "removed");
});

test("keys that are changed during a round are not changed back by it", async () => {
  const world = worldOfThree();
  await world.restart([world.key()], []);
  world.exchanges.setKeys(tsig);
  const round = world.exchanges.round(new AbortController().signal);
  const other = world.key();
  world.signed.setKeys(new Map([[origin, [other]]]));
  await round;
  assert.equal(world.stateOf(other), "active");
  const removed = world.exchanges.round(new AbortController().signal);
  world.signed.removeZone(origin);
  await removed;
  assert.equal(world.signed.signed.size, 0);
});
