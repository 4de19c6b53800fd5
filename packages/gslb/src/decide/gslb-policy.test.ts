import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gslb, GslbSpec } from "../resources/gslb.ts";
import { parseGslbPolicy, policyWarnings, weightProblems } from "./gslb-policy.ts";

const tags = ["eu", "us", "za"];

function parse(spec: GslbSpec | undefined): ReturnType<typeof parseGslbPolicy> {
  const gslb: Gslb = {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: { name: "g" },
    ...(spec === undefined ? {} : { spec }),
  };
  return parseGslbPolicy(gslb);
}

test("D55: defaults are filled in and nothing is written back", () => {
  const spec: GslbSpec = { strategy: { type: "roundRobin" } };
  assert.deepEqual(parse(spec).policy, {
    strategy: { type: "roundRobin" },
    strategyName: "roundRobin",
    ttlSeconds: 30,
    splitBrainThresholdSeconds: 0,
    healthPolicy: "Any",
  });
  assert.deepEqual(spec, { strategy: { type: "roundRobin" } });
  assert.equal(parse({ strategy: { type: "geoip", dnsTtlSeconds: 0 } }).policy?.ttlSeconds, 30);
  assert.equal(parse({ strategy: { type: "geoip", dnsTtlSeconds: 5 } }).policy?.ttlSeconds, 5);
});

test("weights, primary, threshold and health policy are read", () => {
  const weight = { eu: 35, us: 50, za: 15 };
  assert.deepEqual(parse({ strategy: { type: "roundRobin", weight } }).policy?.strategy, {
    type: "roundRobin",
    weight,
  });
  const policy = parse({
    strategy: { type: "failover", primaryGeoTag: "eu", splitBrainThresholdSeconds: 300 },
    serviceHealthPolicy: "All",
  }).policy;
  assert.deepEqual(
    [policy?.strategy, policy?.splitBrainThresholdSeconds, policy?.healthPolicy],
    [{ type: "failover", primaryGeoTag: "eu" }, 300, "All"],
  );
});

const bad: readonly {
  readonly name: string;
  readonly spec: GslbSpec | undefined;
  readonly fields: readonly string[];
}[] = [
  { name: "no spec at all", spec: undefined, fields: ["type"] },
  { name: "an unknown type", spec: { strategy: { type: "Invalid" } }, fields: ["type"] },
  { name: "a type in another case", spec: { strategy: { type: "roundrobin" } }, fields: ["type"] },
  {
    name: "a negative TTL",
    spec: { strategy: { type: "geoip", dnsTtlSeconds: -1 } },
    fields: ["dnsTtlSeconds"],
  },
  {
    name: "a TTL over the limit of DNS",
    spec: { strategy: { type: "geoip", dnsTtlSeconds: 2 ** 31 } },
    fields: ["dnsTtlSeconds"],
  },
  {
    name: "a negative threshold",
    spec: { strategy: { type: "geoip", splitBrainThresholdSeconds: -5 } },
    fields: ["splitBrainThresholdSeconds"],
  },
  {
    name: "a weight over 1000",
    spec: { strategy: { type: "roundRobin", weight: { eu: 10_010 } } },
    fields: ["weight.eu"],
  },
  {
    name: "a weight of no geo tag",
    spec: { strategy: { type: "roundRobin", weight: { "eu#": 1 } } },
    fields: ["weight.eu#"],
  },
  {
    name: "weights with another type",
    spec: { strategy: { type: "failover", primaryGeoTag: "eu", weight: { eu: 1 } } },
    fields: ["weight"],
  },
  {
    name: "several at once",
    spec: { strategy: { type: "x", dnsTtlSeconds: -1, weight: { us: -1 } } },
    fields: ["dnsTtlSeconds", "weight", "weight.us", "type"],
  },
];

for (const { name, spec, fields } of bad) {
  test(`refused: ${name}`, () => {
    const problems = parse(spec).problems ?? [];
    assert.deepEqual(
      problems.map((problem) => problem.field),
      fields.map((field) => `spec.strategy.${field}`),
    );
    for (const problem of problems) assert.ok(problem.message.startsWith(problem.field), problem.message);
  });
}

test("D57: failover without a usable primary is accepted with a warning", () => {
  const warningsOf = (primaryGeoTag?: string): readonly string[] =>
    policyWarnings(
      parse({ strategy: { type: "failover", ...(primaryGeoTag === undefined ? {} : { primaryGeoTag }) } })
        .policy!,
      tags,
    );
  assert.equal(warningsOf("eu").length, 0);
  assert.match(warningsOf()[0]!, /not set.*; name the primary cluster \(eu, us, za\)$/);
  assert.match(warningsOf("mars")[0]!, /mars is not in the fleet \(eu, us, za\).*; name one of them$/);
});

test("a weight of a cluster that is not in the fleet, or has left it, is told of", () => {
  const policy = parse({ strategy: { type: "roundRobin", weight: { eu: 1, mars: 2 } } }).policy!;
  assert.deepEqual(weightProblems(policy, { geoTags: tags, isFleetOpen: true }), []);
  const [problem = "", ...more] = weightProblems(policy, { geoTags: tags });
  assert.match(
    problem,
    /^spec\.strategy\.weight\.mars .* not in the fleet \(eu, us, za\).*; remove it or add/,
  );
  assert.deepEqual(more, []);
});
