import assert from "node:assert/strict";
import test from "node:test";
import type { Disk, LogFields, Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { concatenate } from "../message/octets.ts";
import { loadZone } from "../testdata/case-zone.ts";
import type { Zone } from "../zone/zone.ts";
import { encodeEntry, type JournalEntry, type JournalHead } from "./journal-entry.ts";
import { replayJournal } from "./journal-replay.ts";
import { UpdateServer } from "./update-server.ts";

const path = "zones/u.test.journal";
const file = (): Zone =>
  loadZone("$ORIGIN u.test.\n$TTL 60\n@ SOA ns host 1 60 60 60 60\n@ NS ns\nns A 192.0.2.1\n");
const head: JournalHead = { format: "meridian update journal 1", origin: "u.test", baseSerial: 1 };
const change = (index: number): JournalEntry => {
  const name = `n${index % 1_000}.u.test`;
  const set = { name, type: "A", ttl: 60, data: [`192.0.2.${index % 250}`] };
  return { serial: 2 + index, owners: [[name, [set]]] };
};

/** A runtime whose clock goes on by 3 ms whenever it is read, as it does in work. */
function busy(
  sim: Simulation,
  runtime: Runtime,
): { readonly runtime: Runtime; readonly lines: LogFields[]; readonly turns: () => number } {
  const lines: LogFields[] = [];
  let aheadMs = 0;
  let turns = 0;
  const { clock, log } = runtime;
  return {
    lines,
    turns: () => turns,
    runtime: {
      ...runtime,
      log: { ...log, info: (_message, fields = {}) => lines.push(fields) },
      clock: {
        now: () => clock.now(),
        after: (ms, callback) => clock.after(ms, callback),
        monotonicMs: () => sim.nowMs + (aheadMs += 3),
        sleep: (ms, signal) => (turns++, clock.sleep(ms, signal)),
      },
    },
  };
}

async function written(disk: Disk, ...entries: readonly (JournalHead | JournalEntry)[]): Promise<Uint8Array> {
  const content = concatenate(entries.map(encodeEntry));
  await disk.replace(path, content);
  return content;
}

const many = Array.from({ length: 5_000 }, (_, index) => change(index));

test("a large journal is replayed in turns, says how far it is, and has the last of each owner", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "a", addresses: ["10.0.0.1"] });
  await sim.complete(written(runtime.disk, head, ...many));
  const world = busy(sim, runtime);
  const zone = file();
  const { owners } = await sim.complete(replayJournal(world.runtime, { path, zone }));
  assert.equal(owners.size, 1_000);
  assert.equal(zone.serial, 5_001);
  for (const index of [4_000, 4_321, 4_999])
    assert.deepEqual(zone.recordSetsOf(`n${index % 1_000}.u.test`)[0]?.data, [`192.0.2.${index % 250}`]);
  assert.ok(world.turns() > 1_000, `${world.turns()} turns`);
  assert.ok(world.lines.length >= 2, "progress is told");
  assert.deepEqual(Object.keys(world.lines[0]!), ["path", "zone", "octetsRead", "ofOctets"]);
});

test("a replay ends when it is told to, and has written nothing", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "a", addresses: ["10.0.0.1"] });
  const content = await sim.complete(written(runtime.disk, head, ...many));
  const world = busy(sim, runtime);
  const stop = new AbortController();
  runtime.clock.after(5, () => stop.abort(new Error("told to stop")));
  const updates = await sim.complete(
    UpdateServer.open(world.runtime, { authority: { zone: () => undefined }, zones: [] }),
  );
  const added = updates.add({ zone: file(), journal: path, rules: [] }, stop.signal);
  await assert.rejects(sim.complete(added), /told to stop/);
  assert.ok(world.turns() < 1_000, `${world.turns()} turns`);
  assert.deepEqual(await sim.complete(runtime.disk.read(path)), content);
});

test("a check reads a journal as a start does, tells what it would say, and writes nothing", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "a", addresses: ["10.0.0.1"] });
  const { disk } = runtime;
  const check = (zone = file()): ReturnType<typeof UpdateServer.checkJournal> =>
    sim.complete(UpdateServer.checkJournal(runtime, { path, zone }));
  assert.deepEqual(await sim.complete(disk.read(path)), undefined);
  assert.equal((await check()).wholeOctets, 0);
  assert.deepEqual(await sim.complete(disk.read(path)), undefined, "none was made");

  const whole = await sim.complete(written(disk, head, change(1), change(2)));
  const zone = file();
  assert.equal((await check(zone)).tornOctets, 0);
  assert.equal(zone.serial, 4);

  const firstOctets = encodeEntry(head).length;
  const damaged = whole.slice();
  damaged[firstOctets + 20]! ^= 1;
  const strange = Uint8Array.of(
    ...encodeEntry(head),
    ...encodeEntry({
      serial: 2,
      owners: [["x.u.test", [{ name: "x.u.test", type: "A", ttl: 1, data: ["no"] }]]],
    }),
  );
  const cases = [
    [whole.slice(0, -3), undefined],
    [damaged, new RegExp(`${path} of zone u.test is damaged at octet ${firstOctets} of ${whole.length}`)],
    [strange, /one of its records is nothing that zone u.test can hold/],
  ] as const;
  for (const [content, message] of cases) {
    await sim.complete(disk.replace(path, content));
    if (message === undefined) {
      const lastOctets = encodeEntry(change(2)).length;
      const { wholeOctets, tornOctets } = await check();
      assert.deepEqual([wholeOctets, tornOctets], [whole.length - lastOctets, lastOctets - 3]);
    } else {
      await assert.rejects(check(), (error: Error & { code?: string }) => {
        assert.equal(error.code, "BadJournal");
        assert.match(error.message, message);
        return true;
      });
    }
    assert.deepEqual(await sim.complete(disk.read(path)), content);
  }
});
