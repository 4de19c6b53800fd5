import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, silentLogger, type Clock, type Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { Authority } from "../server/authority.ts";
import { createRequestPipeline } from "../server/request-pipeline.ts";
import { loadZone } from "../testdata/case-zone.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import type { Zone } from "../zone/zone.ts";
import { composeUpdate, type UpdateChange } from "./compose-update.ts";
import { SeenUpdates } from "./seen-updates.ts";
import { UpdateServer } from "./update-server.ts";

const key = parseTsigKey({ name: "k", algorithm: "hmac-sha256", secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=" });
const name = "www.u.test";
const add: UpdateChange = { kind: "add", name, type: "A", ttl: 60, data: "192.0.2.9" };
const remove: UpdateChange = { kind: "deleteRecord", name, type: "A", data: "192.0.2.9" };

const fileText =
  "$ORIGIN u.test.\n@ 60 SOA ns h 1 60 60 60 60\n@ 60 NS ns\nns 60 A 192.0.2.1\nwww 60 A 192.0.2.2\n";
const rules = [{ key: "k", match: "subdomain", types: ["A", "TXT"] }] as const;

/** A server over the zone's file and the journal as they are on the disk, and what sends messages to it. */
async function serve(
  runtime: Runtime,
  text = fileText,
): Promise<{ readonly zone: Zone; readonly send: (message: Uint8Array) => Promise<Uint8Array> }> {
  const { clock } = runtime;
  const zone = loadZone(text);
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const zones = [{ zone, journal: "u.test", rules }];
  const updates = await UpdateServer.open(runtime, { authority, zones });
  const pipeline = createRequestPipeline({
    ...{ clock, log: silentLogger, authority, keyring: new TsigKeyring([key]) },
    update: updates.handle,
  });
  const send = async (message: Uint8Array): Promise<Uint8Array> => {
    const client = new ReusedClient("udp", { address: "10.0.0.9", port: 4_000 });
    for await (const answer of pipeline.handle({ message, client, signal: new AbortController().signal }))
      return answer;
    throw new Error("there is no answer");
  };
  return { zone, send };
}

const signedAt = (clock: Clock, update: Partial<Parameters<typeof composeUpdate>[0]>): SignedRequest =>
  new SignedRequest(composeUpdate({ zone: "u.test", prerequisites: [], changes: [], ...update }), {
    key,
    clock,
    offsetSeconds: 0,
  });
const rcodeOf = (answer: Uint8Array): number => answer[3]! & 15;

test("a captured update that is sent again is answered as it was, and changes nothing", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  const { zone, send } = await sim.complete(serve(runtime));
  const first = signedAt(runtime.clock, { changes: [add] });
  const answers = await sim.complete(
    Promise.all([
      send(first.message),
      send(first.message),
      send(signedAt(runtime.clock, { changes: [remove] }).message),
    ]),
  );
  assert.deepEqual(answers.map(rcodeOf), [0, 0, 0]);
  const { serial } = zone;
  assert.equal(serial, 3, "the copy that came with the first made no step");
  // Its header may be another: the signature is of the id inside it.
  const renamed = first.message.slice();
  renamed[0]! ^= 0x55;
  for (const replay of [first.message, renamed]) {
    const answer = await sim.complete(send(replay));
    assert.deepEqual([answer[0], rcodeOf(answer)], [replay[0], 0]);
  }
  assert.equal(first.verifyNext(await sim.complete(send(first.message))).kind, "verified");
  assert.equal(zone.serial, serial);
  assert.deepEqual(zone.recordSetsOf(name)[0]?.data, ["192.0.2.2"]);
});

test("a restart does not make a captured update new: neither one that was made, nor one that was not", async () => {
  const sim = new Simulation({ seed: 2 });
  const node = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  let { runtime } = node;
  let { zone, send } = await sim.complete(serve(runtime));
  const made = signedAt(runtime.clock, { changes: [add] });
  const unchanged = signedAt(runtime.clock, {
    changes: [{ kind: "add", name, type: "A", ttl: 60, data: "192.0.2.2" }],
  });
  const unmet = signedAt(runtime.clock, {
    prerequisites: [{ kind: "nameNotInUse", name }],
    changes: [add],
  });
  const captured = [made, unchanged, unmet];
  const yxDomain = 6;
  for (const [index, { message }] of captured.entries())
    assert.equal(rcodeOf(await sim.complete(send(message))), [0, 0, yxDomain][index]);
  const deletion = signedAt(runtime.clock, { changes: [{ kind: "deleteName", name }] });
  assert.equal(rcodeOf(await sim.complete(send(deletion.message))), 0);
  const { serial } = zone;
  for (const how of ["power", "process"] as const) {
    node.crash(how);
    runtime = node.restart();
    ({ zone, send } = await sim.complete(serve(runtime)));
    for (const [index, { message }] of captured.entries())
      assert.equal(rcodeOf(await sim.complete(send(message))), [0, 0, yxDomain][index]);
    assert.deepEqual([zone.serial, zone.recordSetsOf(name)], [serial, []]);
  }
});

test("what is known outlasts another file below a journal without changes, and compacting", async () => {
  const sim = new Simulation({ seed: 3 });
  const node = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  let { runtime } = node;
  let { zone, send } = await sim.complete(serve(runtime));
  const unmet = signedAt(runtime.clock, {
    prerequisites: [{ kind: "nameNotInUse", name }],
    changes: [add],
  });
  assert.equal(rcodeOf(await sim.complete(send(unmet.message))), 6);
  const other = fileText.replace(" 1 60", " 9 60").replace(/www.*\n/, "");
  for (let start = 0; start < 2; start++) {
    node.crash("process");
    runtime = node.restart();
    ({ zone, send } = await sim.complete(serve(runtime, other)));
    assert.equal(rcodeOf(await sim.complete(send(unmet.message))), 6);
    assert.deepEqual([zone.serial, zone.recordSetsOf(name)], [9, []]);
  }
  const text = `"${"x".repeat(250)}"`;
  let sizeMax = 0;
  for (let round = 0; round < 60; round++) {
    const changes = Array.from({ length: 80 }, (_, index) => [
      { kind: "deleteSet" as const, name: `t${index}.u.test`, type: "TXT" },
      { kind: "add" as const, name: `t${index}.u.test`, type: "TXT", ttl: round, data: text },
    ]).flat();
    assert.equal(rcodeOf(await sim.complete(send(signedAt(runtime.clock, { changes }).message))), 0);
    await sim.run({ untilMs: sim.nowMs + 100 });
    sizeMax = Math.max(sizeMax, (await sim.complete(runtime.disk.read("u.test")))!.length);
  }
  const size = (await sim.complete(runtime.disk.read("u.test")))!.length;
  assert.ok(size < sizeMax, `${size} is not smaller than ${sizeMax}: it was compacted`);
  node.crash("process");
  runtime = node.restart();
  ({ zone, send } = await sim.complete(serve(runtime, other)));
  assert.equal(rcodeOf(await sim.complete(send(unmet.message))), 6);
  assert.deepEqual(zone.recordSetsOf(name), []);
});

const clockAt = (seconds: number): Clock => ({
  now: () => seconds * 1000,
  monotonicMs: () => 0,
  sleep: async () => {},
  after: () => () => {},
});
const signature = (
  number: number,
  validUntilSeconds: number,
): { mac: Uint8Array; validUntilSeconds: number } => ({
  mac: Uint8Array.of(number >>> 16, number >>> 8, number),
  validUntilSeconds,
});

test("what failed by a fault is made again", async () => {
  const seen = new SeenUpdates(clockAt(100));
  let made = 0;
  const make = async (): Promise<number> => {
    if (made++ === 0) throw new Error("the client has left");
    return made === 2 ? 2 : 0;
  };
  await assert.rejects(seen.once(signature(1, 400), make));
  for (const expected of [2, 0, 0]) assert.equal(await seen.once(signature(1, 400), make), expected);
  assert.equal(made, 3);
});

test("what is remembered is bounded, and what has run out makes room first", async () => {
  const seen = new SeenUpdates(clockAt(100));
  let made = 0;
  const make = async (): Promise<number> => (made++, 0);
  for (let number = 0; number < 20_000; number++) await seen.once(signature(number, 400), make);
  assert.equal(made, 20_000);
  await seen.once(signature(19_999, 400), make);
  await seen.once(signature(4_000, 400), make);
  assert.equal(made, 20_000, "the last 16,384 are known");
  await seen.once(signature(1, 400), make);
  assert.equal(made, 20_001, "the oldest are not");
});
