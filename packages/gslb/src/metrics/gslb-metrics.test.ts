import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { GslbTally } from "../controllers/gslb-observer.ts";
import type { GslbPlan } from "../decide/plan-gslb.ts";
import type { HostPlan } from "../decide/host-plan.ts";
import type { HostHealth } from "../decide/health.ts";
import type { Strategy } from "../decide/strategy.ts";
import type { WapiCall } from "../delegation/wapi-client.ts";
import type { BalancerReadings } from "./balancer-readings.ts";
import type { ConvergenceCause } from "./convergence-timer.ts";
import { registerGslbMetrics } from "./gslb-metrics.ts";

interface Given {
  readonly strategy?: Strategy;
  readonly health?: Readonly<Record<string, HostHealth>>;
  readonly endpoints?: Readonly<Record<string, readonly string[]>>;
  readonly healthyRecords?: Readonly<Record<string, readonly string[]>>;
  readonly exposed?: readonly string[];
  readonly accepted?: boolean;
}

/** As much of a plan as is counted. */
function plan(given: Given = {}): GslbPlan {
  const { strategy = { type: "roundRobin" }, health = {}, endpoints = {}, accepted = true } = given;
  const hosts = Object.entries(health).map(([host, state]) => ({ host, health: state }) as HostPlan);
  return {
    records: Object.entries(endpoints).map(([dnsName, targets]) => ({ dnsName, recordType: "A", targets })),
    status: {
      ...{ geoTag: "eu", serviceHealth: {}, healthyRecords: given.healthyRecords ?? {} },
      loadBalancer: { exposedIps: given.exposed ?? [] },
      conditions: [
        {
          type: "Accepted",
          status: accepted ? "True" : "False",
          reason: "r",
          message: "",
          lastTransitionTime: "",
        },
      ],
    },
    policy: {
      policy: {
        strategy,
        strategyName: "",
        ttlSeconds: 30,
        splitBrainThresholdSeconds: 0,
        healthPolicy: "Any",
      },
    },
    hosts,
  };
}

interface World {
  readonly plans: Map<string, { plan: GslbPlan }>;
  readonly tally: GslbTally;
  readonly text: () => Promise<string>;
  readonly converge: (cause: ConvergenceCause, seconds: number) => void;
  readonly call: (call: WapiCall) => void;
}

function world(commit = "0123456789abcdef"): World {
  const registry = new Registry();
  const plans: World["plans"] = new Map();
  const tally = new GslbTally();
  let converge: World["converge"] = () => {};
  let call: World["call"] = () => {};
  const readings: BalancerReadings = {
    ...{ geoTag: "eu", namespace: "k8gb", isVouching: true, isLeading: true },
    plans: plans as unknown as BalancerReadings["plans"],
    get counts() {
      return tally.counts;
    },
    peers: [
      { zone: "z.test", geoTag: "us", isUp: true, mode: "copy", serial: 7, ageSeconds: 2 },
      {
        zone: "z.test",
        geoTag: "za",
        isUp: false,
        mode: "nothing",
        serial: undefined,
        ageSeconds: undefined,
      },
    ],
    delegations: [{ zone: "z.test", provider: "Infoblox", ensured: 3, failed: 1, withdrawn: 0 }],
    pause: async () => {},
    onConverged: (listener) => (converge = listener),
    onWapiCall: (listener) => (call = listener),
  };
  registerGslbMetrics(registry, readings, {
    ...{ version: "1.2.3", commit, runtime: "node v20", arch: "x64", os: "linux" },
  });
  return {
    plans,
    tally,
    text: () => registry.metrics(),
    converge: (cause, seconds) => converge(cause, seconds),
    call: (each) => call(each),
  };
}

/** The value of a series, by its name and labels as they are printed. */
async function value({ text }: World, series: string): Promise<number | undefined> {
  const line = (await text()).split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

const demo = 'namespace="demo",name="app"';
const names: readonly (readonly [name: string, type: string, zero: string | undefined])[] = [
  ["k8gb_gslb_errors_total", "counter", ""],
  ["k8gb_gslb_reconciliation_loops_total", "counter", ""],
  ["k8gb_gslb_service_status_num", "gauge", ',status="NotFound"'],
  ["k8gb_gslb_healthy_records", "gauge", ""],
  ["k8gb_gslb_healthy_local_records", "gauge", ',geotag="eu"'],
  ["k8gb_gslb_status_count_for_roundrobin", "gauge", ',status="Healthy"'],
  ["k8gb_gslb_status_count_for_geoip", "gauge", ',status="Unhealthy"'],
  ["k8gb_gslb_status_count_for_failover", "gauge", ',status="Healthy"'],
  ["k8gb_endpoint_status_num", "gauge", ',dns_name="init.example.com"'],
  ["k8gb_runtime_info", "gauge", undefined],
  ["k8gb_infoblox_request_duration", "histogram", undefined],
  ["k8gb_infoblox_zone_updates_total", "counter", ""],
  ["k8gb_infoblox_zone_update_errors_total", "counter", ""],
  ["k8gb_infoblox_heartbeats_total", "counter", ""],
  ["k8gb_infoblox_heartbeat_errors_total", "counter", ""],
];

for (const [name, type, zero] of names)
  test(`Metrics: ${name} is there once, with help, and from the start on where k8gb has it`, async () => {
    const started = world();
    const text = await started.text();
    assert.equal(text.split(`# TYPE ${name} ${type}\n`).length, 2);
    assert.match(text, new RegExp(`^# HELP ${name} \\S`, "m"));
    if (zero !== undefined)
      assert.equal(await value(started, `${name}{namespace="k8gb",name="init"${zero}}`), 0);
  });

test("Metrics: a pass and an error count one each, one that finds something wrong is an error", async () => {
  const counted = world();
  counted.tally.onPass("demo/app", undefined, plan());
  counted.tally.onFailure("demo/app");
  assert.equal(await value(counted, `k8gb_gslb_reconciliation_loops_total{${demo}}`), 1);
  assert.equal(await value(counted, `k8gb_gslb_errors_total{${demo}}`), 1);
  counted.tally.onPass("demo/app", undefined, plan({ accepted: false }));
  assert.equal(await value(counted, `k8gb_gslb_errors_total{${demo}}`), 2);
});

const figures: readonly {
  readonly name: string;
  readonly given: Given;
  readonly series: Readonly<Record<string, number | undefined>>;
}[] = [
  {
    name: "healthy records: two hosts with three addresses each are 6",
    given: { healthyRecords: { "a.z": ["1", "2", "3"], "b.z": ["1", "2", "3"] } },
    series: { [`k8gb_gslb_healthy_records{${demo}}`]: 6 },
  },
  {
    name: "healthy records: none are 0",
    given: {},
    series: { [`k8gb_gslb_healthy_records{${demo}}`]: 0 },
  },
  ...(
    [
      ["two of three", ["1", "2", "9"], 2],
      ["all", ["1", "2", "3"], 3],
      ["none", ["7", "8", "9"], 0],
      ["nothing exposed", [], 0],
    ] as const
  ).map(([name, exposed, count]) => ({
    name: `healthy local records: ${name}`,
    given: { exposed, healthyRecords: { "a.z": ["1", "2", "3"] } },
    series: { [`k8gb_gslb_healthy_local_records{${demo},geotag="eu"}`]: count },
  })),
  {
    name: "hosts per status 2, 1 and 1",
    given: { health: { a: "Healthy", b: "Healthy", c: "Unhealthy", d: "NotFound" } },
    series: {
      [`k8gb_gslb_service_status_num{${demo},status="Healthy"}`]: 2,
      [`k8gb_gslb_service_status_num{${demo},status="Unhealthy"}`]: 1,
      [`k8gb_gslb_service_status_num{${demo},status="NotFound"}`]: 1,
    },
  },
  {
    name: "failover, a healthy primary with two targets",
    given: {
      strategy: { type: "failover", primaryGeoTag: "eu" },
      ...{ health: { a: "Healthy" }, endpoints: { a: ["1", "2"] } },
    },
    series: {
      [`k8gb_gslb_status_count_for_failover{${demo},status="Healthy_primary"}`]: 2,
      [`k8gb_gslb_status_count_for_failover{${demo},status="Unhealthy_primary"}`]: 0,
      [`k8gb_gslb_status_count_for_failover{${demo},status="NotFound_primary"}`]: 0,
      [`k8gb_gslb_status_count_for_roundrobin{${demo},status="Healthy"}`]: undefined,
    },
  },
  {
    name: "failover, an unhealthy secondary with two targets",
    given: {
      strategy: { type: "failover", primaryGeoTag: "us" },
      ...{ health: { a: "Unhealthy" }, endpoints: { a: ["1", "2"] } },
    },
    series: {
      [`k8gb_gslb_status_count_for_failover{${demo},status="Healthy_secondary"}`]: 0,
      [`k8gb_gslb_status_count_for_failover{${demo},status="Unhealthy_secondary"}`]: 2,
      [`k8gb_gslb_status_count_for_failover{${demo},status="NotFound_secondary"}`]: 0,
    },
  },
  {
    name: "D53: round robin counts all hosts of a Gslb, not the last",
    given: {
      health: { a: "Healthy", b: "Healthy", c: "NotFound" },
      endpoints: { a: ["1", "2"], b: ["3"], c: ["4"] },
    },
    series: {
      [`k8gb_gslb_status_count_for_roundrobin{${demo},status="Healthy"}`]: 3,
      [`k8gb_gslb_status_count_for_roundrobin{${demo},status="Unhealthy"}`]: 0,
      [`k8gb_gslb_status_count_for_roundrobin{${demo},status="NotFound"}`]: 1,
    },
  },
  {
    name: "geoip",
    given: { strategy: { type: "geoip" }, health: { a: "Healthy" }, endpoints: { a: ["1"] } },
    series: { [`k8gb_gslb_status_count_for_geoip{${demo},status="Healthy"}`]: 1 },
  },
  {
    name: "endpoints with four and two targets",
    given: { endpoints: { "a.z": ["1", "2", "3", "4"], "localtargets-a.z": ["1", "2"] } },
    series: {
      [`k8gb_endpoint_status_num{${demo},dns_name="a.z"}`]: 4,
      [`k8gb_endpoint_status_num{${demo},dns_name="localtargets-a.z"}`]: 2,
    },
  },
];

for (const { name, given, series } of figures)
  test(`Metrics: ${name}`, async () => {
    const counted = world();
    counted.plans.set("demo/app", { plan: plan(given) });
    for (const [each, expected] of Object.entries(series))
      assert.equal(await value(counted, each), expected, each);
  });

test("Metrics: the commit is shortened to seven characters, and a shorter one is kept", async () => {
  assert.match(await world("0123").text(), /^k8gb_runtime_info\{.*git_sha="0123"\} 1$/m);
  assert.match(await world().text(), /^k8gb_runtime_info\{.*git_sha="0123456"\} 1$/m);
});

test("Metrics: calls of the Infoblox grid are timed in k8gb's buckets, and passes are counted at last", async () => {
  const counted = world();
  counted.call({ request: "ZoneUpdate", success: true, seconds: 1 });
  const of = 'request="ZoneUpdate",success="true"';
  assert.equal(await value(counted, `k8gb_infoblox_request_duration_bucket{le="0.8",${of}}`), 0);
  assert.equal(await value(counted, `k8gb_infoblox_request_duration_bucket{le="3.2",${of}}`), 1);
  assert.equal(await value(counted, 'k8gb_infoblox_zone_updates_total{namespace="k8gb",name="z.test"}'), 3);
  assert.equal(
    await value(counted, 'k8gb_infoblox_zone_update_errors_total{namespace="k8gb",name="z.test"}'),
    1,
  );
});

test("D53: a Gslb that is gone has no series any more, and one of its name starts anew", async () => {
  const counted = world();
  counted.plans.set("demo/app", { plan: plan({ health: { a: "Healthy" }, endpoints: { a: ["1"] } }) });
  counted.tally.onPass("demo/app", undefined, plan());
  assert.ok((await counted.text()).includes(demo));
  counted.plans.delete("demo/app");
  counted.tally.onGone("demo/app");
  assert.ok(!(await counted.text()).includes(demo));
  counted.tally.onPass("demo/app", undefined, plan());
  assert.equal(await value(counted, `k8gb_gslb_reconciliation_loops_total{${demo}}`), 1);
});

test("O-02: peers are up or down, with the age of what they said; one that never answered has no age", async () => {
  const told = world();
  const us = 'zone="z.test",geotag="us"';
  const za = 'zone="z.test",geotag="za"';
  const expected: Readonly<Record<string, number | undefined>> = {
    [`meridian_peer_up{${us}}`]: 1,
    [`meridian_peer_up{${za}}`]: 0,
    [`meridian_peer_age_seconds{${us}}`]: 2,
    [`meridian_peer_age_seconds{${za}}`]: undefined,
    [`meridian_peer_view_serial{${us}}`]: 7,
    [`meridian_peer_mode{${us},mode="copy"}`]: 1,
    [`meridian_peer_mode{${us},mode="questions"}`]: 0,
    meridian_operator_vouching: 1,
    'meridian_delegation_passes_total{zone="z.test",provider="Infoblox",outcome="failed"}': 1,
  };
  for (const [series, count] of Object.entries(expected))
    assert.equal(await value(told, series), count, series);
  told.converge("endpoints", 0.02);
  assert.equal(
    await value(told, 'meridian_gslb_convergence_seconds_bucket{le="0.025",cause="endpoints"}'),
    1,
  );
});
