import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { composeMessage, parseMessage, type MessageRecord } from "../message/message.ts";
import { loadZone } from "../testdata/case-zone.ts";
import type { Zone } from "../zone/zone.ts";
import { composeUpdate, type UpdateChange, type UpdatePrerequisite } from "./compose-update.ts";
import type { UpdateRule } from "./update-policy.ts";
import { UpdateServer } from "./update-server.ts";

const zoneText = `
$ORIGIN u.test.
$TTL 60
@      SOA ns1 hostmaster 100 7200 1800 86400 30
@      NS  ns1
@      NS  ns2.example.
@      TXT "apex"
ns1    A   192.0.2.53
www    A   192.0.2.1
www    A   192.0.2.2
www    AAAA 2001:db8::1
alias  CNAME Www
mail   MX  10 Www
a.ent  A   192.0.2.3
*.wild A   192.0.2.4
cloud  NS  NS1.Cloud
cloud  NS  ns2.cloud
`;
const anything: readonly UpdateRule[] = [{ key: "k", match: "subdomain", types: ["ANY"] }];

interface World {
  readonly zone: Zone;
  readonly sim: Simulation;
  readonly node: SimNode;
  readonly server: UpdateServer;
  /** The rcode of a whole message. */
  readonly send: (message: Uint8Array, key?: string) => Promise<number>;
  readonly update: (...changes: UpdateChange[]) => Promise<number>;
}

async function world(
  options: { readonly rules?: readonly UpdateRule[]; readonly text?: string } = {},
): Promise<World> {
  const sim = new Simulation({ seed: 1 });
  const node = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  const zone = loadZone(options.text ?? zoneText);
  const server = await sim.complete(
    UpdateServer.open(node.runtime, {
      authority: { zone: (origin) => (origin === "static.test" ? {} : undefined) },
      zones: [{ zone, journal: "u.test", rules: options.rules ?? anything }],
    }),
  );
  const send: World["send"] = async (message, key = "k") => {
    const client = new ReusedClient("udp", { address: "10.0.0.9", port: 4_000 });
    const answers = server.handle({
      message,
      client,
      key,
      octetsMax: 512,
      signal: new AbortController().signal,
    });
    const octets = await sim.complete(
      (async () => {
        for await (const answer of answers) return answer;
        return undefined;
      })(),
    );
    assert.ok(octets !== undefined);
    const reply = parseMessage(octets);
    assert.ok(reply.response && reply.opcode === 5);
    return reply.rcode;
  };
  return {
    zone,
    sim,
    node,
    server,
    send,
    update: (...changes) => send(composeUpdate({ zone: "u.test", prerequisites: [], changes })),
  };
}

const rcode = {
  noError: 0,
  formErr: 1,
  nxDomain: 3,
  refused: 5,
  yxDomain: 6,
  yxRRset: 7,
  nxRRset: 8,
  notAuth: 9,
  notZone: 10,
};
const dataOf = (zone: Zone, owner: string, type: string): readonly string[] =>
  zone.recordSetsOf(owner).find((set) => set.type === type)?.data ?? [];
const add = (name: string, type: string, data: string): UpdateChange => ({
  kind: "add",
  name,
  type,
  ttl: 60,
  data,
});

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
    const { send, zone } = await world();
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
    const { send, zone } = await world();
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
  const { send } = await world();
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

interface ChangeCase {
  readonly name: string;
  readonly changes: readonly UpdateChange[];
  readonly owner: string;
  readonly type: string;
  readonly data: readonly string[];
  /** Steps of the serial; default 1. */
  readonly steps?: number;
}
const changes: readonly ChangeCase[] = [
  {
    name: "an addition to a set",
    changes: [add("www.u.test", "A", "192.0.2.3")],
    owner: "www.u.test",
    type: "A",
    data: ["192.0.2.1", "192.0.2.2", "192.0.2.3"],
  },
  {
    name: "an addition of what is there",
    changes: [add("www.u.test", "A", "192.0.2.1")],
    owner: "www.u.test",
    type: "A",
    data: ["192.0.2.1", "192.0.2.2"],
    steps: 0,
  },
  {
    name: "an addition that differs in case only",
    changes: [add("MAIL.u.test", "MX", "10 WWW.U.TEST.")],
    owner: "mail.u.test",
    type: "MX",
    data: ["10 Www.u.test."],
    steps: 0,
  },
  {
    name: "a deletion of one record, in another case",
    changes: [{ kind: "deleteRecord", name: "cloud.u.test", type: "NS", data: "ns1.cloud.u.test." }],
    owner: "cloud.u.test",
    type: "NS",
    data: ["ns2.cloud.u.test."],
  },
  {
    name: "a deletion of a record that is not there",
    changes: [{ kind: "deleteRecord", name: "www.u.test", type: "A", data: "192.0.2.99" }],
    owner: "www.u.test",
    type: "A",
    data: ["192.0.2.1", "192.0.2.2"],
    steps: 0,
  },
  {
    name: "a deletion of a set",
    changes: [{ kind: "deleteSet", name: "www.u.test", type: "A" }],
    owner: "www.u.test",
    type: "A",
    data: [],
  },
  {
    name: "a deletion of a set leaves the others",
    changes: [{ kind: "deleteSet", name: "www.u.test", type: "A" }],
    owner: "www.u.test",
    type: "AAAA",
    data: ["2001:db8::1"],
  },
  {
    name: "a deletion of a name",
    changes: [{ kind: "deleteName", name: "www.u.test" }],
    owner: "www.u.test",
    type: "AAAA",
    data: [],
  },
  {
    name: "updates are made in their order",
    changes: [{ kind: "deleteSet", name: "www.u.test", type: "A" }, add("www.u.test", "A", "192.0.2.7")],
    owner: "www.u.test",
    type: "A",
    data: ["192.0.2.7"],
  },
  {
    name: "what is added and deleted again is no change",
    changes: [add("x.u.test", "A", "192.0.2.7"), { kind: "deleteName", name: "x.u.test" }],
    owner: "x.u.test",
    type: "A",
    data: [],
    steps: 0,
  },
  {
    name: "data beside a CNAME is passed over",
    changes: [add("alias.u.test", "A", "192.0.2.7")],
    owner: "alias.u.test",
    type: "A",
    data: [],
    steps: 0,
  },
  {
    name: "a CNAME beside data is passed over",
    changes: [add("www.u.test", "CNAME", "x.u.test.")],
    owner: "www.u.test",
    type: "CNAME",
    data: [],
    steps: 0,
  },
  {
    name: "a CNAME at the apex is passed over",
    changes: [add("u.test", "CNAME", "x.u.test.")],
    owner: "u.test",
    type: "CNAME",
    data: [],
    steps: 0,
  },
  {
    name: "a CNAME takes the place of a CNAME",
    changes: [add("alias.u.test", "CNAME", "x.u.test.")],
    owner: "alias.u.test",
    type: "CNAME",
    data: ["x.u.test."],
  },
  {
    name: "a CNAME takes the place of what the same update deletes",
    changes: [{ kind: "deleteName", name: "www.u.test" }, add("www.u.test", "CNAME", "x.u.test.")],
    owner: "www.u.test",
    type: "CNAME",
    data: ["x.u.test."],
  },
  {
    name: "the apex keeps its NS set when the set is deleted",
    changes: [{ kind: "deleteSet", name: "u.test", type: "NS" }],
    owner: "u.test",
    type: "NS",
    data: ["ns1.u.test.", "ns2.example."],
    steps: 0,
  },
  {
    name: "the apex keeps its NS set when the name is deleted",
    changes: [{ kind: "deleteName", name: "u.test" }],
    owner: "u.test",
    type: "NS",
    data: ["ns1.u.test.", "ns2.example."],
  },
  {
    name: "the apex loses the rest when the name is deleted",
    changes: [{ kind: "deleteName", name: "u.test" }],
    owner: "u.test",
    type: "TXT",
    data: [],
  },
  {
    name: "an NS of the apex can go",
    changes: [{ kind: "deleteRecord", name: "u.test", type: "NS", data: "NS2.example." }],
    owner: "u.test",
    type: "NS",
    data: ["ns1.u.test."],
  },
  {
    name: "the last NS of the apex stays",
    changes: [
      { kind: "deleteRecord", name: "u.test", type: "NS", data: "ns2.example." },
      { kind: "deleteRecord", name: "u.test", type: "NS", data: "ns1.u.test." },
    ],
    owner: "u.test",
    type: "NS",
    data: ["ns1.u.test."],
  },
  {
    name: "an NS is added to the apex",
    changes: [add("u.test", "NS", "ns3.example.")],
    owner: "u.test",
    type: "NS",
    data: ["ns1.u.test.", "ns2.example.", "ns3.example."],
  },
  {
    name: "an SOA with a newer serial is taken with it",
    changes: [add("u.test", "SOA", "m.example. r.example. 500 1 2 3 4")],
    owner: "u.test",
    type: "SOA",
    data: ["m.example. r.example. 500 1 2 3 4"],
    steps: 400,
  },
  {
    name: "an SOA with an older serial is passed over",
    changes: [add("u.test", "SOA", "m.example. r.example. 99 1 2 3 4")],
    owner: "u.test",
    type: "SOA",
    data: ["ns1.u.test. hostmaster.u.test. 100 7200 1800 86400 30"],
    steps: 0,
  },
  {
    name: "an SOA elsewhere is passed over",
    changes: [add("www.u.test", "SOA", "m. r. 500 1 2 3 4")],
    owner: "www.u.test",
    type: "SOA",
    data: [],
    steps: 0,
  },
  {
    name: "the SOA cannot be deleted",
    changes: [{ kind: "deleteSet", name: "u.test", type: "SOA" }],
    owner: "u.test",
    type: "SOA",
    data: ["ns1.u.test. hostmaster.u.test. 100 7200 1800 86400 30"],
    steps: 0,
  },
  {
    name: "an unknown type is opaque",
    changes: [add("www.u.test", "TYPE666", "\\# 3 010203")],
    owner: "www.u.test",
    type: "TYPE666",
    data: ["\\# 3 010203"],
  },
  {
    name: "many changes are one step",
    changes: [
      add("a.u.test", "A", "192.0.2.7"),
      add("b.u.test", "A", "192.0.2.7"),
      add("u.test", "NS", "ns3.example."),
      add("u.test", "TXT", '"more"'),
    ],
    owner: "u.test",
    type: "TXT",
    data: ['"apex"', '"more"'],
  },
];
for (const { name, changes: made, owner, type, data, steps = 1 } of changes) {
  test(`update: ${name}`, async () => {
    const { update, zone, server } = await world();
    assert.equal(await update(...made), rcode.noError);
    assert.deepEqual(dataOf(zone, owner, type), data);
    assert.equal(zone.serial, 100 + steps);
    assert.deepEqual([server.counters.applied, server.counters.unchanged], steps > 0 ? [1, 0] : [0, 1]);
  });
}

test("an addition with another TTL gives it to the whole set", async () => {
  const { update, zone } = await world();
  await update({ kind: "add", name: "www.u.test", type: "A", ttl: 5, data: "192.0.2.1" });
  assert.equal(zone.recordSetsOf("www.u.test").find((set) => set.type === "A")?.ttl, 5);
});

test("what a zone cannot hold is refused whole", async () => {
  const { update, zone } = await world();
  assert.equal(
    await update(add("x.u.test", "A", "192.0.2.7"), add("*.cloud2.u.test", "NS", "ns.example.")),
    rcode.refused,
  );
  assert.equal(zone.serial, 100);
});

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
    const { send, zone } = await world({ rules: [{ key, ...rule }] });
    const message = composeUpdate({ zone: "u.test", prerequisites: [], changes: [change] });
    assert.equal(await send(message, key), allowed ? rcode.noError : rcode.refused);
    assert.equal(zone.serial, allowed ? 101 : 100);
  });
}

test("a key without a rule learns nothing, not even by prerequisites; nor does nobody", async () => {
  const { send } = await world();
  const message = composeUpdate({
    zone: "u.test",
    prerequisites: [{ kind: "nameInUse", name: "nope.u.test" }],
    changes: [],
  });
  assert.equal(await send(message, "other"), rcode.refused);
});

test("a policy for exactly no name cannot be", async () => {
  await assert.rejects(world({ rules: [{ key: "k", match: "exact" }] }), { code: "BadName" });
});

test("one record of a weighted set goes, and the rest rotates", async () => {
  const { update, zone } = await world();
  const groups = [
    { weight: 1, data: ["192.0.2.1"] },
    { weight: 3, data: ["192.0.2.2"] },
  ];
  zone.replace(
    new Map([
      [
        "w.u.test",
        [
          {
            name: "w.u.test",
            type: "A",
            ttl: 5,
            data: ["192.0.2.1", "192.0.2.2"],
            policy: { kind: "weighted", groups },
          },
        ],
      ],
    ]),
  );
  await update({ kind: "deleteRecord", name: "w.u.test", type: "A", data: "192.0.2.2" });
  assert.deepEqual(zone.recordSetsOf("w.u.test"), [
    { name: "w.u.test", type: "A", ttl: 5, data: ["192.0.2.1"], policy: { kind: "rotate" } },
  ]);
});
