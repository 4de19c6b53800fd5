import assert from "node:assert/strict";
import { test } from "node:test";
import {
  dnskeyOf,
  generateKey,
  parseTsigKeyFile,
  type DnsQuestion,
  type ForeignKey,
  type Verdict,
} from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import { PeerKeyFeeder } from "./peer-key-feeder.ts";

const zone = "cloud.example.com";
const tsig = parseTsigKeyFile(
  'key "meridian-peers" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };',
);

test("peers are asked only with the key that they share, and what one said last stands while it is silent", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const peerKey = dnskeyOf(
    generateKey(runtime.random, { secureEntryPoint: true, times: { publish: 0, activate: 0 } }),
  );
  const asked: DnsQuestion[] = [];
  let isSilent = false;
  const foreign: (readonly ForeignKey[])[] = [];
  const peerKeys = new PeerKeyFeeder(runtime, {
    dnsClient: {
      query: async (question): Promise<Verdict> => {
        asked.push(question);
        if (isSilent) return { state: "unreachable", reason: "silence" };
        const data = `257 3 13 ${Buffer.from(peerKey.subarray(4)).toString("base64")}`;
        const record = { name: question.name, type: question.type, ttl: 60, data };
        return { state: "answered", outcome: "data", records: [record] } as unknown as Verdict;
      },
    },
    signed: { origins: [zone], setForeign: (_origin, keys) => void foreign.push(keys) },
    peers: () => [
      { geoTag: "us", servers: [{ address: "10.0.0.2", port: 53 }] },
      { geoTag: "za", servers: [] },
    ],
    deadlineMs: 1000,
    periodMs: 1000,
  });
  const stop = new AbortController();
  void peerKeys.run(stop.signal);
  await simulation.run({ untilMs: 500 });
  assert.equal(asked.length, 0, "without the key nobody is asked");
  peerKeys.setKeys(tsig);
  await simulation.run({ untilMs: 1500 });
  assert.deepEqual(
    [...new Set(asked.map(({ name, key }) => `${name} ${key?.name}`))],
    ["_meridian-keys.cloud.example.com meridian-peers"],
  );
  assert.deepEqual(
    foreign.at(-1)?.map(({ wantsDs }) => wantsDs),
    [true],
  );
  isSilent = true;
  await simulation.run({ untilMs: 2500 });
  assert.equal(foreign.at(-1)?.length, 1);
  stop.abort();
});
