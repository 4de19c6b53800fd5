import assert from "node:assert/strict";
import test from "node:test";
import type { Clock } from "@meridian/runtime";
import fc from "fast-check";
import { Arena } from "./arena.ts";
import type { RecordSet } from "./record-set.ts";
import type { WireRecord } from "./wire-record.ts";
import { octetsKey } from "./wire-set.ts";
import { WorkSlices } from "./work-slices.ts";
import { Zone } from "./zone.ts";

const options = {
  origin: "z",
  soa: { mname: "ns.z", rname: "h.z", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1, ttl: 1 },
  nameServers: ["ns.z"],
  nameServerTtl: 1,
};
const idleClock: Clock = {
  now: () => 0,
  monotonicMs: () => 0,
  sleep: async () => {},
  after: () => () => {},
};
const address = (name: string, ...data: string[]): RecordSet => ({ name, type: "A", ttl: 5, data });
const keyOf = ({ owner, type, ttl, rdata }: WireRecord): string =>
  `${octetsKey(owner)} ${type} ${ttl} ${octetsKey(rdata)}`;
const contentOf = (zone: Zone): string => JSON.stringify([...zone.recordSets()]);

test("property: blocks of memory never overlap, and what is freed is used again", () => {
  const step = fc.record({ words: fc.integer({ min: 1, max: 3_000 }), freed: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const arena = new Arena(80);
      const blocks: { readonly at: number; readonly words: number; readonly mark: number }[] = [];
      steps.forEach(({ words, freed }, index) => {
        const at = arena.allocate(words);
        assert.ok(at >= 80 && (at + words) * 4 <= arena.octets.length);
        arena.words.fill(index, at, at + words);
        blocks.push({ at, words, mark: index });
        if (freed % 2 === 0) {
          const [gone] = blocks.splice(freed % blocks.length, 1);
          arena.free(gone!.at, gone!.words);
        }
      });
      for (const { at, words, mark } of blocks)
        assert.ok(arena.words.subarray(at, at + words).every((word) => word === mark));
    }),
  );
  const arena = new Arena(80);
  const used = arena.usedOctets + 4 * 128;
  for (let round = 0; round < 1_000; round++) arena.free(arena.allocate(100), 100);
  assert.ok(arena.usedOctets <= used);
});

test("a name that changes a hundred thousand times takes no more memory than once", () => {
  const zone = new Zone(options);
  const change = (round: number): void => {
    const data = Array.from({ length: 1 + (round % 7) }, (_, index) => `192.0.2.${(round + index) % 256}`);
    zone.replace(new Map([["a.b.z", round % 5 === 0 ? [] : [address("a.b.z", ...data)]]]));
  };
  for (let round = 0; round < 100; round++) change(round);
  const used = zone.tree.usedOctets;
  for (let round = 100; round < 100_000; round++) change(round);
  assert.equal(zone.tree.usedOctets, used);
  assert.equal(zone.nameCount, 3);
});

test("names come back after thousands of others came and went, through every size of the table", () => {
  const zone = new Zone(options);
  const names = Array.from({ length: 30_000 }, (_, index) => `n${index}.g${index % 7}.z`);
  zone.replace(new Map(names.map((name, index) => [name, [address(name, `192.0.2.${index % 256}`)]])));
  assert.equal(zone.nameCount, 30_008);
  zone.replace(new Map(names.filter((_, index) => index % 3 !== 0).map((name) => [name, []])));
  names.forEach((name, index) =>
    assert.deepEqual(
      zone.recordSetsOf(name),
      index % 3 === 0 ? [address(name, `192.0.2.${index % 256}`)] : [],
    ),
  );
});

const label = fc.constantFrom("a", "b", "*", "ab");
const owner = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join(".")}.z`);
const sets = fc.oneof(
  fc.constant(undefined),
  fc.record({
    addresses: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 5 }),
    text: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined }),
    ttl: fc.constantFrom(5, 6),
  }),
);
const batch = fc.dictionary(owner, sets, { maxKeys: 6 });

function setsOf(
  name: string,
  given: { addresses: number[]; text: number | undefined; ttl: number },
): RecordSet[] {
  const { addresses, text, ttl } = given;
  const texts = text === undefined ? [] : [`"${"x".repeat(Math.min(255, text))}"`];
  return [
    { name, type: "A", ttl, data: addresses.map((last) => `192.0.2.${last}`) },
    ...(texts.length > 0 ? [{ name, type: "TXT", ttl, data: texts }] : []),
  ];
}

test("property: deltas lead from one content to the next, and snapshots stay as they were", () => {
  fc.assert(
    fc.property(
      fc.array(batch, { minLength: 1, maxLength: 12 }),
      fc.nat(11),
      fc.nat(11),
      (batches, taken, kept) => {
        const zone = new Zone(options);
        const records = new Map<string, WireRecord>();
        {
          using first = zone.snapshot();
          for (const record of first.records()) records.set(keyOf(record), record);
        }
        using listening = zone.observe(({ fromSerial, toSerial, removed, added }) => {
          assert.equal(toSerial, fromSerial + 1);
          for (const record of removed) assert.ok(records.delete(keyOf(record)));
          for (const record of added) {
            assert.ok(!records.has(keyOf(record)));
            records.set(keyOf(record), record);
          }
        });
        const model = new Map<string, RecordSet[]>();
        let pinned:
          { readonly snapshot: ReturnType<Zone["snapshot"]>; readonly expected: string[] } | undefined;
        batches.forEach((changes, index) => {
          const given = new Map(
            Object.entries(changes).map(([name, content]) => [
              name,
              content === undefined ? [] : setsOf(name, content),
            ]),
          );
          zone.replace(given);
          for (const [name, content] of given) {
            if (content.length > 0) model.set(name, content);
            else model.delete(name);
          }
          if (index === taken) pinned = { snapshot: zone.snapshot(), expected: [...records.keys()].sort() };
          if (pinned !== undefined && index >= taken) {
            const seen = [...pinned.snapshot.records()].map(keyOf);
            assert.deepEqual(seen.sort(), pinned.expected);
          }
          if (index === taken + kept) {
            pinned?.snapshot[Symbol.dispose]();
            pinned = undefined;
          }
        });
        pinned?.snapshot[Symbol.dispose]();
        assert.ok(listening);
        const made = new Zone({ ...options, soa: { ...options.soa, serial: zone.serial } });
        made.load(model, zone.serial);
        assert.equal(contentOf(zone), contentOf(made));
        assert.equal(zone.nameCount, made.nameCount);
        using last = zone.snapshot();
        assert.deepEqual([...last.records()].map(keyOf).sort(), [...records.keys()].sort());
      },
    ),
    { numRuns: 300 },
  );
});

/** Notes what goes and what comes, by the first letter of its owner. */
function listen(zone: Zone, told: string[]): Disposable {
  return zone.observe(({ removed, added }) => {
    for (const [sign, list] of [
      ["-", removed],
      ["+", added],
    ] as const)
      for (const { owner: name, type } of list) told.push(`${sign}${octetsKey(name.subarray(1, 2))} ${type}`);
  });
}

test("everything is replaced at once, with the apex; owners that stay the same are not told of", () => {
  const zone = new Zone(options);
  zone.replace(new Map(["a.z", "b.z"].map((name) => [name, [address(name, "192.0.2.1")]])));
  const told: string[] = [];
  using listening = listen(zone, told);
  zone.replaceAll({ ...options.soa, serial: 77 }, [
    { name: "z", type: "NS", ttl: 9, data: ["other.example."] },
    address("a.z", "192.0.2.1"),
    address("c.z", "192.0.2.3"),
  ]);
  assert.ok(listening);
  assert.deepEqual(told, ["-z 6", "-b 1", "-z 2", "+z 6", "+c 1", "+z 2"]);
  assert.equal(zone.serial, 77);
  assert.deepEqual(
    [...zone.recordSets()].map(({ name, type }) => `${name} ${type}`),
    ["z SOA", "z NS", "a.z A", "c.z A"],
  );
  assert.throws(() => zone.replaceAll(options.soa, []), { code: "BadZone" });
  assert.equal(zone.serial, 77);
});

test("everything is taken over at once, with the apex; owners that stay the same are not told of", async () => {
  const zone = new Zone(options);
  zone.replace(new Map(["a.z", "b.z"].map((name) => [name, [address(name, "192.0.2.1")]])));
  zone.setApexExtra([{ name: "z", type: "TXT", ttl: 5, data: ['"key"'] }]);
  const told: string[] = [];
  using listening = listen(zone, told);
  const other = new Zone({ ...options, nameServers: ["other.example"], nameServerTtl: 9 });
  const owners = ["a.z", "c.z"].map((name) => [name, [address(name, "192.0.2.1")]] as const);
  other.load(new Map(owners), 77);
  await zone.adopt(other, new WorkSlices(idleClock));
  assert.ok(listening);
  assert.deepEqual(told, ["-z 6", "-b 1", "-z 2", "+z 6", "+c 1", "+z 2"]);
  assert.equal(zone.serial, 77);
  assert.deepEqual(
    [...zone.recordSets()].map(({ name, type }) => `${name} ${type}`),
    ["z SOA", "z NS", "z TXT", "a.z A", "c.z A"],
  );
  await assert.rejects(zone.adopt(new Zone({ ...options, origin: "y" }), new WorkSlices(idleClock)), {
    code: "BadZone",
  });
});

test("a change while content is being compared is in the difference, too", async () => {
  const zone = new Zone(options);
  const names = Array.from({ length: 1_000 }, (_, index) => `n${index}.z`);
  zone.replace(new Map(names.map((name) => [name, [address(name, "192.0.2.1")]])));
  const other = new Zone(options);
  other.load(new Map(names.map((name) => [name, [address(name, "192.0.2.1")]])), 50);
  let pauses = 0;
  const clock: Clock = {
    ...idleClock,
    // Each look says that a slice is over.
    monotonicMs: () => ++pauses * 100,
    sleep: async () => {
      if (pauses < 20)
        zone.replace(
          new Map([
            [`n${pauses}.z`, []],
            [`late${pauses}.a.z`, [address(`late${pauses}.a.z`)]],
          ]),
        );
    },
  };
  await zone.adopt(other, new WorkSlices(clock));
  assert.equal(contentOf(zone), contentOf(other));
  assert.equal(zone.nameCount, other.nameCount);
});

test("data given to the apex beside its own stays over every step", () => {
  const zone = new Zone(options);
  zone.replace(new Map([["z", [address("z", "192.0.2.1")]]]));
  zone.setApexExtra([{ name: "z", type: "TXT", ttl: 5, data: ['"key"'] }]);
  zone.setNameServers(["ns2.z"]);
  zone.replace(new Map([["a.z", [address("a.z", "192.0.2.2")]]]));
  assert.deepEqual(
    zone.recordSetsOf("z").map(({ type, data }) => [type, ...data]),
    [
      ["SOA", "ns.z. h.z. 5 1 1 1 1"],
      ["NS", "ns2.z."],
      ["TXT", '"key"'],
      ["A", "192.0.2.1"],
    ],
  );
  const serial = zone.serial;
  zone.setApexExtra([{ name: "z", type: "TXT", ttl: 5, data: ['"key"'] }]);
  assert.equal(zone.serial, serial);
  assert.deepEqual(zone.typesAt(Uint8Array.of(1, 0x7a, 0)), [6, 2, 16, 1]);
  assert.equal(zone.typesAt(Uint8Array.of(1, 0x71, 1, 0x7a, 0)), undefined);
});

test("policies come back as they were given", () => {
  const zone = new Zone(options);
  const groups = [
    { weight: 3, data: ["192.0.2.1"] },
    { weight: 1, data: ["192.0.2.2"] },
  ];
  const places = [{ tag: "eu", data: ["192.0.2.1"] }];
  const given: RecordSet[] = [
    { ...address("w.z", "192.0.2.1", "192.0.2.2"), policy: { kind: "weighted", groups } },
    { ...address("o.z", "192.0.2.1", "192.0.2.2"), policy: { kind: "weightedOrder", groups } },
    { ...address("g.z", "192.0.2.1", "192.0.2.2"), policy: { kind: "geo", groups: places } },
    { ...address("p.z", "192.0.2.1"), policy: { kind: "geo" } },
    { ...address("r.z", "192.0.2.1"), policy: { kind: "rotate" } },
    address("f.z"),
  ];
  const changes = new Map(given.map((set) => [set.name, [set]]));
  assert.equal(zone.replace(changes), true);
  for (const set of given) assert.deepEqual(zone.recordSetsOf(set.name), [set]);
  assert.equal(zone.replace(changes), false);
  const heavier = [{ weight: 4, data: ["192.0.2.1"] }, groups[1]!];
  const changed = { ...given[0]!, policy: { kind: "weighted" as const, groups: heavier } };
  assert.equal(zone.replace(new Map([["w.z", [changed]]])), true);
});
