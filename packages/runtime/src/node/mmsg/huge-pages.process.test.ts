import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { HugePages } from "./huge-pages.ts";
import { mmsgAvailability } from "./mmsg-availability.ts";

const octets = 2 ** 23;
const setting = "/sys/kernel/mm/transparent_hugepage/enabled";
const availability = mmsgAvailability();
const skip = availability.available ? false : availability.reason;

function growable(): SharedArrayBuffer & { grow(octets: number): void } {
  const memory = Reflect.construct(SharedArrayBuffer, [octets, { maxByteLength: 4 * octets }]) as unknown;
  return memory as SharedArrayBuffer & { grow(octets: number): void };
}

function hugeKibibytes(): number {
  return Number(/AnonHugePages:\s+(\d+)/.exec(readFileSync("/proc/self/smaps_rollup", "utf8"))?.[1]);
}

function isOffered(): boolean {
  try {
    return /\[(madvise|always)\]/.test(readFileSync(setting, "utf8"));
  } catch {
    return false;
  }
}

test("memory that is gathered has what it had, and so has what is added to it", { skip }, () => {
  const memory = growable();
  const written = Int32Array.from({ length: octets / 4 }, (_, index) => index * 7);
  new Int32Array(memory).set(written);
  const pages = new HugePages(memory);
  let steps = 0;
  while (!pages.areGathered) {
    pages.gather();
    assert.ok(++steps <= octets / 2 ** 21, "no more steps than huge pages fit");
  }
  memory.grow(2 * octets);
  new Int32Array(memory, octets).set(written);
  assert.deepEqual(new Int32Array(memory, 0, octets / 4), written);
  assert.deepEqual(new Int32Array(memory, octets), written);
});

test("small memory has nothing to gather", { skip }, () => {
  const memory = new SharedArrayBuffer(65_536);
  assert.equal(new HugePages(memory).areGathered, true);
});

test(
  "the kernel gives huge pages to what grows",
  { skip: skip || (isOffered() ? false : `${setting} offers none`) },
  () => {
    const before = hugeKibibytes();
    const memory = growable();
    const pages = new HugePages(memory);
    memory.grow(4 * octets);
    new Int32Array(memory).fill(1);
    assert.ok(hugeKibibytes() > before);
    assert.equal(pages.areGathered, false);
  },
);
