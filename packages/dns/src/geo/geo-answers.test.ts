import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import { AnswerCore } from "../server/answer-core.ts";
import { Authority } from "../server/authority.ts";
import type { RecordSet } from "../zone/record-set.ts";
import { Zone } from "../zone/zone.ts";
import { compileGeo } from "./compile-geo.ts";
import { parseGeoMap } from "./geo-map.ts";
import { networkFromText } from "./geo-network.ts";
import type { GeoState } from "./geo-state.ts";

// What goes over the wire: which records, and what the client subnet option of the answer says (RFC 7871 §7.2).

const eu = "192.0.2.1";
const us = "198.51.100.1";
const places = `
networks:
  192.0.2.0/24: eu
  198.51.100.0/24: us
  2001:db8:e::/48: eu
  10.1.0.0/16: eu
  10.2.0.0/16: us
  10.2.3.4/32: eu
  2001:db8:1::/48: us
`;

const set = (
  name: string,
  type: string,
  more: Omit<RecordSet, "name" | "type" | "ttl">,
): [string, RecordSet[]] => [name, [{ name, type, ttl: 30, ...more }]];

function zone(): Zone {
  const made = new Zone({
    origin: "p.test",
    soa: {
      ...{ mname: "ns.p.test", rname: "hostmaster.p.test", serial: 1 },
      ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: 30, ttl: 30 },
    },
    nameServers: ["ns.p.test"],
    nameServerTtl: 300,
  });
  const groups = [
    { tag: "eu", data: [eu] },
    { tag: "us", data: [us] },
  ];
  made.replace(
    new Map([
      set("app.p.test", "A", { data: [eu, us], policy: { kind: "geo" } }),
      set("groups.p.test", "A", { data: [eu, us, "203.0.113.1"], policy: { kind: "geo", groups } }),
      set("six.p.test", "AAAA", { data: ["2001:db8:e::1", "2001:db8:f::1"], policy: { kind: "geo" } }),
      set("text.p.test", "TXT", {
        data: ['"eu"', '"us"'],
        policy: { kind: "geo", groups: [{ tag: "eu", data: ['"eu"'] }] },
      }),
      set("plain.p.test", "A", { data: [eu, us] }),
      set("alias.p.test", "CNAME", { data: ["app.p.test."] }),
      set("*.wild.p.test", "A", { data: [eu, us], policy: { kind: "geo" } }),
    ]),
  );
  return made;
}

let authority: Authority;
let state: GeoState;

before(async () => {
  const { map } = parseGeoMap(places);
  state = await compileGeo({ fields: ["datacenter"], map });
  const { random, clock } = new Simulation({ seed: 1 }).node({
    name: "dns",
    addresses: ["10.0.0.1"],
  }).runtime;
  authority = new Authority({ random, clock });
  authority.setZone(zone());
  authority.setGeo(state);
});

interface Asked {
  readonly name: string;
  readonly type?: string;
  /** `address/prefix`, or the option's octets. */
  readonly subnet?: string | readonly number[];
  /** Where the question comes from. */
  readonly from?: string;
}

function subnetOption(subnet: string | readonly number[]): Uint8Array {
  if (typeof subnet !== "string") return Uint8Array.from(subnet);
  const [address = "", prefix = ""] = subnet.split("/");
  const network = networkFromText(address);
  assert.ok(typeof network !== "string");
  const count = Math.ceil(Number(prefix) / 8);
  return Uint8Array.of(
    0,
    network.octetCount === 4 ? 1 : 2,
    Number(prefix),
    0,
    ...network.octets.subarray(0, count),
  );
}

function ask(
  { name, type = "A", subnet, from = "203.0.113.9" }: Asked,
  by: Pick<Authority, "answer"> = authority,
): Message {
  const options = subnet === undefined ? [] : [{ code: 8, octets: subnetOption(subnet) }];
  const edns = { payloadSize: 1232, version: 0, dnssecOk: false, options };
  const message = composeMessage({ id: 1, questions: [{ name, type, class: 1 }], edns });
  const network = networkFromText(from);
  assert.ok(typeof network !== "string");
  const octets = new Uint8Array(16);
  octets.set(network.octets);
  const client = {
    address: from,
    port: 5353,
    transport: "udp",
    octets,
    octetCount: network.octetCount,
  } as const;
  const output = new Uint8Array(4096);
  return parseMessage(output.slice(0, by.answer(message, 0, message.length, client, output)));
}

/** Data of the answer, and the scope in it; no scope where there is no option. */
function told(message: Message): readonly [readonly string[], number | undefined] {
  const option = message.edns?.options.find(({ code }) => code === 8);
  return [message.answers.map(({ data }) => data), option?.octets[3]];
}

const cases: readonly (readonly [string, Asked, readonly string[], number | undefined])[] = [
  ["by the subnet", { name: "app.p.test", subnet: "10.1.2.0/24" }, [eu], 16],
  ["another subnet", { name: "app.p.test", subnet: "10.2.9.0/24" }, [us], 21],
  ["a scope longer than the source", { name: "app.p.test", subnet: "10.2.3.0/24" }, [us], 30],
  ["an address of its own", { name: "app.p.test", subnet: "10.2.3.4/32" }, [eu], 32],
  ["nothing known: all", { name: "app.p.test", subnet: "203.0.113.0/24" }, [eu, us], 5],
  ["no subnet: by who asks, and no option back", { name: "app.p.test", from: "10.2.0.1" }, [us], undefined],
  [
    "a subnet of 0: by who asks, scope 0",
    { name: "app.p.test", subnet: "0.0.0.0/0", from: "10.2.0.1" },
    [us],
    0,
  ],
  ["family 0: by who asks, scope 0", { name: "app.p.test", subnet: [0, 0, 0, 0], from: "10.1.0.1" }, [eu], 0],
  ["an IPv6 subnet", { name: "app.p.test", subnet: "2001:db8:1::/56" }, [us], 48],
  ["an IPv6 resolver", { name: "app.p.test", from: "2001:db8:1::53" }, [us], undefined],
  ["an IPv4 address within IPv6", { name: "app.p.test", subnet: "::ffff:10.2.9.0/120" }, [us], 117],
  ["IPv6 targets", { name: "six.p.test", type: "AAAA", subnet: "10.1.0.0/16" }, ["2001:db8:e::1"], 16],
  ["groups", { name: "groups.p.test", subnet: "10.2.9.0/24" }, [us], 21],
  ["groups of texts", { name: "text.p.test", type: "TXT", subnet: "10.1.0.0/16" }, ['"eu"'], 16],
  ["from a wildcard", { name: "x.wild.p.test", subnet: "10.1.2.0/24" }, [eu], 16],
  ["a name that is the same for all: scope 0", { name: "plain.p.test", subnet: "10.1.2.0/24" }, [eu, us], 0],
  ["NODATA: scope 0", { name: "app.p.test", type: "MX", subnet: "10.1.2.0/24" }, [], 0],
  ["NXDOMAIN: scope 0", { name: "no.p.test", subnet: "10.1.2.0/24" }, [], 0],
  [
    "an alias ends before what is tailored",
    { name: "alias.p.test", subnet: "10.1.2.0/24" },
    ["app.p.test."],
    0,
  ],
  [
    "an alias without a subnet is followed",
    { name: "alias.p.test", from: "10.1.0.1" },
    ["app.p.test.", eu],
    undefined,
  ],
];
for (const [name, asked, data, scope] of cases)
  test(`a tailored answer: ${name}`, () => {
    assert.deepEqual(told(ask(asked)), [data, scope]);
  });

test("the option comes back as it was sent but for the scope", () => {
  const octets = subnetOption("10.2.9.0/24");
  const [option] = ask({ name: "app.p.test", subnet: "10.2.9.0/24" }).edns!.options;
  assert.deepEqual([...option!.octets], [...octets.subarray(0, 3), 21, ...octets.subarray(4)]);
});

test("a worker thread chooses alike, from what it is sent", () => {
  const { random, clock } = new Simulation({ seed: 2 }).node({
    name: "dns",
    addresses: ["10.0.0.1"],
  }).runtime;
  const core = new AnswerCore(structuredClone(authority.share()), { random, clock, slot: 1 });
  for (const [, asked, data, scope] of cases) assert.deepEqual(told(ask(asked, core)), [data, scope]);
});

test("another state counts from the next answer on", async () => {
  authority.setGeo(await compileGeo({ fields: ["datacenter"], map: parseGeoMap("networks: {}").map }));
  assert.deepEqual(told(ask({ name: "app.p.test", subnet: "10.1.2.0/24" })), [[eu, us], 0]);
  authority.setGeo(state);
  assert.deepEqual(told(ask({ name: "app.p.test", subnet: "10.1.2.0/24" })), [[eu], 16]);
});

test("whatever the subnet's octets, the answer is one of RFC 7871", () => {
  for (let prefix = 0; prefix <= 32; prefix++) {
    const [data, scope] = told(ask({ name: "app.p.test", subnet: `0.0.0.0/${prefix}` }));
    assert.deepEqual(data, [eu, us]);
    assert.equal(scope, prefix === 0 ? 0 : 5);
  }
});

test("with client subnets switched off the option is as unknown as any, in every thread", () => {
  const { random, clock } = new Simulation({ seed: 1 }).node({ name: "off", addresses: [] }).runtime;
  const off = new Authority({ random, clock, ednsSubnet: false });
  off.setZone(zone());
  off.setGeo(state);
  const thread = new AnswerCore(off.share(), { random, clock, slot: 1 });
  for (const by of [off, thread]) {
    for (const subnet of ["10.1.2.0/24", [0, 9, 99]])
      assert.deepEqual(told(ask({ name: "app.p.test", subnet, from: "10.2.0.1" }, by)), [[us], undefined]);
    assert.deepEqual(told(ask({ name: "alias.p.test", subnet: "10.1.2.0/24", from: "10.2.0.1" }, by)), [
      ["app.p.test.", us],
      undefined,
    ]);
  }
});
