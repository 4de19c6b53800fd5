import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { compareKeys } from "./key-order.ts";
import { RecordTree } from "./record-tree.ts";
import type { Revision, StoredRecord } from "./storage.ts";

const operation = fc.record({
  remove: fc.boolean(),
  key: fc.oneof(
    fc.integer({ min: 0, max: 400 }).map((n) => `key/${n}`),
    fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
  ),
});

describe("record tree", () => {
  test("it agrees with a sorted array, and older trees stay as they were", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 1_500 }), (operations) => {
        let tree = RecordTree.empty;
        const model = new Map<string, StoredRecord>();
        const older: { tree: RecordTree; expected: StoredRecord[] }[] = [];
        for (const [i, { remove, key }] of operations.entries()) {
          if (remove) {
            tree = tree.without(key);
            model.delete(key);
          } else {
            const added = record(key, i + 1);
            tree = tree.with(added);
            model.set(key, added);
          }
          if (i % 300 === 0) older.push({ tree, expected: sorted(model) });
        }
        older.push({ tree, expected: sorted(model) });
        for (const each of older) check(each.tree, each.expected);
      }),
      { numRuns: 60 },
    );
  });

  test("a tree of many sorted records has them all, and takes changes", () => {
    const records = Array.from({ length: 20_000 }, (_, i) =>
      record(`k/${String(i).padStart(6, "0")}`, i + 1),
    );
    let tree = RecordTree.fromSorted(records);
    check(tree, records);
    for (let i = 0; i < 20_000; i += 3) tree = tree.without(records[i]!.key);
    check(
      tree,
      records.filter((_, i) => i % 3 !== 0),
    );
    for (const each of records) tree = tree.without(each.key);
    assert.equal(tree.size, 0);
    assert.deepEqual(RecordTree.fromSorted([]).slice(0, 10), []);
  });

  test("removing what is absent returns the same tree", () => {
    const tree = RecordTree.empty.with(record("a", 1));
    assert.equal(tree.without("b"), tree);
  });
});

describe("key order", () => {
  test("it is the order of the UTF-8 bytes", () => {
    const text = fc.string({ unit: "binary", maxLength: 6 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
        assert.equal(Math.sign(compareKeys(a, b)), expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

function check(tree: RecordTree, expected: readonly StoredRecord[]): void {
  assert.equal(tree.size, expected.length);
  assert.deepEqual(tree.slice(0, tree.size), expected);
  const middle = expected[expected.length >>> 1];
  if (middle === undefined) return;
  assert.equal(tree.get(middle.key), middle);
  assert.equal(
    tree.countBelow((key) => compareKeys(key, middle.key) < 0),
    expected.length >>> 1,
  );
  assert.deepEqual(tree.slice(3, 9), expected.slice(3, 9));
}

function sorted(model: ReadonlyMap<string, StoredRecord>): StoredRecord[] {
  return [...model.values()].toSorted((a, b) => compareKeys(a.key, b.key));
}

function record(key: string, revision: number): StoredRecord {
  const modRevision = revision as Revision;
  return { key, value: new Uint8Array(0), modRevision, createRevision: modRevision };
}
