import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import fc from "fast-check";
import { readingOf } from "../client/object-reading.ts";
import { OctetArena } from "./octet-arena.ts";
import type { RawObject } from "./raw-object.ts";

const object = (name: string, size: number): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "n", uid: `uid of ${name}`, resourceVersion: String(size + 1) },
  data: { text: "é".repeat(size) },
});

const newArena = (): OctetArena<ConfigMap> => new OctetArena((value) => value);

test("whatever comes and goes, what is held stays what it was", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ name: fc.nat(20), size: fc.nat(9_000), keep: fc.boolean() }), { maxLength: 300 }),
      (steps) => {
        const arena = newArena();
        const held = new Map<string, { raw: RawObject<ConfigMap>; value: ConfigMap }>();
        for (const { name, size, keep } of steps) {
          const key = `o${name}`;
          const before = held.get(key);
          held.delete(key);
          if (before !== undefined) arena.release(before.raw);
          const value = object(key, size);
          const raw = arena.put(readingOf(value));
          if (keep) held.set(key, { raw, value });
          else arena.release(raw);
        }
        for (const { raw, value } of held.values()) {
          assert.deepEqual(raw.decode(), value);
          assert.ok(raw.isStateOf(readingOf(value)));
          assert.equal(raw.resourceVersion, value.metadata.resourceVersion);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a copy whose objects are replaced for ever takes no more memory than at first, and little more than its JSON", () => {
  const arena = newArena();
  const size = 700;
  const octets = readingOf(object("o0000", size)).octets.length;
  const objects = Array.from({ length: 2000 }, (_, at) =>
    arena.put(readingOf(object(`o${String(at).padStart(4, "0")}`, size))),
  );
  const least = octets * objects.length;
  assert.ok(arena.bytes < least * 1.15, `${arena.bytes} for ${least} at first`);
  let seed = 1;
  for (let round = 0; round < 20_000; round++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const at = seed % objects.length;
    const before = objects[at] as RawObject<ConfigMap>;
    objects[at] = arena.put(readingOf(object(before.key.slice(2), size)));
    arena.release(before);
  }
  // 1 MiB of spare slabs, and the holes that are not worth filling yet.
  assert.ok(
    arena.bytes < least * 1.35 + 2 ** 20,
    `${arena.bytes} for ${least} after ten times as many changes`,
  );
  for (const raw of objects) arena.release(raw);
  assert.ok(arena.bytes <= 2 ** 21, `${arena.bytes} for nothing`);
});

test("an object is decoded once for all who hold it, and frozen", () => {
  const arena = newArena();
  const raw = arena.put(readingOf(object("a", 1)));
  const value = raw.decode();
  assert.equal(raw.decode(), value);
  assert.ok(Object.isFrozen(value) && Object.isFrozen(value.metadata) && Object.isFrozen(value.data));
});

test("an object of the same name is another one if its uid is", () => {
  const arena = newArena();
  const put = (uid: string | undefined): RawObject<ConfigMap> => {
    const value = object("a", 1);
    const { uid: _, ...metadata } = value.metadata;
    return arena.put(readingOf({ ...value, metadata: { ...metadata, ...(uid !== undefined && { uid }) } }));
  };
  assert.ok(put("u").hasUidOf(put("u")));
  assert.ok(put(undefined).hasUidOf(put(undefined)));
  assert.ok(!put("u").hasUidOf(put("v")));
  assert.ok(!put("u").hasUidOf(put(undefined)));
});
