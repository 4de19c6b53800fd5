import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, type Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { loadZone } from "../testdata/case-zone.ts";
import type { RecordSet } from "../zone/record-set.ts";
import type { Zone } from "../zone/zone.ts";
import { composeUpdate, type UpdateChange } from "./compose-update.ts";
import { UpdateServer } from "./update-server.ts";

const fileText =
  "$ORIGIN u.test.\n$TTL 60\n@ SOA ns1 host 4294967290 7200 1800 86400 30\n@ NS ns1\nns1 A 192.0.2.53\n";
const path = "zones/u.test.journal";

interface Opened {
  readonly zone: Zone;
  readonly server: UpdateServer;
  readonly update: (...changes: UpdateChange[]) => Promise<number>;
}

/** Reads the zone's file anew, as each start does, and opens its journal. */
async function open(runtime: Runtime, text = fileText): Promise<Opened> {
  const zone = loadZone(text);
  const rules = [{ key: "k", match: "subdomain", types: ["ANY"] }] as const;
  const server = await UpdateServer.open(runtime, {
    authority: { zone: () => undefined },
    zones: [{ zone, journal: path, rules }],
  });
  const client = new ReusedClient("udp", { address: "10.0.0.9", port: 4_000 });
  return {
    zone,
    server,
    async update(...changes) {
      const message = composeUpdate({ zone: "u.test", prerequisites: [], changes });
      const { signal } = new AbortController();
      for await (const answer of server.handle({ message, client, key: "k", octetsMax: 512, signal }))
        return answer[3]! & 15;
      throw new Error("no answer");
    },
  };
}

const add = (name: string, data: string): UpdateChange => ({
  kind: "add",
  name: `${name}.u.test`,
  type: "A",
  ttl: 60,
  data,
});
const contentOf = (zone: Zone): string => JSON.stringify([...zone.recordSets()]);

function world(seed = 1): { readonly sim: Simulation; readonly node: ReturnType<Simulation["node"]> } {
  const sim = new Simulation({ seed });
  return { sim, node: sim.node({ name: "server", addresses: ["10.0.0.1"] }) };
}

test("a restart has all updates, the serial beyond its wrap, SOA and NS included", async () => {
  const { sim, node } = world();
  const { zone, update } = await sim.complete(open(node.runtime));
  for (let index = 0; index < 10; index++) await sim.complete(update(add(`n${index}`, "192.0.2.1")));
  await sim.complete(update({ kind: "deleteName", name: "n3.u.test" }));
  await sim.complete(update({ kind: "add", name: "u.test", type: "NS", ttl: 9, data: "ns2.example." }));
  await sim.complete(
    update({ kind: "add", name: "u.test", type: "SOA", ttl: 7, data: "m.example. r.example. 900 1 2 3 4" }),
  );
  await sim.complete(update(add("last", "192.0.2.9")));
  const again = await sim.complete(open(node.restart()));
  assert.equal(again.zone.serial, 901);
  assert.equal(contentOf(again.zone), contentOf(zone));
});

for (const kind of ["power", "process"] as const) {
  test(`no acknowledged update is lost by a crash of the ${kind}, whenever it comes`, async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { sim, node } = world(seed);
      const random = sim.random("crashes");
      node.disk.conditions = { latencyMs: { min: 1, max: 5 }, unsyncedSurvival: 0.5 };
      /** What was answered NOERROR, and what was not answered. */
      const acknowledged = new Map<string, string>();
      const maybe = new Map<string, string>();
      for (let boot = 0; boot < 4; boot++) {
        const opened = await sim.complete(open(node.runtime));
        for (const [name, data] of acknowledged)
          assert.deepEqual(
            opened.zone.recordSetsOf(`${name}.u.test`)[0]?.data,
            [data],
            `seed ${seed}: ${name} was lost`,
          );
        const names = [...opened.zone.recordSets()].map((set) => set.name.split(".")[0]!);
        for (const name of names)
          assert.ok(
            ["u", "ns1"].includes(name) || acknowledged.has(name) || maybe.has(name),
            `seed ${seed}: ${name} came from nowhere`,
          );
        for (const name of names) if (maybe.has(name)) acknowledged.set(name, maybe.get(name)!);
        maybe.clear();
        const updating = (async () => {
          for (let index = 0; index < 20; index++) {
            const [name, data] = [`b${boot}n${index}`, `192.0.2.${index}`];
            maybe.set(name, data);
            assert.equal(await opened.update(add(name, data)), 0);
            maybe.delete(name);
            acknowledged.set(name, data);
          }
        })();
        void updating.catch(() => {});
        await sim.run({ untilMs: sim.nowMs + 5 + random.float() * 100 });
        node.crash(kind);
        node.restart();
      }
      assert.ok(acknowledged.size > 0);
    }
  });
}

test("an update that cannot be written is not made, and the next one can be", async () => {
  const { sim, node } = world();
  const { zone, update } = await sim.complete(open(node.runtime));
  assert.equal(await sim.complete(update(add("a", "192.0.2.1"))), 0);
  node.disk.fail(new Error("the disk is full"));
  await assert.rejects(sim.complete(update(add("b", "192.0.2.2"))), /full/);
  assert.deepEqual(zone.recordSetsOf("b.u.test"), []);
  await assert.rejects(sim.complete(update(add("c", "192.0.2.3"))), /full/);
  node.disk.fail(undefined);
  assert.equal(await sim.complete(update(add("d", "192.0.2.4"))), 0);
  const again = await sim.complete(open(node.restart()));
  assert.equal(contentOf(again.zone), contentOf(zone));
  assert.deepEqual(again.zone.recordSetsOf("b.u.test"), []);
});

test("a torn end is cut off; damage before the end is told with file and place, and nothing is thrown away", async () => {
  const { sim, node } = world();
  const { zone, update } = await sim.complete(open(node.runtime));
  const sizes: number[] = [];
  const contents: string[] = [];
  for (let index = 0; index < 3; index++) {
    await sim.complete(update(add(`n${index}`, "192.0.2.1")));
    sizes.push((await sim.complete(node.runtime.disk.read(path)))!.length);
    contents.push(contentOf(zone));
  }
  const whole = (await sim.complete(node.runtime.disk.read(path)))!;
  for (let cut = sizes[1]! + 1; cut < whole.length; cut += 7) {
    await sim.complete(node.runtime.disk.replace(path, whole.slice(0, cut)));
    const again = await sim.complete(open(node.restart()));
    assert.equal(contentOf(again.zone), contents[1]);
    assert.equal((await sim.complete(node.runtime.disk.read(path)))!.length, sizes[1]);
    assert.equal(await sim.complete(again.update(add("n2", "192.0.2.1"))), 0);
  }
  const zeroed = Uint8Array.of(...whole.slice(0, sizes[1]), ...new Uint8Array(100));
  await sim.complete(node.runtime.disk.replace(path, zeroed));
  assert.equal(contentOf((await sim.complete(open(node.restart()))).zone), contents[1]);
  for (const at of [sizes[0]! - 3, sizes[0]! + 2, 5]) {
    const damaged = whole.slice();
    damaged[at]! ^= 1;
    await sim.complete(node.runtime.disk.replace(path, damaged));
    const start = at < 10 ? 0 : at < sizes[0]! ? undefined : sizes[0];
    const place = start === undefined ? "octet \\d+" : `octet ${start} `;
    await assert.rejects(sim.complete(open(node.restart())), (error: Error & { code?: string }) => {
      assert.equal(error.code, "BadJournal");
      assert.match(error.message, new RegExp(`${path}.*${place}`));
      return true;
    });
    assert.deepEqual(await sim.complete(node.runtime.disk.read(path)), damaged);
  }
});

test("a journal of another content or another zone is not put on top", async () => {
  const { sim, node } = world();
  const { update } = await sim.complete(open(node.runtime));
  await sim.complete(update(add("a", "192.0.2.1")));
  const others = [
    [fileText.replace("4294967290", "4294967291"), /stands on serial 4294967290.*4294967291/],
    [fileText.replace("u.test", "v.test"), /of u\.test/],
  ] as const;
  for (const [text, message] of others)
    await assert.rejects(sim.complete(open(node.restart(), text)), (error: Error) =>
      message.test(error.message),
    );
});

test("the zone's file may change while there are no updates", async () => {
  const { sim, node } = world();
  await sim.complete(open(node.runtime));
  const { update, zone } = await sim.complete(open(node.restart(), fileText.replace("4294967290", "7")));
  assert.equal(await sim.complete(update(add("a", "192.0.2.1"))), 0);
  const again = await sim.complete(open(node.restart(), fileText.replace("4294967290", "7")));
  assert.equal(contentOf(again.zone), contentOf(zone));
});

test("a journal is compacted when it has doubled, and holds the same", async () => {
  const { sim, node } = world();
  const { zone, update, server } = await sim.complete(open(node.runtime));
  const text = `"${"x".repeat(250)}"`;
  const rounds = 60;
  for (let round = 0; round < rounds; round++) {
    const changes = Array.from({ length: 80 }, (_, index) => [
      { kind: "deleteSet" as const, name: `t${index}.u.test`, type: "TXT" },
      { kind: "add" as const, name: `t${index}.u.test`, type: "TXT", ttl: round, data: text },
    ]).flat();
    assert.equal(await sim.complete(update(...changes)), 0);
  }
  await sim.complete(update({ kind: "add", name: "u.test", type: "NS", ttl: 60, data: "ns2.example." }));
  await sim.complete(server[Symbol.asyncDispose]());
  const size = (await sim.complete(node.runtime.disk.read(path)))!.length;
  assert.ok(size < 1_200_000, `${size}`);
  const again = await sim.complete(open(node.restart()));
  assert.equal(contentOf(again.zone), contentOf(zone));
  assert.equal(await sim.complete(again.update(add("after", "192.0.2.1"))), 0);
});

test("updates that come at once are made one after the other, each seeing the one before", async () => {
  const { sim, node } = world();
  const { zone, update } = await sim.complete(open(node.runtime));
  const rcodes = await sim.complete(
    Promise.all(Array.from({ length: 50 }, (_, index) => update(add("same", `192.0.2.${index}`)))),
  );
  assert.ok(rcodes.every((rcode) => rcode === 0));
  assert.equal(zone.recordSetsOf("same.u.test")[0]?.data.length, 50);
  assert.equal(zone.serial, (4_294_967_290 + 50) >>> 0);
});

test("rules change, and a zone ends and begins to take updates, while the server runs", async () => {
  const { sim, node } = world();
  const { server, update, zone } = await sim.complete(open(node.runtime));
  assert.equal(await sim.complete(update(add("a", "192.0.2.1"))), 0);
  server.setRules(zone.origin, [{ key: "k", match: "exact", name: "b.u.test" }]);
  assert.equal(await sim.complete(update(add("a", "192.0.2.2"))), 5);
  assert.equal(await sim.complete(update(add("b", "192.0.2.2"))), 0);
  assert.throws(() => UpdateServer.checkRules("u.test", [{ key: "k", match: "exact" }]), /has none; name it/);
  assert.throws(() => server.setRules("u.test", [{ key: "k", match: "exact" }]), /has none; name it/);
  assert.equal(await sim.complete(update(add("b", "192.0.2.3"))), 0, "the rules before stay");

  const underWay = update(add("b", "192.0.2.4"));
  await sim.complete(Promise.all([underWay, server.remove("u.test")]));
  assert.equal(await underWay, 0);
  assert.equal(await sim.complete(update(add("b", "192.0.2.5"))), 9);
  const again = loadZone(fileText);
  const rules = [{ key: "k", match: "subdomain" }] as const;
  await sim.complete(server.add({ zone: again, journal: path, rules }));
  assert.equal(contentOf(again), contentOf(zone));
  assert.equal(await sim.complete(update(add("c", "192.0.2.6"))), 0);
  assert.equal(again.recordSetsOf("c.u.test").length, 1);
});

const keySet = (data: string): RecordSet => ({ name: "u.test", type: "DNSKEY", ttl: 60, data: [data] });

test("keys that step the serial while an update is written leave it as the journal has it", async () => {
  const { sim, node } = world();
  const { zone, update } = await sim.complete(open(node.runtime));
  node.disk.conditions = { latencyMs: { min: 5, max: 5 }, unsyncedSurvival: 0 };
  let steps = 0;
  for (const afterMs of [1, 3, 7]) {
    node.runtime.clock.after(afterMs, () => {
      zone.setApexExtra([keySet(`257 3 13 ${"A".repeat(84)}${"BCD"[steps++]!}AAA`)]);
    });
  }
  assert.equal(await sim.complete(update(add("a", "192.0.2.1"))), 0);
  assert.ok(steps > 0);
  const again = await sim.complete(open(node.restart()));
  assert.equal(again.zone.serial, zone.serial);
});

test("what signing makes at the apex is not in the journal, neither at once nor once it is compacted", async () => {
  for (const isLarge of [false, true]) {
    const { sim, node } = world();
    const { zone, update, server } = await sim.complete(open(node.runtime));
    zone.setApexExtra([keySet(`257 3 13 ${"A".repeat(88)}`)]);
    const rounds = isLarge ? 60 : 1;
    for (let round = 0; round < rounds; round++) {
      const changes = Array.from({ length: isLarge ? 80 : 1 }, (_, index) => [
        { kind: "deleteSet" as const, name: `t${index}.u.test`, type: "TXT" },
        { kind: "add" as const, name: `t${index}.u.test`, type: "TXT", ttl: round, data: "x".repeat(250) },
      ]).flat();
      const apex = { kind: "add" as const, name: "u.test", type: "TXT", ttl: round, data: "apex" };
      assert.equal(await sim.complete(update(...changes, apex)), 0);
    }
    await sim.complete(server[Symbol.asyncDispose]());
    const stored = new TextDecoder("latin1").decode(await sim.complete(node.runtime.disk.read(path)));
    assert.ok(stored.length < 1_200_000, `${stored.length}`);
    assert.doesNotMatch(stored, /DNSKEY/);
    assert.ok(zone.recordSetsOf("u.test").some(({ type }) => type === "DNSKEY"));
    zone.setApexExtra([]);
    const again = await sim.complete(open(node.restart()));
    const data = (of: Zone): unknown[] => [...of.recordSets()].filter(({ type }) => type !== "SOA");
    assert.deepEqual(data(again.zone), data(zone));
  }
});
