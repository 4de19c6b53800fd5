import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, silentLogger, type Clock } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { Authority } from "../server/authority.ts";
import { createRequestPipeline } from "../server/request-pipeline.ts";
import { loadZone } from "../testdata/case-zone.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { composeUpdate, type UpdateChange } from "./compose-update.ts";
import { SeenUpdates } from "./seen-updates.ts";
import { UpdateServer } from "./update-server.ts";

const key = parseTsigKey({ name: "k", algorithm: "hmac-sha256", secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=" });
const name = "www.u.test";
const add: UpdateChange = { kind: "add", name, type: "A", ttl: 60, data: "192.0.2.9" };
const remove: UpdateChange = { kind: "deleteRecord", name, type: "A", data: "192.0.2.9" };

test("a captured update that is sent again is answered as it was, and changes nothing", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  const { clock } = runtime;
  const zone = loadZone(
    "$ORIGIN u.test.\n@ 60 SOA ns h 1 60 60 60 60\n@ 60 NS ns\nns 60 A 192.0.2.1\nwww 60 A 192.0.2.2\n",
  );
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const rules = [{ key: "k", match: "subdomain", types: ["A"] }] as const;
  const updates = await sim.complete(
    UpdateServer.open(runtime, { authority, zones: [{ zone, journal: "u.test", rules }] }),
  );
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
  const signed = (change: UpdateChange): SignedRequest =>
    new SignedRequest(composeUpdate({ zone: "u.test", prerequisites: [], changes: [change] }), {
      key,
      clock,
      offsetSeconds: 0,
    });
  const first = signed(add);
  const answers = await sim.complete(
    Promise.all([send(first.message), send(first.message), send(signed(remove).message)]),
  );
  assert.deepEqual(
    answers.map((answer) => answer[3]! & 15),
    [0, 0, 0],
  );
  const { serial } = zone;
  assert.equal(serial, 3, "the copy that came with the first made no step");
  // Its header may be another: the signature is of the id inside it.
  const renamed = first.message.slice();
  renamed[0]! ^= 0x55;
  for (const replay of [first.message, renamed]) {
    const answer = await sim.complete(send(replay));
    assert.deepEqual([answer[0], answer[3]! & 15], [replay[0], 0]);
  }
  assert.equal(first.verifyNext(await sim.complete(send(first.message))).kind, "verified");
  assert.equal(zone.serial, serial);
  assert.deepEqual(zone.recordSetsOf(name)[0]?.data, ["192.0.2.2"]);
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
