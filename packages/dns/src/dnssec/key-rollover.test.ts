import assert from "node:assert/strict";
import { test } from "node:test";
import { rdataToText } from "../message/rdata.ts";
import { typeDnskey } from "../message/type-numbers.ts";
import { nameFromText } from "../name/name.ts";
import { apexKeySets, keySetProblem } from "./apex-key-sets.ts";
import { introduceKey, nextKeyChange, scheduleTakeover } from "./key-rollover.ts";
import { chooseDataKeys, chooseSetKeys } from "./record-signer.ts";
import { dnskeyOf, keyFromScalar, keyTagOf, type SigningKey, type SigningKeys } from "./signing-key.ts";

const delays = { dnskeyTtl: 3_600, recordTtlMax: 600, dsTtl: 86_400, propagation: 60 };
const origin = nameFromText("p.test");

function key(number: number, secureEntryPoint: boolean): SigningKey {
  const scalar = new Uint8Array(32).fill(number);
  return keyFromScalar(scalar, { secureEntryPoint, times: { publish: 0, activate: 0 } });
}

const [oldCsk, newCsk, oldZsk, newZsk] = [key(1, true), key(2, true), key(3, false), key(4, false)];
const tag = (one: SigningKey): number => keyTagOf(dnskeyOf(one));
const tags = (keys: readonly SigningKey[]): number[] => keys.map(tag).toSorted((a, b) => a - b);
const sorted = (...keys: SigningKey[]): number[] => tags(keys);
const publishedTags = (keys: SigningKeys, now: number, type: string): number[] =>
  (apexKeySets({ origin, keys, ttl: 60 }, now).find((set) => set.type === type)?.data ?? [])
    .map((text) => (type === "CDS" ? Number(text.split(" ")[0]) : keyTagOf(dnskeyFromText(text))))
    .toSorted((a, b) => a - b);

function dnskeyFromText(text: string): Uint8Array {
  for (const one of [oldCsk, newCsk, oldZsk, newZsk])
    if (rdataToText(typeDnskey, dnskeyOf(one)) === text) return dnskeyOf(one);
  throw new Error(text);
}

test("a CSK waits for its DS and for caches, then takes over, and the old one goes when its signatures have", () => {
  const start = 1_000_000;
  let keys = introduceKey({ own: [oldCsk], foreign: [] }, newCsk, start);
  assert.deepEqual(tags(chooseDataKeys(keys.own, start)), sorted(oldCsk));
  assert.deepEqual(tags(chooseSetKeys(keys.own, start)), sorted(oldCsk, newCsk));
  assert.deepEqual(publishedTags(keys, start, "DNSKEY"), sorted(oldCsk, newCsk));
  assert.deepEqual(publishedTags(keys, start, "CDS"), sorted(oldCsk, newCsk));

  const noDs = { now: start + 10, sightings: { publishedEverywhereAt: start }, delays };
  assert.equal(scheduleTakeover(keys, tag(newCsk), noDs), keys, "without a DS it goes on waiting");
  assert.equal(nextKeyChange(keys, start + 1e9), undefined);

  const sightings = { publishedEverywhereAt: start + 100, dsAt: start + 500 };
  keys = scheduleTakeover(keys, tag(newCsk), { now: start + 600, sightings, delays });
  const takeover = start + 500 + 86_400 + 60;
  assert.equal(nextKeyChange(keys, start + 600), takeover);
  assert.deepEqual(tags(chooseDataKeys(keys.own, takeover - 1)), sorted(oldCsk));
  assert.deepEqual(tags(chooseDataKeys(keys.own, takeover)), sorted(newCsk));
  assert.deepEqual(publishedTags(keys, takeover, "DNSKEY"), sorted(oldCsk, newCsk));
  assert.deepEqual(publishedTags(keys, takeover, "CDS"), sorted(newCsk));

  const gone = takeover + 3_600 + 60;
  assert.equal(nextKeyChange(keys, takeover), gone);
  assert.deepEqual(publishedTags(keys, gone, "DNSKEY"), sorted(newCsk));
  assert.deepEqual(tags(chooseSetKeys(keys.own, gone)), sorted(newCsk));
});

test("a ZSK waits until every cluster has published it for as long as caches hold the key set", () => {
  const start = 1_000_000;
  let keys = introduceKey({ own: [oldCsk, oldZsk], foreign: [] }, newZsk, start);
  assert.deepEqual(tags(chooseDataKeys(keys.own, start)), sorted(oldZsk));
  keys = scheduleTakeover(keys, tag(newZsk), {
    now: start + 700,
    sightings: { publishedEverywhereAt: start + 700 },
    delays,
  });
  const takeover = start + 700 + 3_600 + 60;
  assert.deepEqual(tags(chooseDataKeys(keys.own, takeover - 1)), sorted(oldZsk));
  assert.deepEqual(tags(chooseDataKeys(keys.own, takeover)), sorted(newZsk));
  assert.deepEqual(tags(chooseSetKeys(keys.own, takeover)), sorted(oldCsk));
  assert.deepEqual(publishedTags(keys, takeover, "CDS"), sorted(oldCsk));
});

test("a late decision takes over at once, never in the past", () => {
  let keys = introduceKey({ own: [oldCsk, oldZsk], foreign: [] }, newZsk, 0);
  keys = scheduleTakeover(keys, tag(newZsk), { now: 1e6, sightings: { publishedEverywhereAt: 10 }, delays });
  assert.equal(keys.own.at(-1)!.times.activate, 1e6);
});

test("a key that does not wait cannot take over, and one with the tag of another cannot be introduced", () => {
  const keys = { own: [oldCsk], foreign: [] };
  const options = { now: 10, sightings: { publishedEverywhereAt: 0, dsAt: 0 }, delays };
  assert.throws(() => scheduleTakeover(keys, tag(oldCsk), options), { code: "BadKey" });
  assert.throws(() => scheduleTakeover(keys, 1, options), { code: "BadKey" });
  assert.throws(() => introduceKey(keys, oldCsk, 10), { code: "BadKey" });
});

test("a zone whose keys have all run out is signed on by the last of them, which stays published", () => {
  const lapsed = { ...oldCsk, times: { publish: 0, activate: 0, retire: 10, remove: 20 } };
  assert.deepEqual(tags(chooseDataKeys([lapsed], 1_000)), sorted(oldCsk));
  assert.deepEqual(publishedTags({ own: [lapsed], foreign: [] }, 1_000, "DNSKEY"), sorted(oldCsk));
});

test("the keys of other clusters are published, and their DS asked for when they want it", () => {
  const foreign = [
    { dnskey: dnskeyOf(newCsk), wantsDs: true },
    { dnskey: dnskeyOf(newZsk), wantsDs: false },
  ];
  const keys = { own: [oldCsk], foreign };
  assert.deepEqual(publishedTags(keys, 1, "DNSKEY"), sorted(oldCsk, newCsk, newZsk));
  assert.deepEqual(publishedTags(keys, 1, "CDS"), sorted(oldCsk, newCsk));
  assert.deepEqual(publishedTags(keys, 1, "CDNSKEY"), sorted(oldCsk, newCsk));
});

test("without a key for a DS there is no CDS set: least of all one that ends the delegation's security", () => {
  const sets = apexKeySets({ origin, keys: { own: [oldZsk], foreign: [] }, ttl: 60 }, 1);
  assert.deepEqual(
    sets.map(({ type }) => type),
    ["DNSKEY"],
  );
});

test("three clusters in a roll-over of both kinds fit a datagram, and a dozen keys do not", () => {
  const foreign = (count: number): { dnskey: Uint8Array; wantsDs: boolean }[] =>
    Array.from({ length: count }, (_, index) => ({ dnskey: dnskeyOf(key(10 + index, true)), wantsDs: true }));
  const own = [oldCsk, newCsk, oldZsk, newZsk];
  assert.equal(keySetProblem({ origin, keys: { own, foreign: foreign(4) }, ttl: 60 }, 1), undefined);
  assert.match(
    keySetProblem({ origin, keys: { own, foreign: foreign(9) }, ttl: 60 }, 1)!,
    /13 keys, over 1232/,
  );
});
