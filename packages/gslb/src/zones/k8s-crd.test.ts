import assert from "node:assert/strict";
import { test } from "node:test";
import { compileGeo, composeMessage, parseGeoMap, parseMessage, type Message } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { defaultAnswerModes, type AnswerModes } from "../decide/answer-modes.ts";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { openFeederWorld, type FeederWorld } from "../testdata/feeder-world.ts";

// DNSEndpoints as users of k8gb's CoreDNS plugin k8s_crd have them, asked as it is asked. Where the plugin is wrong the name of
// the test says what is right.

const zone = "cloud.example.com";
const a = (
  dnsName: string,
  targets: readonly string[],
  more: Partial<DnsEndpointRecord> = {},
): DnsEndpointRecord => ({
  ...{ dnsName: `${dnsName}.${zone}`, recordType: "A", targets },
  ...more,
});

async function serve(
  objects: Readonly<Record<string, readonly DnsEndpointRecord[]>>,
  modes?: AnswerModes,
): Promise<FeederWorld> {
  const world = openFeederWorld(modes);
  world.feeder.setZone({ loadBalancedZone: zone, parentZone: "example.com", negativeTtlSeconds: 20 });
  for (const [key, records] of Object.entries(objects)) world.put(key, records);
  await world.simulation.run({ untilMs: 1 });
  world.feeder.open();
  return world;
}

interface Asked {
  readonly type?: string;
  readonly from?: string;
  readonly subnet?: string;
}

function ask(
  { authority }: FeederWorld,
  name: string,
  { type = "A", from = "203.0.113.9", subnet }: Asked = {},
): Message {
  const octets = subnet === undefined ? [] : subnet.split(".").map(Number);
  const options = subnet === undefined ? [] : [{ code: 8, octets: Uint8Array.of(0, 1, 32, 0, ...octets) }];
  const edns = { payloadSize: 1232, version: 0, dnssecOk: false, options };
  const message = composeMessage({ id: 1, questions: [{ name, type, class: 1 }], edns });
  const output = new Uint8Array(4096);
  const client = new ReusedClient("udp", { address: from, port: 5353 });
  return parseMessage(output.slice(0, authority.answer(message, 0, message.length, client, output)));
}

const dataOf = (message: Message): readonly string[] => message.answers.map(({ data }) => data);

interface Case {
  readonly name: string;
  readonly objects: Readonly<Record<string, readonly DnsEndpointRecord[]>>;
  readonly ask: string;
  readonly type?: string;
  readonly data: readonly string[];
  readonly rcode?: number;
  readonly ttl?: number;
}

const both = ["192.0.2.1", "192.0.2.2"];
const cases: readonly Case[] = [
  {
    name: "its targets",
    objects: { x: [a("app", both, { recordTTL: 123 })] },
    ask: "app",
    data: both,
    ttl: 123,
  },
  {
    name: "a TTL of 60 where there is none",
    objects: { x: [a("app", both)] },
    ask: "app",
    data: both,
    ttl: 60,
  },
  {
    name: "the TTL whatever the case asked in (D11)",
    objects: { x: [a("app", both, { recordTTL: 123 })] },
    ...{ ask: "aPp", data: both, ttl: 123 },
  },
  {
    name: "another spelling whose targets are gone",
    objects: { x: [a("APP", []), a("app", ["192.0.2.2"])] },
    ...{ ask: "aPP", data: ["192.0.2.2"] },
  },
  {
    name: "spellings of one name in one object together",
    objects: { x: [a("APP", ["192.0.2.1"]), a("app", ["192.0.2.2"])] },
    ...{ ask: "app", data: both },
  },
  { name: "each target once", objects: { x: [a("app", [...both, ...both])] }, ask: "app", data: both },
  {
    name: "a broken target only for itself",
    objects: { x: [a("app", ["1.2.3.4.5", "192.0.2.1", ""]), a("other", both)] },
    ...{ ask: "app", data: ["192.0.2.1"] },
  },
  { name: "no targets: NODATA, not NXDOMAIN (D23)", objects: { x: [a("app", [])] }, ask: "app", data: [] },
  { name: "another type: NODATA", objects: { x: [a("app", both)] }, ask: "app", type: "AAAA", data: [] },
  {
    name: "addresses are no texts (D23)",
    objects: { x: [a("app", both)] },
    ask: "app",
    type: "TXT",
    data: [],
  },
  { name: "an unknown name: NXDOMAIN", objects: { x: [a("app", both)] }, ask: "no", data: [], rcode: 3 },
  {
    name: "an unknown name in another type: NXDOMAIN",
    objects: { x: [a("app", both)] },
    ...{ ask: "no", type: "AAAA", data: [], rcode: 3 },
  },
  { name: "an empty non-terminal: NODATA (D23)", objects: { x: [a("a.b", both)] }, ask: "b", data: [] },
  { name: "a wildcard (D23)", objects: { x: [a("*.w", both)] }, ask: "x.y.w", data: both },
  {
    name: "one TXT record for each target",
    objects: { x: [a("t", ["foo=bar", "a b"], { recordType: "TXT" })] },
    ...{ ask: "t", type: "TXT", data: ['"foo=bar"', '"a b"'] },
  },
  {
    name: "IPv6 (D22)",
    objects: { x: [a("app", ["2001:db8::1"], { recordType: "AAAA" })] },
    ...{ ask: "app", type: "AAAA", data: ["2001:db8::1"] },
  },
  ...(
    [
      ["CNAME", "other.example.net", "other.example.net."],
      ["MX", "10 mail.example.net", "10 mail.example.net."],
      ["SRV", "0 5 5060 sip.example.net", "0 5 5060 sip.example.net."],
      ["PTR", "host.example.net", "host.example.net."],
      ["CAA", '0 issue "ca.example"', '0 issue "ca.example"'],
      ["SVCB", "1 svc.example.net alpn=h2", '1 svc.example.net. alpn="h2"'],
      ["HTTPS", "1 . alpn=h2,h3", '1 . alpn="h2,h3"'],
      [
        "NAPTR",
        '100 10 "S" "SIP+D2U" "" _sip._udp.example.net',
        '100 10 "S" "SIP+D2U" "" _sip._udp.example.net.',
      ],
      ["TYPE65280", "\\# 2 0102", "\\# 2 0102"],
    ] as const
  ).map(([type, target, data]) => ({
    name: `a record of type ${type}`,
    objects: { x: [a("app", [target], { recordType: type })] },
    ...{ ask: "app", type, data: [data] },
  })),
];
for (const each of cases)
  test(`k8s_crd: ${each.name}`, async () => {
    const world = await serve(each.objects);
    const message = ask(world, `${each.ask}.${zone}`, { type: each.type ?? "A" });
    assert.deepEqual([...dataOf(message)].sort(), [...each.data].sort());
    assert.equal(message.rcode, each.rcode ?? 0);
    assert.equal(message.authoritative, true, "AA is set (D8)");
    if (each.ttl !== undefined)
      assert.deepEqual([...new Set(message.answers.map(({ ttl }) => ttl))], [each.ttl]);
    const soas = message.authority.filter(({ type }) => type === "SOA");
    assert.deepEqual(
      soas.map(({ ttl }) => ttl),
      each.data.length === 0 ? [20] : [],
      "the zone's negative TTL",
    );
  });

test("k8s_crd: AA is set whatever is asked (D8), and a TTL that nobody states is what the settings say (D24)", async () => {
  const world = await serve(
    { x: [a("app", both), a("own", both, { recordTTL: 123 })] },
    { ...defaultAnswerModes, recordTtl: 5 },
  );
  for (const [name, type, ttls] of [
    [`app.${zone}`, "A", [5, 5]],
    [`own.${zone}`, "A", [123, 123]],
    [`app.${zone}`, "TXT", []],
    [`no.${zone}`, "A", []],
    [zone, "SOA", [20]],
  ] as const) {
    const message = ask(world, name, { type });
    assert.deepEqual(
      message.answers.map(({ ttl }) => ttl),
      ttls,
      `${name} ${type}`,
    );
    assert.equal(message.authoritative, true);
  }
});

test("k8s_crd: a question looks at no object, and logs nothing (D49)", async () => {
  const world = await serve({ x: [a("app", both, { labels: { strategy: "geoip" } }), a("*.w", both)] });
  const untouched = (): never => assert.fail("a question looked at a DNSEndpoint");
  Object.assign(world.objects, { get: untouched, values: untouched, entries: untouched });
  const before = world.simulation.traceHash;
  for (const name of ["app", "APP", "x.w", "no"])
    for (const type of ["A", "AAAA", "TXT"]) ask(world, `${name}.${zone}`, { type, subnet: "192.0.2.9" });
  assert.equal(world.simulation.traceHash, before);
});

test("k8s_crd: objects that share a name: the older has the type, and the other is told", async () => {
  const world = await serve({ one: [a("app", ["192.0.2.1"])], two: [a("APP", ["192.0.2.2"])] });
  assert.deepEqual(dataOf(ask(world, `app.${zone}`)), ["192.0.2.1"]);
  assert.match(world.notes.join("\n"), /^two .*held by the older DNSEndpoint one/);
});

test("k8s_crd: the apex names the parent's servers and not ns1.dns (D7), and its serial moves with what changes (D25)", async () => {
  const world = await serve({ x: [a("app", both)] });
  const servers = dataOf(ask(world, zone, { type: "NS" }));
  assert.deepEqual(servers, ["gslb-ns-eu-cloud.example.com.", "gslb-ns-us-cloud.example.com."]);
  const serialOf = (): number => Number(dataOf(ask(world, zone, { type: "SOA" }))[0]!.split(" ")[2]);
  const before = serialOf();
  world.put("x", [a("app", ["192.0.2.1"])]);
  world.put("y", [a("other", ["192.0.2.1"])]);
  await world.simulation.run({ untilMs: 2 });
  assert.equal(serialOf(), before + 1);
});

function weightedLabels(
  weights: Readonly<Record<string, readonly [number, string]>>,
): Record<string, string> {
  const labels = Object.entries(weights).map(([tag, [weight, target]]) => [
    `weight-${tag}-0-${weight}`,
    target,
  ]);
  return { strategy: "roundRobin", ...(Object.fromEntries(labels) as Record<string, string>) };
}

/** k8gb's way to weigh. */
const inOrder: AnswerModes = { ...defaultAnswerModes, weights: "order" };

/** How often each target comes first, and how many are in an answer, over so many answers. */
function count(
  world: FeederWorld,
  times: number,
  name = "app",
): { readonly first: ReadonlyMap<string, number>; readonly size: number } {
  const first = new Map<string, number>();
  let size = 0;
  for (let index = 0; index < times; index++) {
    const data = dataOf(ask(world, `${name}.${zone}`));
    first.set(data[0]!, (first.get(data[0]!) ?? 0) + 1);
    size = Math.max(size, data.length);
  }
  return { first, size };
}

test("k8s_crd: weights of geo tags with dashes count (D9), in either mode and whatever the case asked in (D11)", async () => {
  const labels = weightedLabels({ "us-east-1": [1, "192.0.2.1"], "eu-west-1": [4, "192.0.2.2"] });
  for (const weights of ["choice", "order"] as const) {
    const world = await serve({ x: [a("app", both, { labels })] }, { ...defaultAnswerModes, weights });
    const { first, size } = count(world, 1000, "aPp");
    assert.equal(size, weights === "choice" ? 1 : 2);
    // 200 are expected; five deviations of the binomial are 63.
    assert.ok(Math.abs(first.get("192.0.2.1")! - 200) < 64, `${weights} ${first.get("192.0.2.1")}`);
  }
});

/** Two addresses of each cluster, labelled with these weights. */
function twoEach(weights: Readonly<Record<"eu" | "us", number>>): {
  readonly targets: Readonly<Record<"eu" | "us", readonly string[]>>;
  readonly labels: Readonly<Record<string, string>>;
} {
  const targets = { eu: ["192.0.2.1", "192.0.2.2"], us: ["198.51.100.1", "198.51.100.2"] };
  const labels = Object.entries(weights).flatMap(([tag, weight]) =>
    targets[tag as keyof typeof targets].map((target, at) => [`weight-${tag}-${at}-${weight}`, target]),
  );
  return { targets, labels: Object.fromEntries(labels) as Record<string, string> };
}

for (const [name, strategy, isShuffled] of [
  ["as k8gb writes them", "roundRobin", false],
  ["with targets in another order", "roundRobin", true],
  ["with a strategy that nobody knows", "other", false],
] as const)
  test(`k8s_crd: weights 5 and 5, ${name}: either cluster's addresses come first as often`, async () => {
    const { targets, labels } = twoEach({ eu: 5, us: 5 });
    const { eu, us } = targets;
    const all = isShuffled ? [us[1]!, eu[0]!, us[0]!, eu[1]!] : [...eu, ...us];
    const world = await serve({ x: [a("app", all, { labels: { strategy, ...labels } })] }, inOrder);
    let euFirst = 0;
    for (let index = 0; index < 1000; index++) {
      const data = dataOf(ask(world, `app.${zone}`));
      const [first, last] = [data.slice(0, 2).toSorted(), data.slice(2).toSorted()];
      const isEu = first.join() === eu.join();
      assert.deepEqual([first, last], isEu ? [eu, us] : [us, eu], "a cluster's addresses stay together");
      if (isEu) euFirst += 1;
    }
    assert.ok(Math.abs(euFirst - 500) < 75, String(euFirst));
  });

test("k8s_crd: weights 1 and 4: the heavier cluster's addresses come further ahead", async () => {
  const { targets, labels } = twoEach({ eu: 1, us: 4 });
  const all = [...targets.eu, ...targets.us];
  const world = await serve({ x: [a("app", all, { labels })] }, inOrder);
  let score = 0;
  for (let index = 0; index < 1000; index++)
    for (const [position, target] of dataOf(ask(world, `app.${zone}`)).entries())
      if (targets.us.includes(target)) score += 3 - position;
  assert.ok(score > 4000, `${score} of 6000`);
});

test("k8s_crd: weight 0 comes last in an order, and all come where only 0 is there", async () => {
  const labels = weightedLabels({ eu: [0, "192.0.2.1"], us: [1, "192.0.2.2"] });
  const some = await serve({ x: [a("app", both, { labels })] }, inOrder);
  for (let index = 0; index < 50; index++)
    assert.deepEqual(dataOf(ask(some, `app.${zone}`)), ["192.0.2.2", "192.0.2.1"]);
  const zero = weightedLabels({ eu: [0, "192.0.2.1"], us: [0, "192.0.2.2"] });
  const none = await serve({ x: [a("app", both, { labels: zero })] }, inOrder);
  assert.equal(dataOf(ask(none, `app.${zone}`)).length, 2);
});

test("k8s_crd: a target without a label does not turn weighting off (D10)", async () => {
  const labels = weightedLabels({ eu: [9, "192.0.2.1"], us: [0, "192.0.2.2"] });
  const world = await serve({ x: [a("app", [...both, "192.0.2.3"], { labels })] });
  const { first } = count(world, 1000);
  assert.equal(first.get("192.0.2.2"), undefined);
  // 9 to 5, the rounded mean of 9 and 0: 643 are expected; five deviations are 76.
  assert.ok(Math.abs(first.get("192.0.2.1")! - 643) < 76, String(first.get("192.0.2.1")));
});

test("k8s_crd: roundRobin turns, all others keep their order", async () => {
  const turning = await serve({ x: [a("app", both, { labels: { strategy: "roundRobin" } })] });
  assert.equal(count(turning, 10).first.size, 2);
  for (const strategy of ["failover", "geoip"]) {
    const fixed = await serve({ x: [a("app", both, { labels: { strategy } })] });
    assert.deepEqual([...count(fixed, 10).first.keys()], ["192.0.2.1"]);
  }
});

test("k8s_crd: geoip keeps the targets of the client's place, says for whom (D58), and all where nothing is known", async () => {
  const labels = { strategy: "geoip" };
  const targets = ["192.200.1.1", "192.200.1.2", "192.200.2.1", "192.200.2.2"];
  const world = await serve({ x: [a("app", targets, { labels })] });
  assert.deepEqual(dataOf(ask(world, `app.${zone}`, { subnet: "192.200.1.5" })), targets);
  const { map } = parseGeoMap(
    "networks: { 192.200.1.0/24: { datacenter: site1 }, 192.200.2.0/24: { datacenter: site2 } }",
  );
  world.authority.setGeo(await compileGeo({ fields: ["datacenter"], map }));
  const one = ask(world, `app.${zone}`, { subnet: "192.200.1.5" });
  assert.deepEqual(dataOf(one), targets.slice(0, 2));
  assert.equal(one.edns?.options[0]?.octets[3], 24);
  assert.deepEqual(dataOf(ask(world, `app.${zone}`, { from: "192.200.2.5" })), targets.slice(2));
  assert.deepEqual(dataOf(ask(world, `app.${zone}`, { subnet: "203.0.113.5" })), targets);
});
