import assert from "node:assert/strict";
import { test } from "node:test";
import { findCondition } from "@meridian/kube";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { GslbStatus } from "../resources/gslb.ts";
import {
  failover,
  host,
  isTrue,
  now,
  plan,
  record,
  server,
  view,
  type Given,
} from "../testdata/gslb-plans.ts";
import type { BackendHealth } from "./health.ts";
import type { PeerView } from "./peer-view.ts";

test("a healthy primary: localtargets first, then the host, own targets in their order", () => {
  const result = plan();
  assert.deepEqual(result.records, [
    record(`localtargets-${host}`, ["192.0.2.2", "192.0.2.1"]),
    record(host, ["192.0.2.2", "192.0.2.1"], failover),
  ]);
  assert.deepEqual(
    { ...result.status, conditions: undefined },
    {
      geoTag: "eu",
      healthyRecords: { [host]: ["192.0.2.2", "192.0.2.1"] },
      serviceHealth: { [host]: "Healthy" },
      hosts: host,
      loadBalancer: { exposedIps: ["192.0.2.2", "192.0.2.1"] },
      servers: [server(host)],
      conditions: undefined,
      observedGeneration: 3,
    },
  );
  for (const type of ["Accepted", "ResolvedRefs", "Programmed", "Healthy", "PeersReachable"])
    assert.match(isTrue(result, type), /^True/, type);
});

test("an ill primary: no localtargets, the peers' targets", () => {
  const result = plan({ health: "unhealthy" });
  assert.deepEqual(result.records, [record(host, ["198.51.100.1"], failover)]);
  assert.deepEqual(result.status.serviceHealth, { [host]: "Unhealthy" });
  assert.equal(isTrue(result, "Accepted"), "True Accepted");
  assert.equal(isTrue(result, "Healthy"), "False Unhealthy");
});

test("nobody serves: the host stays, with an empty list, and is not among the healthy records", () => {
  const result = plan({ health: "notFound", views: [view("us", "empty")] });
  assert.deepEqual(result.records, [record(host, [], failover)]);
  assert.deepEqual(result.status.healthyRecords, {});
});

test("weights are labels of the host record, which is the second", () => {
  const strategy = { type: "roundRobin", weight: { eu: 35, us: 50, za: 15 } };
  assert.deepEqual(plan({ strategy }).records?.[1]?.labels, {
    strategy: "roundRobin",
    "weight-eu-0-35": "192.0.2.2",
    "weight-eu-1-35": "192.0.2.1",
    "weight-us-0-50": "198.51.100.1",
  });
});

test("a weight of a cluster that has left the fleet stops nothing: the others share as they did", () => {
  const result = plan({ strategy: { type: "roundRobin", weight: { eu: 35, us: 50, mars: 15 } } });
  assert.deepEqual(result.records?.[1]?.labels, {
    strategy: "roundRobin",
    "weight-eu-0-35": "192.0.2.2",
    "weight-eu-1-35": "192.0.2.1",
    "weight-us-0-50": "198.51.100.1",
  });
  assert.equal(isTrue(result, "Accepted"), "False UnknownCluster");
});

test("both families are published, and a placeholder only where both are empty", () => {
  const exposed = { targets: { A: [], AAAA: ["2001:db8::1"] }, source: "test" };
  const six = (dnsName: string): Partial<DnsEndpointRecord> => ({
    dnsName,
    recordType: "AAAA",
    targets: ["2001:db8::1"],
  });
  const records = plan({ exposed, views: [] }).records ?? [];
  assert.deepEqual(
    records.map(({ dnsName, recordType, targets }) => ({ dnsName, recordType, targets })),
    [six(`localtargets-${host}`), six(host)],
  );
});

test("IPv6 entries come before IPv4 ones, since the last of a name is what k8gb's CoreDNS answers", () => {
  const exposed = { targets: { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] }, source: "test" };
  const result = plan({ exposed, views: [] });
  assert.deepEqual(
    result.records?.map(({ dnsName, recordType }) => `${dnsName} ${recordType}`),
    [`localtargets-${host} AAAA`, `${host} AAAA`, `localtargets-${host} A`, `${host} A`],
  );
  assert.deepEqual(result.status.healthyRecords, { [host]: ["192.0.2.1", "2001:db8::1"] });
  assert.deepEqual(result.status.loadBalancer?.exposedIps, ["192.0.2.1", "2001:db8::1"]);
});

test("after a restart a stored answer of both families stays as it is", () => {
  const exposed = { targets: { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] }, source: "test" };
  const stored = plan({ exposed, views: [] }).records!;
  assert.deepEqual(plan({ exposed, stored, views: [view("us", "unknown")] }).records, stored);
});

test("after a restart the last addresses of a family stand that nobody could tell of, and of no other", () => {
  const before = { targets: { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] }, source: "test" };
  const { status } = plan({ exposed: before, views: [] });
  const exposed = { targets: { A: ["192.0.2.2"], AAAA: [] }, source: "test" };
  const half = plan({ exposed: { ...exposed, unknownFamily: "AAAA" }, status, views: [] });
  assert.deepEqual(half.status.loadBalancer?.exposedIps, ["192.0.2.2", "2001:db8::1"]);
  assert.deepEqual(half.status.healthyRecords, { [host]: ["192.0.2.2", "2001:db8::1"] });
  const again = plan({ exposed: { ...exposed, unknownFamily: "AAAA" }, status: half.status, views: [] });
  assert.deepEqual(again.status.loadBalancer?.exposedIps, ["192.0.2.2", "2001:db8::1"]);
  const whole = plan({ exposed, status: half.status, views: [] });
  assert.deepEqual(whole.status.loadBalancer?.exposedIps, ["192.0.2.2"]);
});

test("D14: planned again over its own outcome nothing changes", () => {
  const first = plan();
  const second = plan({ stored: first.records!, status: first.status });
  assert.deepEqual(second.records, first.records);
  assert.equal(JSON.stringify(second.status), JSON.stringify(first.status));
});

test("a stored record is read a few times, however many hosts there are", () => {
  const servers = Array.from({ length: 100 }, (_, index) => server(`app-${index}.cloud.example.com`));
  let reads = 0;
  const stored = plan({ servers }).records!.map(({ dnsName, ...rest }) => ({
    ...rest,
    get dnsName() {
      reads += 1;
      return dnsName!;
    },
  }));
  assert.equal(plan({ servers, stored }).records?.length, stored.length);
  assert.ok(reads <= 3 * stored.length, `${reads} reads of ${stored.length} records`);
});

test("a Service behind many hosts is judged once", () => {
  const servers = Array.from({ length: 100 }, (_, index) => server(`app-${index}.cloud.example.com`));
  let asked = 0;
  plan({ servers, onBackend: () => (asked += 1) });
  assert.equal(asked, 1);
});

test("D14: in whatever order peers are heard, the records are the same", () => {
  const views = [
    view("za", "fresh", "203.0.113.1", "203.0.113.2"),
    view("us", "fresh", "198.51.100.1"),
    { ...view("us", "fresh", "2001:db8::2"), family: "AAAA" as const },
  ];
  for (const strategy of [{ type: "roundRobin", weight: { eu: 1, us: 2, za: 3 } }, { type: "geoip" }]) {
    const [first, ...others] = [views, views.toReversed(), [views[1]!, views[2]!, views[0]!]].map((each) =>
      JSON.stringify(plan({ strategy, views: each }).records),
    );
    for (const other of others) assert.equal(other, first);
  }
});

test("D14: hosts keep the order of the reference", () => {
  const servers = ["z.cloud.example.com", "a.cloud.example.com"].map(server);
  const result = plan({ servers });
  assert.equal(result.status.hosts, "z.cloud.example.com, a.cloud.example.com");
  assert.deepEqual(
    result.records?.map(({ dnsName }) => dnsName),
    [
      "localtargets-z.cloud.example.com",
      "z.cloud.example.com",
      "localtargets-a.cloud.example.com",
      "a.cloud.example.com",
    ],
  );
});

const storedAnswer = [
  record(`localtargets-${host}`, ["192.0.2.1", "192.0.2.2"]),
  record(host, ["192.0.2.1", "192.0.2.2", "198.51.100.1", "203.0.113.1"], {
    strategy: "roundRobin",
    "weight-eu-0-1": "192.0.2.1",
  }),
];

test("after a start the stored answer stands until each peer was asked", () => {
  const views = [view("us", "fresh", "198.51.100.1"), view("za", "unknown")];
  const result = plan({ strategy: { type: "roundRobin" }, views, stored: storedAnswer });
  assert.deepEqual(
    result.records?.find(({ dnsName }) => dnsName === host),
    storedAnswer[1],
  );
  assert.equal(result.hosts[0]?.held, true);
  assert.equal(isTrue(result, "PeersReachable"), "absent");
});

test("after a start own targets known dead leave the stored answer at once", () => {
  const result = plan({
    health: "unhealthy",
    views: [view("us", "unknown"), view("za", "unknown")],
    stored: storedAnswer,
  });
  assert.deepEqual(result.records, [
    record(host, ["198.51.100.1", "203.0.113.1"], { strategy: "roundRobin" }),
  ]);
});

test("after a start a host with nothing stored is decided by what is known", () => {
  const result = plan({ views: [view("us", "unknown")], stored: [record(host, [], failover)] });
  assert.deepEqual(result.records?.[1]?.targets, ["192.0.2.2", "192.0.2.1"]);
  assert.equal(result.hosts[0]?.held, false);
});

test("D1, D56: an unreachable peer is held for its threshold, and the plan says when to look again", () => {
  const strategy = { type: "roundRobin", splitBrainThresholdSeconds: 25 };
  const result = plan({ strategy, views: [view("us", "unreachable", "198.51.100.1"), view("za", "empty")] });
  assert.deepEqual(result.records?.[1]?.targets, ["192.0.2.2", "192.0.2.1", "198.51.100.1"]);
  assert.equal(result.afterMs, 15_000);
  assert.equal(isTrue(result, "PeersReachable"), "False PeerUnreachable");
  assert.match(findCondition(result.status.conditions, "PeersReachable")!.message, /from us$/);
});

test("a peer is told of as silent once it has been for ten seconds", () => {
  const silentFor = (ms: number): PeerView => ({ ...view("us", "unreachable"), unreachableSince: now - ms });
  const za = view("za", "fresh", "203.0.113.1");
  const short = plan({ views: [silentFor(9_000), za] });
  assert.equal(isTrue(short, "PeersReachable"), "absent");
  assert.equal(short.afterMs, 1_000);
  const long = plan({ views: [silentFor(10_000), za] });
  assert.equal(isTrue(long, "PeersReachable"), "False PeerUnreachable");
  assert.equal(long.afterMs, undefined);
});

test("an invalid spec keeps what was answered, without what nobody stands for, and says why", () => {
  const wrong = { strategy: { type: "Wrong" }, stored: storedAnswer };
  const result = plan({ ...wrong, health: "unhealthy" });
  assert.deepEqual(result.records, [record(host, ["198.51.100.1"], { strategy: "roundRobin" })]);
  const [us, za] = [view("us", "fresh", "198.51.100.1"), view("za", "unreachable")];
  assert.deepEqual(plan({ ...wrong, health: "unhealthy", views: [us, za] }).records, [
    record(host, ["198.51.100.1", "203.0.113.1"], { strategy: "roundRobin" }),
  ]);
  const answers = storedAnswer.filter(({ dnsName }) => dnsName === host);
  assert.deepEqual(
    plan({ ...wrong, stored: answers }).records?.map(({ dnsName }) => dnsName),
    [`localtargets-${host}`, host],
  );
  assert.equal(isTrue(result, "Accepted"), "False InvalidSpec");
  assert.equal(plan({ strategy: { type: "Wrong" } }).records, undefined);
});

test("a reference that is gone withdraws the own targets and leaves the host to its peers", () => {
  const status: GslbStatus = {
    geoTag: "eu",
    healthyRecords: {},
    serviceHealth: {},
    servers: [server(host)],
    loadBalancer: { exposedIps: ["192.0.2.1"] },
  };
  const reference = { kind: "failed", reason: "NotFound", message: "gone", gone: true } as const;
  const result = plan({ status, reference, stored: storedAnswer });
  assert.deepEqual(result.records, [record(host, ["198.51.100.1"], failover)]);
  assert.equal(isTrue(result, "ResolvedRefs"), "False NotFound");
});

test("a reference that cannot be told keeps the last servers, judged by their health now", () => {
  const status: GslbStatus = {
    geoTag: "eu",
    healthyRecords: {},
    serviceHealth: {},
    servers: [server(host)],
    loadBalancer: { exposedIps: ["192.0.2.1"] },
  };
  const reference = {
    kind: "failed",
    reason: "NotExactlyOne",
    message: "2 were found",
    gone: false,
  } as const;
  const exposed = { source: "test" };
  const own = (health?: BackendHealth): readonly string[] =>
    plan({ status, reference, exposed, ...(health === undefined ? {} : { health }) }).records?.find(
      ({ dnsName }) => dnsName === host,
    )?.targets ?? [];
  assert.deepEqual(own(), ["192.0.2.1"]);
  assert.deepEqual(own("unhealthy"), ["198.51.100.1"]);
});

test("addresses that cannot be told stay the last known ones, with a condition", () => {
  const status: GslbStatus = {
    geoTag: "eu",
    healthyRecords: {},
    serviceHealth: {},
    loadBalancer: { exposedIps: ["192.0.2.7"] },
  };
  const result = plan({ status, exposed: { source: "test", problem: "lb.example.net cannot be resolved" } });
  assert.deepEqual(result.records?.[0]?.targets, ["192.0.2.7"]);
  assert.equal(isTrue(result, "ResolvedRefs"), "False ExposedAddressesUnresolved");
});

const refusals: readonly { readonly name: string; readonly given: Given; readonly reason: string }[] = [
  {
    name: "outside every zone",
    given: { servers: [server("app.mycloud.example.com"), server(host)] },
    reason: "HostOutsideZones",
  },
  {
    name: "too long",
    given: { servers: [server(`${"a".repeat(51)}.cloud.example.com`), server(host)] },
    reason: "HostInvalid",
  },
  {
    name: "no DNS name",
    given: { servers: [server("a b.cloud.example.com"), server(host)] },
    reason: "HostInvalid",
  },
  {
    name: "the zone itself, whose localtargets- name is outside of it",
    given: { servers: [server("Cloud.example.com."), server(host)] },
    reason: "HostInvalid",
  },
  {
    name: "hidden by the zone of what clusters say of themselves",
    given: { servers: [server("app._localtargets.cloud.example.com"), server(host)] },
    reason: "HostInvalid",
  },
];

for (const { name, given, reason } of refusals) {
  test(`a host that is ${name} is refused, and the others are served`, () => {
    const result = plan(given);
    assert.equal(isTrue(result, "Accepted"), `False ${reason}`);
    assert.ok(findCondition(result.status.conditions, "Accepted")!.message.includes(given.servers![0]!.host));
    assert.equal(result.records?.length, 2);
    assert.equal(result.status.hosts, host);
  });
}

test("a host that another Gslb holds leaves the DNSEndpoint, and the holder is named", () => {
  const result = plan({ holder: "other/app", stored: storedAnswer });
  assert.deepEqual(result.records, []);
  assert.match(
    findCondition(result.status.conditions, "Accepted")!.message,
    /held by the older Gslb other\/app/,
  );
});

test("a host that leaves all zones leaves the DNSEndpoint", () => {
  assert.deepEqual(plan({ zones: [], stored: storedAnswer }).records, []);
  assert.equal(plan({ zones: [] }).records, undefined);
});

test("a DNSEndpoint of somebody else is not written", () => {
  const result = plan({
    endpointProblem: {
      reason: "DNSEndpointNotOwned",
      message: "DNSEndpoint demo/app is controlled by Foo bar",
    },
    stored: [],
  });
  assert.equal(result.records, undefined);
  assert.equal(isTrue(result, "Programmed"), "False DNSEndpointNotOwned");
});
