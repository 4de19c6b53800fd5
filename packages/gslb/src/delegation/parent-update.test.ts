import assert from "node:assert/strict";
import { test } from "node:test";
import type { UpdateChange } from "@meridian/dns";
import { delegated } from "../testdata/parent-world.ts";
import type { DelegatedZone } from "./delegation-provider.ts";
import { ensureUpdate, withdrawUpdate, type ParentRecords } from "./parent-update.ts";

const us = delegated("us", { ownAddresses: { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["2001:DB8:0::1"] } });
const none = { data: [], ttl: 0 };
const nothing: ParentRecords = { NS: none, A: none, AAAA: none };
const ns = (...tags: readonly string[]): readonly string[] =>
  tags.map((tag) => `gslb-ns-${tag}-cloud.example.com`);
const right: ParentRecords = {
  NS: { data: ns("us", "eu"), ttl: 30 },
  A: { data: ["192.0.2.2", "192.0.2.1"], ttl: 30 },
  AAAA: { data: ["2001:db8::1"], ttl: 30 },
};
const glue = [
  "- us A",
  "+ us 30 A 192.0.2.1",
  "+ us 30 A 192.0.2.2",
  "- us AAAA",
  "+ us 30 AAAA 2001:db8::1",
];

/** Changes as lines, name servers by their tags. */
const lines = (changes: readonly UpdateChange[] = []): readonly string[] =>
  changes.map((change) => {
    const { kind, name } = change;
    const text = {
      add: () => (change.kind === "add" ? `+ ${name} ${change.ttl} ${change.type} ${change.data}` : ""),
      deleteRecord: () => (change.kind === "deleteRecord" ? `- ${name} ${change.type} ${change.data}` : ""),
      deleteSet: () => (change.kind === "deleteSet" ? `- ${name} ${change.type}` : ""),
      deleteName: () => `- ${name}`,
    }[kind]();
    return text.replace(/gslb-ns-(\w+)-cloud\.example\.com\.?/g, "$1").replace("cloud.example.com", "@");
  });

const ensured: readonly {
  readonly name: string;
  readonly present: ParentRecords;
  readonly lines: readonly string[];
}[] = [
  { name: "nothing there", present: nothing, lines: [...glue, "+ @ 30 NS us"] },
  { name: "all there, in any order", present: right, lines: [] },
  {
    name: "a joiner takes the TTL of the others",
    present: { ...nothing, NS: { data: ns("eu"), ttl: 60 } },
    lines: [...glue, "+ @ 60 NS us"],
  },
  {
    name: "one family changed",
    present: { ...right, A: { data: ["192.0.2.1", "192.0.2.9"], ttl: 30 } },
    lines: glue.slice(0, 3),
  },
  {
    name: "the TTL of the glue changed",
    present: { ...right, AAAA: { data: ["2001:db8::1"], ttl: 5 } },
    lines: glue.slice(3),
  },
  {
    name: "who is not first in order leaves the TTL of the common set",
    present: { ...right, NS: { data: ns("us", "eu"), ttl: 5 } },
    lines: [],
  },
  {
    name: "the first in order keeps the TTL of the common set",
    present: { ...right, NS: { data: ns("za", "us"), ttl: 5 } },
    lines: ["+ @ 30 NS za", "+ @ 30 NS us"],
  },
  {
    name: "what the parent does not tell is written anew, which changes nothing where it is right",
    present: {},
    lines: [...glue, "+ @ 30 NS us"],
  },
];

for (const { name, present, lines: expect } of ensured) {
  test(`a delegation is made right: ${name}`, () => {
    const update = ensureUpdate(us, present);
    assert.deepEqual(lines(update?.changes), expect);
    assert.equal(update === undefined, expect.length === 0);
  });
}

test("a family that the cluster has no more goes, and the other stays", () => {
  const update = ensureUpdate({ ...us, ownAddresses: { A: us.ownAddresses.A, AAAA: [] } }, right);
  assert.deepEqual(lines(update?.changes), ["- us AAAA"]);
});

test("a family that nobody could tell of keeps what the parent has of it, told or not", () => {
  const half = (AAAA: readonly string[]): DelegatedZone => ({
    ...us,
    ownAddresses: { A: us.ownAddresses.A, AAAA },
    unknownFamily: "AAAA",
  });
  assert.equal(ensureUpdate(half([]), right), undefined);
  const { AAAA: _untold, ...others } = right;
  assert.equal(ensureUpdate(half([]), others), undefined);
  const more = half(["2001:db8::99"]);
  assert.deepEqual(lines(ensureUpdate(more, others)?.changes), ["+ us 30 AAAA 2001:db8::99"]);
  const added = lines(ensureUpdate(more, right)?.changes);
  assert.deepEqual(added, [
    "- us AAAA",
    ...["2001:db8::99", ...right.AAAA!.data].map((data) => `+ us 30 AAAA ${data}`),
  ]);
});

const withdrawn: typeof ensured = [
  { name: "all of it", present: right, lines: ["- @ NS us", "- us A", "- us AAAA"] },
  { name: "nothing there", present: nothing, lines: [] },
  { name: "only others there", present: { ...nothing, NS: { data: ns("eu"), ttl: 30 } }, lines: [] },
  {
    name: "glue without delegation",
    present: { ...nothing, A: { data: ["192.0.2.1"], ttl: 30 } },
    lines: ["- us A"],
  },
  {
    name: "what the parent does not tell",
    present: {},
    lines: ["- @ NS us", "- us A", "- us AAAA"],
  },
];

for (const { name, present, lines: expect } of withdrawn) {
  test(`a delegation is withdrawn: ${name}`, () => {
    assert.deepEqual(lines(withdrawUpdate({ ...us, isLast: true }, present)?.changes), expect);
  });
}

test("D16: a server that another zone has too leaves the set, and keeps its addresses", () => {
  const shared = { ...us, isNameServerShared: true };
  assert.deepEqual(lines(withdrawUpdate(shared, right)?.changes), ["- @ NS us"]);
  assert.equal(withdrawUpdate(shared, { ...right, NS: { data: ns("eu"), ttl: 30 } }), undefined);
});
