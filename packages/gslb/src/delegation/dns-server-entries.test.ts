import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, dnsServerEntries, sameEntries, type ServerLookup } from "./dns-server-entries.ts";

const own: ServerLookup = { name: "gslb-ns-us-cloud.example.com", addresses: ["10.0.1.2", "10.0.1.1"] };
const found: readonly ServerLookup[] = [
  own,
  { name: "gslb-ns-za-cloud.example.com", addresses: ["10.0.3.1", "10.0.3.2"] },
  { name: "gslb-ns-eu-cloud.example.com", addresses: ["10.0.2.1", "10.0.2.2"] },
];
const texts = (entries: ReturnType<typeof dnsServerEntries>): readonly string[] =>
  entries.map(({ name, address }) => `${name.slice(8, 10)} ${address}`);

test("every address of every cluster is an entry, sorted by name and then address", () => {
  assert.deepEqual(texts(dnsServerEntries(found, [])), [
    "eu 10.0.2.1",
    "eu 10.0.2.2",
    "us 10.0.1.1",
    "us 10.0.1.2",
    "za 10.0.3.1",
    "za 10.0.3.2",
  ]);
});

test("a name that the parent says has no address leaves; one that nobody could tell of stays as it was", () => {
  const before = dnsServerEntries(found, []);
  const lookups: readonly ServerLookup[] = [
    own,
    { name: "gslb-ns-za-cloud.example.com", failed: true },
    { name: "gslb-ns-eu-cloud.example.com", addresses: [] },
  ];
  assert.deepEqual(texts(dnsServerEntries(lookups, before)), [
    "us 10.0.1.1",
    "us 10.0.1.2",
    "za 10.0.3.1",
    "za 10.0.3.2",
  ]);
  assert.deepEqual(texts(dnsServerEntries(lookups, [])), ["us 10.0.1.1", "us 10.0.1.2"]);
});

test("entries are compared as a multiset", () => {
  const entries = dnsServerEntries(found, []);
  assert.ok(sameEntries(entries, entries.toReversed()));
  assert.ok(!sameEntries(entries, entries.slice(1)));
  assert.ok(!sameEntries([entries[0]!, entries[0]!], [entries[0]!, entries[1]!]));
});

test("all addresses of a name are found, in any case", () => {
  assert.deepEqual(addressesOf("GSLB-NS-EU-cloud.example.com.", dnsServerEntries(found, [])), [
    "10.0.2.1",
    "10.0.2.2",
  ]);
});
