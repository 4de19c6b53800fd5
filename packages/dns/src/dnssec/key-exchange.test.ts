import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import type { DnsQuestion } from "../client/question-asking.ts";
import type { Verdict } from "../client/verdict.ts";
import { rdataFromText } from "../message/rdata.ts";
import { typeDnskey } from "../message/type-numbers.ts";
import type { Authority } from "../server/authority.ts";
import { authorityOf } from "../testdata/case-zone.ts";
import { askSigned, SetClock, testKey } from "../testdata/signed-zone.ts";
import { AnswerSigner } from "./answer-signer.ts";
import { KeyExchange } from "./key-exchange.ts";
import { introduceKey } from "./key-rollover.ts";
import { dnskeyOf, keyState, keyTagOf, type SigningKey, type SigningKeys } from "./signing-key.ts";
import { ZoneKeys } from "./zone-keys.ts";

const zoneText = "$ORIGIN p.test.\n$TTL 30\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nwww A 192.0.2.53\n";
const ownKeysLabel = "_own-dnskey";
const delays = { dnskeyTtl: 60, recordTtlMax: 30, dsTtl: 150, propagation: 25 };
const roundSeconds = 10;
const tag = (key: SigningKey): number => keyTagOf(dnskeyOf(key));

interface Cluster {
  readonly address: string;
  readonly authority: Authority;
  readonly zoneKeys: ZoneKeys;
  readonly exchange: KeyExchange;
  readonly stored: SigningKeys[];
}

/** Clusters that answer one zone, a parent that follows their CDS, and a clock that all share. */
class World {
  readonly clock = new SetClock();
  readonly clusters: Cluster[] = [];
  readonly silent = new Set<string>();
  /** Clusters that the delegation does not name, so that nobody asks them. */
  readonly absent = new Set<Cluster>();
  /** The tags of the parent's DS records. */
  ds: readonly number[] = [];

  add(own: readonly SigningKey[], foreign: SigningKeys["foreign"]): Cluster {
    const address = `192.0.2.${this.clusters.length + 1}`;
    const { clock } = this;
    const authority = authorityOf([zoneText], { clock });
    const context = { clock, log: silentLogger, answers: new AnswerSigner({ clock }) };
    const options = { keys: { own, foreign }, keyTtl: delays.dnskeyTtl, ownKeysLabel };
    const zoneKeys = new ZoneKeys(authority.zone("p.test")!, options, context);
    const stored: SigningKeys[] = [];
    const question = (to: string) => ({ servers: [{ address: to, port: 53 }], deadlineMs: 1_000 });
    const exchange = new KeyExchange({
      clock,
      client: { query: (asked) => Promise.resolve(this.answer(asked)) },
      zoneKeys,
      ownKeysLabel,
      peers: () =>
        new Map(
          this.clusters
            .filter((one) => one.address !== address)
            .map((one) => [one.address, question(one.address)]),
        ),
      parent: () => question("parent"),
      delays,
      persist: (keys) => Promise.resolve(void stored.push(keys)),
    });
    const cluster = { address, authority, zoneKeys, exchange, stored };
    this.clusters.push(cluster);
    return cluster;
  }

  answer({ name, type, servers }: DnsQuestion): Verdict {
    const [server] = servers;
    if (this.silent.has(server!.address)) return { state: "unreachable", reason: "no reply in time" };
    const answered = {
      state: "answered",
      authoritative: true,
      authority: [],
      additional: [],
      server: server!,
    } as const;
    if (server!.address === "parent") {
      const keys = this.clusters
        .flatMap(({ zoneKeys }) => zoneKeys.keys.own)
        .filter((key) => this.ds.includes(tag(key)));
      const all = keys.flatMap((key) =>
        this.cdsOf(this.clusters[0]!).filter((text) => text.startsWith(`${tag(key)} `)),
      );
      return {
        ...answered,
        outcome: "data",
        records: all.map((data) => ({ name, type, ttl: delays.dsTtl, data })),
      };
    }
    const cluster = this.clusters.find(({ address }) => address === server!.address)!;
    const { answers } = askSigned(cluster.authority, [name, type]);
    const records = answers.filter((record) => record.type === type);
    return { ...answered, outcome: records.length > 0 ? "data" : "nodata", records };
  }

  cdsOf({ authority }: Cluster): readonly string[] {
    return askSigned(authority, ["p.test", "CDS"])
      .answers.filter(({ type }) => type === "CDS")
      .map(({ data }) => data);
  }

  async round(): Promise<void> {
    for (const cluster of this.clusters) {
      const { active } = await cluster.exchange.round();
      if (active) this.absent.delete(cluster);
    }
    // A parent takes CDS only where all servers agree (RFC 7344 §6.2).
    const [first, ...others] = this.clusters.map((cluster) => this.cdsOf(cluster).join());
    if (others.every((one) => one === first))
      this.ds = this.cdsOf(this.clusters[0]!).map((text) => Number(text.split(" ")[0]));
  }
}

const signersOf = ({ authority }: Cluster, type: string): readonly number[] =>
  askSigned(authority, [type === "A" ? "www.p.test" : "p.test", type])
    .answers.filter((record) => record.type === "RRSIG")
    .map(({ data }) => Number(data.split(" ")[6]));
const publishedBy = ({ authority }: Cluster): readonly number[] =>
  askSigned(authority, ["p.test", "DNSKEY"])
    .answers.filter(({ type }) => type === "DNSKEY")
    .map(({ data }) => keyTagOf(rdataFromText(typeDnskey, data)));

/** What caches may hold: all that was seen within its TTL. */
class Caches {
  readonly #seen: {
    readonly at: number;
    readonly kind: "keys" | "data" | "ds";
    readonly tags: readonly number[];
    readonly by: readonly number[];
  }[] = [];

  /** Asserts that every mixture of what caches may hold now validates. */
  check(world: World): void {
    const now = world.clock.now() / 1000;
    for (const cluster of world.clusters) {
      if (world.absent.has(cluster)) continue;
      this.#seen.push({
        at: now,
        kind: "keys",
        tags: publishedBy(cluster),
        by: signersOf(cluster, "DNSKEY"),
      });
      this.#seen.push({ at: now, kind: "data", tags: signersOf(cluster, "A"), by: [] });
    }
    this.#seen.push({ at: now, kind: "ds", tags: world.ds, by: [] });
    const fresh = (kind: "keys" | "data" | "ds", ttl: number) =>
      this.#seen.filter((one) => one.kind === kind && one.at > now - ttl);
    for (const keys of fresh("keys", delays.dnskeyTtl)) {
      for (const data of fresh("data", delays.recordTtlMax))
        assert.ok(
          data.tags.some((one) => keys.tags.includes(one)),
          `at ${now}: data signed by ${data.tags.join()}, keys known ${keys.tags.join()}`,
        );
      for (const ds of fresh("ds", delays.dsTtl))
        assert.ok(
          keys.by.some((one) => ds.tags.includes(one)),
          `at ${now}: keys signed by ${keys.by.join()}, DS known ${ds.tags.join()}`,
        );
    }
  }
}

function worldOfThree(): World {
  const world = new World();
  const own = [[testKey(1, true)], [testKey(2, true), testKey(3, false)], [testKey(4, true)]];
  for (const keys of own) {
    const foreign = own.filter((others) => others !== keys).flat();
    world.add(
      keys,
      foreign.map((key) => ({ dnskey: dnskeyOf(key), wantsDs: key.secureEntryPoint })),
    );
  }
  return world;
}

for (const [what, index, fresh] of [
  ["CSK", 0, testKey(11, true)],
  ["ZSK", 1, testKey(12, false)],
  ["KSK", 1, testKey(13, true)],
] as const) {
  test(`while a ${what} rolls over, no cache can hold a mixture that does not validate`, async () => {
    const world = worldOfThree();
    const caches = new Caches();
    const cluster = world.clusters[index]!;
    const { zoneKeys } = cluster;
    const old = zoneKeys.keys.own.find((key) => key.secureEntryPoint === fresh.secureEntryPoint)!;
    for (let seconds = 0; seconds < 600; seconds += 5) {
      if (seconds % roundSeconds === 0) await world.round();
      if (seconds === 100) zoneKeys.set(introduceKey(zoneKeys.keys, fresh, world.clock.now() / 1000));
      caches.check(world);
      world.clock.advance(5);
    }
    assert.deepEqual(zoneKeys.keys.own.map(tag).includes(tag(old)), false, "the old key is gone");
    for (const one of world.clusters)
      assert.ok(!publishedBy(one).includes(tag(old)) && publishedBy(one).includes(tag(fresh)));
    assert.equal(
      keyState(
        zoneKeys.keys.own.find((key) => tag(key) === tag(fresh))!,
        world.clock.now() / 1000,
      ),
      "active",
    );
    assert.equal(world.ds.length, 3);
    assert.deepEqual(cluster.stored.at(-1), zoneKeys.keys);
  });
}

test("a cluster that joins is asked only when everybody knows its keys, and then always validates", async () => {
  const world = worldOfThree();
  const caches = new Caches();
  let joined: Cluster | undefined;
  for (let seconds = 0; seconds < 600; seconds += 5) {
    if (seconds === 100) {
      const waiting = [testKey(21, true), testKey(22, false)].map((key) => ({
        ...key,
        times: { publish: 0 },
      }));
      joined = world.add(
        waiting,
        world.clusters
          .flatMap(({ zoneKeys }) => zoneKeys.keys.own)
          .map((key) => ({ dnskey: dnskeyOf(key), wantsDs: key.secureEntryPoint })),
      );
      world.absent.add(joined);
    }
    if (seconds % roundSeconds === 0) await world.round();
    caches.check(world);
    world.clock.advance(5);
  }
  assert.equal(world.absent.size, 0);
  assert.equal(world.ds.length, 4);
  assert.deepEqual(signersOf(joined!, "A"), [tag(testKey(22, false))]);
});

test("these checks see a key that signs at once, and one that goes at once", async () => {
  for (const own of [[testKey(1, true), testKey(11, true)], [testKey(11, true)]]) {
    const world = worldOfThree();
    const caches = new Caches();
    await world.round();
    caches.check(world);
    const { zoneKeys } = world.clusters[0]!;
    zoneKeys.set({ ...zoneKeys.keys, own: own.slice(-1) });
    await world.round();
    world.clock.advance(5);
    assert.throws(() => caches.check(world), /signed by/);
  }
});

test("a key waits as long as one cluster does not publish it, or cannot be asked", async () => {
  const world = worldOfThree();
  const { zoneKeys } = world.clusters[0]!;
  await world.round();
  const fresh = testKey(11, true);
  zoneKeys.set(introduceKey(zoneKeys.keys, fresh, world.clock.now() / 1000));
  world.silent.add("192.0.2.1").add("192.0.2.3");
  for (let index = 0; index < 20; index++) {
    await world.round();
    world.clock.advance(60);
  }
  assert.equal(keyState(zoneKeys.keys.own.at(-1)!, world.clock.now() / 1000), "published");
  world.silent.clear();
  for (let index = 0; index < 20; index++) {
    await world.round();
    world.clock.advance(60);
  }
  assert.equal(keyState(zoneKeys.keys.own.at(-1)!, world.clock.now() / 1000), "active");
});

test("what is known of a silent cluster stays, also over a restart, and goes with the cluster", async () => {
  const world = worldOfThree();
  await world.round();
  world.silent.add("192.0.2.3");
  const { exchange, zoneKeys } = world.clusters[0]!;
  const { unknown, active } = await exchange.round();
  assert.ok(active);
  assert.deepEqual([...unknown], [["192.0.2.3", "_own-dnskey.p.test DNSKEY: no reply in time"]]);
  const tags = (keys: SigningKeys): number[] =>
    keys.foreign.map(({ dnskey }) => keyTagOf(dnskey)).toSorted((a, b) => a - b);
  const all = [2, 3, 4].map((number) => tag(testKey(number, number !== 3))).toSorted((a, b) => a - b);
  assert.deepEqual(tags(zoneKeys.keys), all);
  const [first, ...rest] = world.clusters.splice(0);
  const restarted = world.add(first!.zoneKeys.keys.own, first!.zoneKeys.keys.foreign);
  world.clusters.push(...rest);
  await restarted.exchange.round();
  assert.deepEqual(tags(restarted.zoneKeys.keys), all);
  world.clusters.splice(2, 1);
  await restarted.exchange.round();
  assert.deepEqual(
    tags(restarted.zoneKeys.keys),
    all.filter((one) => one !== tag(testKey(4, true))),
  );
});

test("a zone is not left without its last key, and cannot be given none", async () => {
  const world = worldOfThree();
  const { zoneKeys, exchange } = world.clusters[0]!;
  const lapsed = { ...testKey(1, true), times: { publish: 0, activate: 0, retire: 10, remove: 20 } };
  zoneKeys.set({ ...zoneKeys.keys, own: [lapsed] });
  await exchange.round();
  assert.deepEqual(zoneKeys.keys.own, [lapsed]);
  assert.throws(() => zoneKeys.set({ own: [], foreign: [] }), { code: "BadKey" });
});

test("keys that cannot be stored are not used", async () => {
  const world = worldOfThree();
  const { zoneKeys, ...cluster } = world.clusters[0]!;
  const before = zoneKeys.keys;
  const exchange = new KeyExchange({
    clock: world.clock,
    client: { query: (asked) => Promise.resolve(world.answer(asked)) },
    zoneKeys,
    ownKeysLabel,
    peers: () => new Map([["only", { servers: [{ address: "192.0.2.2", port: 53 }], deadlineMs: 1_000 }]]),
    parent: () => ({ servers: [], deadlineMs: 1_000 }),
    delays,
    persist: () => Promise.reject(new Error("the Secret is gone")),
  });
  await assert.rejects(() => exchange.round(), /the Secret is gone/);
  assert.equal(zoneKeys.keys, before);
  assert.equal(cluster.stored.length, 0);
});
