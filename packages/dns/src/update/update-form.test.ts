import assert from "node:assert/strict";
import test from "node:test";
import { composeMessage, type MessageRecord } from "../message/message.ts";
import { add, dataOf, openWorld, rcode } from "../testdata/update-world.ts";
import { composeUpdate, type UpdatePrerequisite } from "./compose-update.ts";

const prerequisites: readonly {
  readonly name: string;
  readonly prerequisite: UpdatePrerequisite;
  readonly rcode: number;
}[] = [
  { name: "a name in use", prerequisite: { kind: "nameInUse", name: "WWW.u.test" }, rcode: rcode.noError },
  {
    name: "an empty non-terminal is not in use",
    prerequisite: { kind: "nameInUse", name: "ent.u.test" },
    rcode: rcode.nxDomain,
  },
  {
    name: "a name that only a wildcard covers is not in use",
    prerequisite: { kind: "nameInUse", name: "x.wild.u.test" },
    rcode: rcode.nxDomain,
  },
  {
    name: "a name not in use",
    prerequisite: { kind: "nameNotInUse", name: "nope.u.test" },
    rcode: rcode.noError,
  },
  {
    name: "the apex is in use",
    prerequisite: { kind: "nameNotInUse", name: "u.test" },
    rcode: rcode.yxDomain,
  },
  {
    name: "a set that exists",
    prerequisite: { kind: "setExists", name: "www.u.test", type: "AAAA" },
    rcode: rcode.noError,
  },
  {
    name: "a set that does not",
    prerequisite: { kind: "setExists", name: "www.u.test", type: "MX" },
    rcode: rcode.nxRRset,
  },
  {
    name: "the SOA exists",
    prerequisite: { kind: "setExists", name: "u.test", type: "SOA" },
    rcode: rcode.noError,
  },
  {
    name: "an absent set",
    prerequisite: { kind: "setAbsent", name: "www.u.test", type: "MX" },
    rcode: rcode.noError,
  },
  {
    name: "a set that is not absent",
    prerequisite: { kind: "setAbsent", name: "www.u.test", type: "A" },
    rcode: rcode.yxRRset,
  },
  {
    name: "a set that is equal, in another order",
    prerequisite: { kind: "setEquals", name: "www.u.test", type: "A", data: ["192.0.2.2", "192.0.2.1"] },
    rcode: rcode.noError,
  },
  {
    name: "a set that has more",
    prerequisite: { kind: "setEquals", name: "www.u.test", type: "A", data: ["192.0.2.1"] },
    rcode: rcode.nxRRset,
  },
  {
    name: "a set that has others",
    prerequisite: { kind: "setEquals", name: "www.u.test", type: "A", data: ["192.0.2.1", "192.0.2.9"] },
    rcode: rcode.nxRRset,
  },
  {
    name: "names in rdata in another case are equal",
    prerequisite: { kind: "setEquals", name: "mail.u.test", type: "MX", data: ["10 wWW.U.test."] },
    rcode: rcode.noError,
  },
  {
    name: "a name outside the zone",
    prerequisite: { kind: "nameInUse", name: "www.v.test" },
    rcode: rcode.notZone,
  },
];
for (const { name, prerequisite, rcode: expected } of prerequisites) {
  test(`prerequisite: ${name}`, async () => {
    const { send, zone } = await openWorld();
    const message = composeUpdate({
      zone: "u.test",
      prerequisites: [prerequisite],
      changes: [add("new.u.test", "A", "192.0.2.9")],
    });
    assert.equal(await send(message), expected);
    assert.deepEqual(dataOf(zone, "new.u.test", "A"), expected === 0 ? ["192.0.2.9"] : []);
    assert.equal(zone.serial, expected === 0 ? 101 : 100);
  });
}

/** A record as it stands on the wire, for what no well-made client sends. */
const raw = (fields: Partial<MessageRecord>): MessageRecord => ({
  name: "www.u.test",
  type: "A",
  class: 1,
  ttl: 0,
  data: "",
  ...fields,
});
const malformed: readonly {
  readonly name: string;
  readonly prerequisites?: readonly MessageRecord[];
  readonly updates?: readonly MessageRecord[];
  readonly rcode: number;
}[] = [
  { name: "a prerequisite with a TTL", prerequisites: [raw({ class: 255, ttl: 1 })], rcode: rcode.formErr },
  {
    name: "a prerequisite of class ANY with data",
    prerequisites: [raw({ class: 255, data: "192.0.2.1" })],
    rcode: rcode.formErr,
  },
  {
    name: "a prerequisite of class NONE with data",
    prerequisites: [raw({ class: 254, data: "192.0.2.1" })],
    rcode: rcode.formErr,
  },
  { name: "a prerequisite of another class", prerequisites: [raw({ class: 3 })], rcode: rcode.formErr },
  {
    name: "a prerequisite of a type of questions",
    prerequisites: [raw({ class: 255, type: "AXFR" })],
    rcode: rcode.formErr,
  },
  {
    name: "an addition of a type of questions",
    updates: [raw({ type: "ANY", class: 1, data: "\\# 0" })],
    rcode: rcode.formErr,
  },
  { name: "an addition without the data of its type", updates: [raw({ data: "" })], rcode: rcode.formErr },
  { name: "a deletion of a set with a TTL", updates: [raw({ class: 255, ttl: 5 })], rcode: rcode.formErr },
  {
    name: "a deletion of a set with data",
    updates: [raw({ class: 255, data: "192.0.2.1" })],
    rcode: rcode.formErr,
  },
  { name: "a deletion of type AXFR", updates: [raw({ class: 255, type: "AXFR" })], rcode: rcode.formErr },
  {
    name: "a deletion of a record with a TTL",
    updates: [raw({ class: 254, ttl: 5, data: "192.0.2.1" })],
    rcode: rcode.formErr,
  },
  {
    name: "a deletion of a record without its data",
    updates: [raw({ class: 254 })],
    rcode: rcode.formErr,
  },
  {
    name: "a deletion of a record of type ANY",
    updates: [raw({ class: 254, type: "ANY" })],
    rcode: rcode.formErr,
  },
  { name: "an update of class CH", updates: [raw({ class: 3, data: "192.0.2.1" })], rcode: rcode.formErr },
  {
    name: "an update outside the zone",
    updates: [raw({ name: "www.v.test", data: "192.0.2.1" })],
    rcode: rcode.notZone,
  },
];
for (const { name, prerequisites: answers = [], updates = [], rcode: expected } of malformed) {
  test(`${name} is refused, and with it all the rest`, async () => {
    const { send, zone } = await openWorld();
    const good = raw({ name: "good.u.test", data: "192.0.2.9", ttl: 60 });
    const message = composeMessage({
      opcode: 5,
      questions: [{ name: "u.test", type: "SOA", class: 1 }],
      answers,
      authority: [good, ...updates],
    });
    assert.equal(await send(message), expected);
    assert.equal(zone.serial, 100);
    assert.deepEqual(dataOf(zone, "good.u.test", "A"), []);
  });
}

test("the zone section is one SOA of a zone that takes updates", async () => {
  const { send } = await openWorld();
  const asked = (name: string, type = "SOA", recordClass = 1): Uint8Array =>
    composeMessage({ opcode: 5, questions: [{ name, type, class: recordClass }] });
  assert.equal(await send(asked("u.test")), rcode.noError);
  assert.equal(await send(asked("U.TEST")), rcode.noError);
  assert.equal(await send(asked("u.test", "A")), rcode.formErr);
  assert.equal(await send(asked("u.test", "SOA", 3)), rcode.notAuth);
  assert.equal(await send(asked("v.test")), rcode.notAuth);
  assert.equal(await send(asked("static.test")), rcode.refused);
  assert.equal(await send(composeMessage({ opcode: 5 })), rcode.formErr);
});
