import assert from "node:assert/strict";
import test from "node:test";
import { add, dataOf, openWorld, rcode } from "../testdata/update-world.ts";
import type { UpdateChange } from "./compose-update.ts";

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
    const { update, zone, server } = await openWorld();
    assert.equal(await update(...made), rcode.noError);
    assert.deepEqual(dataOf(zone, owner, type), data);
    assert.equal(zone.serial, 100 + steps);
    assert.deepEqual([server.counters.applied, server.counters.unchanged], steps > 0 ? [1, 0] : [0, 1]);
  });
}

test("an addition with another TTL gives it to the whole set", async () => {
  const { update, zone } = await openWorld();
  await update({ kind: "add", name: "www.u.test", type: "A", ttl: 5, data: "192.0.2.1" });
  assert.equal(zone.recordSetsOf("www.u.test").find((set) => set.type === "A")?.ttl, 5);
});

test("what a zone cannot hold is refused whole", async () => {
  const { update, zone } = await openWorld();
  assert.equal(
    await update(add("x.u.test", "A", "192.0.2.7"), add("*.cloud2.u.test", "NS", "ns.example.")),
    rcode.refused,
  );
  assert.equal(zone.serial, 100);
});

test("one record of a weighted set goes, and the rest rotates", async () => {
  const { update, zone } = await openWorld();
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
