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

function views(memory = new MapMemory()): {
  readonly views: PeerViews;
  readonly changed: string[];
  readonly memory: MapMemory;
} {
  const changed: string[] = [];
  const made = new PeerViews(memory, (host) => changed.push(host));
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
  made.record(key, fresh, { order: 1, now: 1000 });
  made.record(key, fresh, { order: 2, now: 2000 });
  assert.deepEqual(changed, ["app.x"]);
  made.record(key, failed, { order: 3, now: 3000 });
  assert.deepEqual(changed, ["app.x", "app.x"]);
});

test("an answer to an earlier question does not hide that to a later one", () => {
  const { views: made } = views();
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.record(key, fresh, { order: 2, now: 1000 });
  made.record(key, failed, { order: 1, now: 2000 });
  assert.deepEqual(stateOf(made)[0], "A fresh 192.0.2.1");
});

test("with a threshold targets and the moment of silence are remembered, without one nothing is", () => {
  const memory = new MapMemory();
  const { views: made } = views(memory);
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.record(key, fresh, { order: 1, now: 1000 });
  assert.equal(memory.entries.size, 0);
  made.add("app.x", { zone: "x", thresholdSeconds: 60 });
  assert.deepEqual([...memory.entries], [["x us app.x A", { targets: ["192.0.2.1"] }]]);
  made.record(key, failed, { order: 2, now: 5000 });
  assert.deepEqual(memory.get(key), { targets: ["192.0.2.1"], unreachableSince: 5000 });

  const restarted = views(memory).views;
  restarted.add("app.x", { zone: "x", thresholdSeconds: 60 });
  restarted.record(key, failed, { order: 1, now: 9000 });
  assert.equal(restarted.of("app.x")[0]?.unreachableSince, 5000);
  assert.deepEqual(restarted.of("app.x")[0]?.targets, ["192.0.2.1"]);

  restarted.remove("app.x");
  assert.equal(memory.entries.size, 0);
});

test("peers that leave the fleet leave the views", () => {
  const { views: made, changed } = views();
  made.add("app.x", { zone: "x", thresholdSeconds: 0 });
  made.setPeers("x", ["za"]);
  assert.deepEqual([...new Set(made.of("app.x").map((view) => view.geoTag))], ["za"]);
  assert.deepEqual(changed, ["app.x"]);
  made.record(key, fresh, { order: 1, now: 1 });
  assert.deepEqual(stateOf(made), ["A unknown ", "AAAA unknown "]);
  made.removeZone("x");
  assert.deepEqual(made.of("app.x"), []);
});
