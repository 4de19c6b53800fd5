import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, silentLogger, type Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { parseMessage } from "../message/message.ts";
import { createRequestPipeline } from "../server/request-pipeline.ts";
import { authorityOf, caseZoneText, loadZone, question } from "../testdata/case-zone.ts";
import { mutate, seededIntegers } from "../testdata/mutator.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import type { Zone } from "../zone/zone.ts";
import { composeUpdate } from "./compose-update.ts";
import { UpdateServer } from "./update-server.ts";

const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const packets = Number(process.env["FUZZ_PACKETS"] ?? 4_000);
const key = parseTsigKey({
  name: "k",
  algorithm: "hmac-sha256",
  secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
});
const rules = [{ key: "k", match: "subdomain", types: ["ANY"] }] as const;

const updates = [
  composeUpdate({
    zone: "p.test",
    prerequisites: [
      { kind: "nameInUse", name: "www.p.test" },
      { kind: "setAbsent", name: "x.p.test", type: "A" },
      { kind: "setEquals", name: "www.p.test", type: "A", data: ["192.0.2.1", "192.0.2.2"] },
    ],
    changes: [{ kind: "add", name: "x.p.test", type: "A", ttl: 5, data: "192.0.2.9" }],
  }),
  composeUpdate({
    zone: "p.test",
    prerequisites: [],
    changes: [
      { kind: "add", name: "y.p.test", type: "MX", ttl: 5, data: "10 www.p.test." },
      { kind: "add", name: "p.test", type: "NS", ttl: 5, data: "ns3.p.test." },
      { kind: "deleteRecord", name: "p.test", type: "NS", data: "ns1.p.test." },
      { kind: "deleteSet", name: "y.p.test", type: "MX" },
    ],
  }),
  composeUpdate({
    zone: "p.test",
    prerequisites: [],
    changes: [
      { kind: "add", name: "p.test", type: "SOA", ttl: 5, data: "a.p.test. b.p.test. 4000000 1 2 3 4" },
      { kind: "add", name: "c.p.test", type: "CNAME", ttl: 5, data: "www.p.test." },
      { kind: "add", name: "t.p.test", type: "TXT", ttl: 5, data: '"a" "b"' },
      { kind: "deleteName", name: "t.p.test" },
      { kind: "deleteName", name: "p.test" },
    ],
  }),
];

async function open(runtime: Runtime): Promise<{ readonly zone: Zone; readonly server: UpdateServer }> {
  const zone = loadZone(caseZoneText);
  const authority = { zone: () => undefined };
  return {
    zone,
    server: await UpdateServer.open(runtime, { authority, zones: [{ zone, journal: "j", rules }] }),
  };
}

test(`${packets} mutated updates (seed ${seed}) have one answer each, leave a whole zone, and are the same after a restart`, async () => {
  const sim = new Simulation({ seed });
  const node = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  const { zone, server } = await sim.complete(open(node.runtime));
  const integer = seededIntegers(seed);
  const client = new ReusedClient("tcp", { address: "10.0.0.9", port: 4_000 });
  const { signal } = new AbortController();
  const rcodes = new Set<number>();
  for (let index = 0; index < packets; index++) {
    const message = mutate(updates, integer);
    if (message.length < 12) continue;
    const told = `packet ${index}: ${Buffer.from(message).toString("hex")}`;
    const { serial } = zone;
    const answers: Uint8Array[] = [];
    await sim.complete(
      (async () => {
        const request = { message, client, key: "k", octetsMax: 65_535, signal };
        for await (const answer of server.handle(request)) answers.push(answer);
      })(),
    );
    assert.equal(answers.length, 1, told);
    const { response, rcode } = parseMessage(answers[0]!);
    assert.ok(response, told);
    rcodes.add(rcode);
    assert.ok(zone.nameServers.length > 0, told);
    assert.ok(zone.serial === serial || rcode === 0, told);
  }
  for (const rcode of [0, 1, 3, 7, 8, 10]) assert.ok(rcodes.has(rcode), `no packet had rcode ${rcode}`);
  const again = await sim.complete(open(node.restart()));
  assert.deepEqual([...again.zone.recordSets()], [...zone.recordSets()]);
});

test(`${packets} mutated signed messages (seed ${seed}) are verified only where nothing changed, and are always answered`, async () => {
  const sim = new Simulation({ seed });
  const { clock } = sim.node({ name: "server", addresses: ["10.0.0.1"] }).runtime;
  const authority = authorityOf([caseZoneText]);
  const verified: Uint8Array[] = [];
  const pipeline = createRequestPipeline({
    clock,
    log: { ...silentLogger, error: (message, fields) => assert.fail(`${message} ${JSON.stringify(fields)}`) },
    keyring: new TsigKeyring([key]),
    authority,
    async *update({ message, key: by }) {
      if (by !== undefined) verified.push(message);
      yield message.slice(0, 12);
    },
  });
  const sent = [...updates, question("www.p.test", "A", { edns: true }), question("p.test", "AXFR")];
  const corpus = sent.map((message) => new SignedRequest(message, { key, clock }).message);
  const integer = seededIntegers(seed);
  const client = new ReusedClient("udp", { address: "10.0.0.9", port: 4_000 });
  const { signal } = new AbortController();
  for (let index = 0; index < packets; index++) {
    const message = mutate(corpus, integer);
    if (message.length < 12 || (message[2]! & 0x80) !== 0) continue;
    let answers = 0;
    for await (const answer of pipeline.handle({ message, client, signal })) {
      answers++;
      assert.ok(answer.length >= 12 && answer.length <= 1232);
    }
    assert.equal(answers, 1, `packet ${index}: ${Buffer.from(message).toString("hex")}`);
  }
  // The id stands in the signature, so it alone may differ.
  for (const message of verified)
    assert.ok(updates.some((update) => Buffer.from(update.slice(2)).equals(message.slice(2))));
});
