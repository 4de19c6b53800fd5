import assert from "node:assert/strict";
import { test } from "node:test";
import type { PeerMemoryEntry } from "../decide/peer-view.ts";
import type { MemoryKey, PeerMemory } from "./peer-memory.ts";
import { PeerViews, type ViewKey } from "./peer-views.ts";

/** Peer memory in a map. */
class MapMemory implements PeerMemory {
  readonly entries = new Map<string, PeerMemoryEntry>();
  get(key: MemoryKey): PeerMemoryEntry | undefined {
    return this.entries.get(text(key));
  }
  set(key: MemoryKey, entry: PeerMemoryEntry | undefined): void {
    if (entry === undefined) this.entries.delete(text(key));
    else this.entries.set(text(key), entry);
  }
  retain(): void {}
}

const text = ({ zone, geoTag, host, family }: MemoryKey): string => `${zone} ${geoTag} ${host} ${family}`;

/** A clock that is set by hand: time that passes moves both, a jump the wall clock only. */
class HandClock {
  wallMs = 0;
  risingMs = 7;
  now(): number {
    return this.wallMs;
  }
  monotonicMs(): number {
    return this.risingMs;
  }
  pass(ms: number): void {
    this.wallMs += ms;
    this.risingMs += ms;
  }
}

function views(
  memory = new MapMemory(),
  clock = new HandClock(),
): {
  readonly views: PeerViews;
  readonly changed: string[];
  readonly memory: MapMemory;
} {
  const changed: string[] = [];
  const made = new PeerViews(clock, memory, (host) => changed.push(host));
  made.setPeers("x", ["us"]);
  return { views: made, changed, memory };
}

const key: ViewKey = { zone: "x", geoTag: "us", host: "app.x", family: "A" };
const fresh = { kind: "answered", targets: ["192.0.2.1"], verdict: "1 of type A" } as const;
const failed = { kind: "failed", verdict: "silence" } as const;
const stateOf = (made: PeerViews): readonly string[] =>
  made.of("App.x").map(({ family, state, targets }) => `${family} ${state} ${targets.join()}`);

test("a new host has unknown views of every peer and family, and says that it is new once", () => {
  const { views: made } = views();
  assert.equal(made.add("App.x", { zone: "x", thresholdSeconds: 0 }), true);
  assert.equal(made.add("app.x", { zone: "x", thresholdSeconds: 0 }), false);
  assert.deepEqual(stateOf(made), ["A unknown ", "AAAA unknown "]);
  assert.deepEqual(made.hosts("x"), ["app.x"]);
  assert.deepEqual(made.of("other.x"), []);
});

test("a change that counts is told, and an answer that says the same is not", () => {
  const { views: made, changed } = views();
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.record(key, fresh, 1);
  made.record(key, fresh, 2);
  assert.deepEqual(changed, ["app.x"]);
  made.record(key, failed, 3);
  assert.deepEqual(changed, ["app.x", "app.x"]);
});

test("an answer to an earlier question does not hide that to a later one", () => {
  const { views: made } = views();
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.record(key, fresh, 2);
  made.record(key, failed, 1);
  assert.deepEqual(stateOf(made)[0], "A fresh 192.0.2.1");
});

test("with a threshold targets and the moment of silence are remembered, without one nothing is", () => {
  const memory = new MapMemory();
  const clock = new HandClock();
  const { views: made } = views(memory, clock);
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.record(key, fresh, 1);
  assert.equal(memory.entries.size, 0);
  made.add("app.x", { zone: "x", thresholdSeconds: 60 });
  assert.deepEqual([...memory.entries], [["x us app.x A", { targets: ["192.0.2.1"] }]]);
  clock.pass(5000);
  made.record(key, failed, 2);
  assert.deepEqual(memory.get(key), { targets: ["192.0.2.1"], unreachableSince: 5000 });

  clock.pass(4000);
  const restarted = views(memory, clock).views;
  restarted.add("app.x", { zone: "x", thresholdSeconds: 60 });
  restarted.record(key, failed, 1);
  assert.equal(restarted.of("app.x")[0]?.unreachableSince, 5000);
  assert.deepEqual(restarted.of("app.x")[0]?.targets, ["192.0.2.1"]);

  restarted.remove("app.x");
  assert.equal(memory.entries.size, 0);
});

test("a jump of the wall clock neither lengthens nor shortens how long a peer is silent", () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const memory = new MapMemory();
    const clock = new HandClock();
    const { views: made } = views(memory, clock);
    made.add("app.x", { zone: "x", thresholdSeconds: 60 });
    made.record(key, fresh, 1);
    clock.pass(5000);
    made.record(key, failed, 2);
    clock.pass(10_000);
    clock.wallMs += jumpMs;
    assert.equal(clock.now() - made.of("app.x")[0]!.unreachableSince!, 10_000);
    made.record(key, failed, 3);
    assert.equal(clock.now() - memory.get(key)!.unreachableSince!, 10_000);

    clock.pass(1000);
    const restarted = views(memory, clock).views;
    restarted.add("app.x", { zone: "x", thresholdSeconds: 60 });
    assert.equal(clock.now() - restarted.of("app.x")[0]!.unreachableSince!, 11_000);
  }
});

test("peers that leave the fleet leave the views", () => {
  const { views: made, changed } = views();
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.setPeers("x", ["za"]);
  assert.deepEqual([...new Set(made.of("app.x").map((view) => view.geoTag))], ["za"]);
  assert.deepEqual(changed, ["app.x"]);
  made.record(key, fresh, 1);
  assert.deepEqual(stateOf(made), ["A unknown ", "AAAA unknown "]);
  made.removeZone("x");
  assert.deepEqual(made.of("app.x"), []);
});

test("what a peer said before it left the fleet is forgotten, and does not count when it returns", () => {
  const { views: made, memory } = views();
  made.add("app.x", { zone: "x", thresholdSeconds: 60 });
  made.record(key, fresh, 1);
  made.record({ ...key, family: "AAAA" }, { ...fresh, targets: ["2001:db8::1"] }, 2);
  assert.equal(memory.entries.size, 2);
  made.setPeers("x", ["za"]);
  assert.deepEqual([...memory.entries], []);
  made.setPeers("x", ["us"]);
  assert.deepEqual(stateOf(made), ["A unknown ", "AAAA unknown "]);
});
