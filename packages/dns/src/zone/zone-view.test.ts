import assert from "node:assert/strict";
import test from "node:test";
import { nameFromText } from "../name/name.ts";
import type { RecordSet } from "./record-set.ts";
import { Zone } from "./zone.ts";

const soa = { mname: "ns.z", rname: "h.z", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1, ttl: 1 };

/** How many words of a zone's memory are read to find each of some names that are there, and of some that are not. */
function wordsRead(count: number): readonly number[] {
  const zone = new Zone({ origin: "z", soa, nameServers: ["ns.z"], nameServerTtl: 1 });
  const names = Array.from({ length: count }, (_, index) => `app-${index}.team-${index % 100}.z`);
  const data = ["192.0.2.1"];
  zone.replace(
    new Map(names.map((name): [string, RecordSet[]] => [name, [{ name, type: "A", ttl: 5, data }]])),
  );
  const { view } = zone.tree;
  let reads = 0;
  view.words = new Proxy(view.words, {
    get: (words, key) => {
      reads += 1;
      return Reflect.get(words, key) as unknown;
    },
  });
  const readFor = (text: string, types: readonly number[] | undefined): number => {
    const name = nameFromText(text);
    reads = 0;
    assert.deepEqual(view.typesAt(name), types, text);
    return reads;
  };
  const step = Math.max(1, Math.floor(count / 1_000));
  const sample = names.filter((_, index) => index % step === 0);
  return [
    ...sample.map((name) => readFor(name, [1])),
    ...sample.map((name) => readFor(`no-${name}`, undefined)),
  ];
}

test("C-01: a name is found as fast among 100,000 as among 100, in a few words of memory", () => {
  const mean = (numbers: readonly number[]): number =>
    numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const [few, many] = [wordsRead(100), wordsRead(100_000)];
  assert.ok(mean(many) < 2 * mean(few), `${mean(many)} words of 100,000 names, ${mean(few)} of 100`);
  assert.ok(Math.max(...many) < 200, `${Math.max(...many)} words for one name`);
});
