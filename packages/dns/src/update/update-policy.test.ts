import assert from "node:assert/strict";
import test from "node:test";
import { add, openWorld, rcode } from "../testdata/update-world.ts";
import { composeUpdate, type UpdateChange } from "./compose-update.ts";
import type { UpdateRule } from "./update-policy.ts";

const rules: readonly {
  readonly name: string;
  readonly rule: Omit<UpdateRule, "key">;
  readonly change: UpdateChange;
  readonly allowed: boolean;
}[] = [
  {
    name: "exact allows its name",
    rule: { match: "exact", name: "WWW.u.test" },
    change: add("www.u.test", "A", "192.0.2.7"),
    allowed: true,
  },
  {
    name: "exact allows nothing below",
    rule: { match: "exact", name: "www.u.test" },
    change: add("x.www.u.test", "A", "192.0.2.7"),
    allowed: false,
  },
  {
    name: "subdomain allows the name and below",
    rule: { match: "subdomain", name: "www.u.test" },
    change: add("x.www.u.test", "A", "192.0.2.7"),
    allowed: true,
  },
  {
    name: "subdomain allows no neighbour",
    rule: { match: "subdomain", name: "www.u.test" },
    change: add("xwww.u.test", "A", "192.0.2.7"),
    allowed: false,
  },
  {
    name: "self allows the key's own name",
    rule: { match: "self" },
    change: add("k.u.test", "A", "192.0.2.7"),
    allowed: true,
  },
  {
    name: "self allows no other",
    rule: { match: "self" },
    change: add("www.u.test", "A", "192.0.2.7"),
    allowed: false,
  },
  {
    name: "without types NS is not allowed",
    rule: { match: "subdomain" },
    change: add("cloud.u.test", "NS", "ns.example."),
    allowed: false,
  },
  {
    name: "without types SOA is not allowed",
    rule: { match: "subdomain" },
    change: add("u.test", "SOA", "m. r. 500 1 2 3 4"),
    allowed: false,
  },
  {
    name: "types allow what they name",
    rule: { match: "subdomain", types: ["ns"] },
    change: add("cloud.u.test", "NS", "ns.example."),
    allowed: true,
  },
  {
    name: "types allow nothing else",
    rule: { match: "subdomain", types: ["NS"] },
    change: add("www.u.test", "A", "192.0.2.7"),
    allowed: false,
  },
  {
    name: "a name is deleted only by who may delete all that it has",
    rule: { match: "subdomain", types: ["A"] },
    change: { kind: "deleteName", name: "www.u.test" },
    allowed: false,
  },
  {
    name: "a name is deleted by who may",
    rule: { match: "subdomain", types: ["A", "AAAA"] },
    change: { kind: "deleteName", name: "www.u.test" },
    allowed: true,
  },
];
for (const { name, rule, change, allowed } of rules) {
  test(`policy: ${name}`, async () => {
    const key = rule.match === "self" ? "k.u.test" : "k";
    const { send, zone } = await openWorld({ rules: [{ key, ...rule }] });
    const message = composeUpdate({ zone: "u.test", prerequisites: [], changes: [change] });
    assert.equal(await send(message, key), allowed ? rcode.noError : rcode.refused);
    assert.equal(zone.serial, allowed ? 101 : 100);
  });
}

test("a key without a rule learns nothing, not even by prerequisites; nor does nobody", async () => {
  const { send } = await openWorld();
  const message = composeUpdate({
    zone: "u.test",
    prerequisites: [{ kind: "nameInUse", name: "nope.u.test" }],
    changes: [],
  });
  assert.equal(await send(message, "other"), rcode.refused);
});

test("a policy for exactly no name cannot be", async () => {
  await assert.rejects(openWorld({ rules: [{ key: "k", match: "exact" }] }), { code: "BadName" });
});
