import assert from "node:assert/strict";
import { test } from "node:test";
import { writeMmdb } from "../testdata/mmdb-writer.ts";
import { GeoSelector } from "./geo-selector.ts";
import { GeoSource, type GeoProblem, type WatchedFile } from "./geo-source.ts";
import { geoTagId } from "./geo-tag.ts";

class FakeFile implements WatchedFile {
  readonly path: string;
  content: Uint8Array | undefined;
  failure: Error | undefined;
  /** What writes into the file while it is read. */
  meanwhile: (() => void) | undefined;
  #version = 0;

  constructor(path: string) {
    this.path = path;
  }

  write(content: Uint8Array | string | undefined): void {
    this.content = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.#version++;
  }

  stamp(): Promise<string | undefined> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve(this.content === undefined ? undefined : String(this.#version));
  }

  read(): Promise<Uint8Array> {
    const { content, meanwhile } = this;
    this.meanwhile = undefined;
    meanwhile?.();
    return content === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve(content);
  }
}

const databaseOf = (datacenter: string): Uint8Array =>
  writeMmdb({ ipVersion: 4, recordBits: 24, networks: { "192.0.0.0/8": { datacenter } } });

interface World {
  readonly database: FakeFile;
  readonly map: FakeFile;
  readonly source: GeoSource;
  readonly problems: GeoProblem[][];
  states(): number;
  /** The group that a client in 192.0.0.0/8 gets of eu and us; both where it gets both. */
  chosen(): string;
}

function open(): World {
  const database = new FakeFile("/geo.mmdb");
  const map = new FakeFile("/geo.yaml");
  const selector = new GeoSelector();
  const problems: GeoProblem[][] = [];
  let states = 0;
  const clock = { sleep: () => Promise.resolve() };
  const source = new GeoSource(
    { clock },
    {
      fields: ["datacenter"],
      database,
      map,
      onState: (state) => {
        states++;
        selector.update(state);
      },
      onProblems: (found) => void problems.push([...found]),
    },
  );
  const set = {
    ...{ count: 2, byTag: true, tags: Int32Array.of(geoTagId("eu"), geoTagId("us")), tagsAt: 0 },
    ...{ octets: new Uint8Array(), addressAt: 0, stride: 0, octetCount: 0 as const },
  };
  const client = { octets: Uint8Array.of(192, 0, 2, 1), at: 0, octetCount: 4 as const };
  const chosen = (): string => {
    const { indexes, count } = selector.select(set, client);
    return [...indexes.subarray(0, count)].map((index) => ["eu", "us"][index]).join();
  };
  return { database, map, source, problems, states: () => states, chosen };
}

test("G-06: files are read when they change, and only then", async () => {
  const world = open();
  world.database.write(databaseOf("eu"));
  world.map.write("");
  await world.source.refresh();
  assert.equal(world.chosen(), "eu");
  const before = world.states();
  await world.source.refresh();
  assert.equal(world.states(), before);
  world.database.write(databaseOf("us"));
  await world.source.refresh();
  assert.equal(world.chosen(), "us");
  world.map.write("networks: { 192.0.2.0/24: eu }");
  await world.source.refresh();
  assert.equal(world.chosen(), "eu");
  assert.deepEqual(world.problems, []);
  assert.deepEqual(
    [
      world.source.status.databaseType,
      world.source.status.databaseBuildEpochSeconds,
      world.source.status.mapEntries,
    ],
    ["Test", 1_700_000_000, 1],
  );
});

test("G-06: a missing file is a problem told once, and all targets are answered until it is there", async () => {
  const world = open();
  await world.source.refresh();
  await world.source.refresh();
  assert.equal(world.chosen(), "eu,us");
  assert.deepEqual(
    world.problems.map((found) => found.map(({ reason }) => reason)),
    [["DatabaseMissing", "MapMissing"]],
  );
  assert.match(world.problems[0]![0]!.message, /\/geo\.mmdb is not there; answers hold all targets/);
  world.database.write(databaseOf("eu"));
  world.map.write("");
  await world.source.refresh();
  assert.deepEqual(world.problems.at(-1), []);
  assert.equal(world.chosen(), "eu");
});

test("G-06: what was good stays when a file goes, is damaged, half written or unreadable", async () => {
  const world = open();
  world.database.write(databaseOf("eu"));
  world.map.write("");
  await world.source.refresh();
  const us = databaseOf("us");
  const bad: readonly (readonly [() => void, string])[] = [
    [() => world.database.write(us.slice(0, us.length / 2)), "DatabaseUnusable"],
    [() => world.database.write(undefined), "DatabaseMissing"],
    [() => (world.database.failure = new Error("permission denied")), "DatabaseMissing"],
  ];
  for (const [damage, reason] of bad) {
    damage();
    await world.source.refresh();
    assert.equal(world.chosen(), "eu", reason);
    assert.deepEqual(
      world.problems.at(-1)?.map((problem) => problem.reason),
      [reason],
    );
    assert.match(world.problems.at(-1)![0]!.message, /the last good one stays in use/);
  }
  world.map.write("networks: { 192.0.2.0/24: us }");
  await world.source.refresh();
  assert.equal(world.chosen(), "us", "a change of the map counts while the database is gone");
  world.map.write("networks: { 192.0.2.0: }");
  await world.source.refresh();
  assert.equal(world.chosen(), "us");
  assert.match(
    world.problems.at(-1)![1]!.message,
    /\/geo\.yaml cannot be used: line 1: 192\.0\.2\.0 must be/,
  );
});

test("a file that is written while it is read is read again", async () => {
  const world = open();
  world.map.write("");
  const us = databaseOf("us");
  world.database.write(databaseOf("eu"));
  world.database.meanwhile = () => world.database.write(us);
  await world.source.refresh();
  assert.equal(world.chosen(), "eu,us");
  await world.source.refresh();
  assert.equal(world.chosen(), "us");
  assert.deepEqual(world.problems, []);
});
