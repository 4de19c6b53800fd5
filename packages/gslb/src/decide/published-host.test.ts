import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGslbPolicy } from "./gslb-policy.ts";
import { balancedHostProblem } from "./local-targets-name.ts";
import {
  isPublishable,
  parsePublishedPolicy,
  publishedHost,
  publishedName,
  publishedPolicyText,
  publishedText,
} from "./published-host.ts";

const zone = "cloud.example.com";

test("a host has a name in the view of its zone, wildcards too, and the name leads back to it", () => {
  for (const [host, name] of [
    ["App.cloud.example.com", "app._localtargets.cloud.example.com"],
    ["a.b.cloud.example.com.", "a.b._localtargets.cloud.example.com"],
    ["*.apps.cloud.example.com", "*.apps._localtargets.cloud.example.com"],
  ] as const) {
    assert.equal(publishedName(host, zone), name);
    assert.equal(publishedHost(name, zone), host.toLowerCase().replace(/\.$/, ""));
  }
  assert.equal(publishedHost("_localtargets.cloud.example.com", zone), undefined);
  assert.equal(publishedHost("app.cloud.example.com", zone), undefined);
});

test("k8gb's limit: a host of 240 characters, for which the view has no room, has a name of hashes and is spelled out", () => {
  const label = "x".repeat(50);
  const stem = `.${label}.${label}.${label}.${zone}`;
  const host = (length: number): string => {
    const rest = length - stem.length;
    return `${"y".repeat(30)}.${"z".repeat(rest - 31)}${stem}`;
  };
  const text = '"v=1" "strategy=roundRobin"';
  assert.equal(publishedText(host(239), zone, text), text);
  assert.equal(publishedName(host(239), zone).length, 253);
  const wildcard = `*.${host(238)}`;
  for (const each of [host(240), wildcard]) {
    assert.equal(balancedHostProblem(each, zone), undefined);
    const name = publishedName(each, zone);
    assert.match(name, /^-[0-9a-z]+-[0-9a-z]+\._localtargets\.cloud\.example\.com$/);
    assert.equal(publishedHost(name, zone), undefined);
    const spelled = publishedText(each, zone, text);
    assert.equal(publishedHost(name, zone, spelled), each);
    assert.equal(parsePublishedPolicy(spelled, 5)?.strategyName, "roundRobin");
    // Who spells another host than the name is of is not believed.
    assert.equal(publishedHost(name, zone, spelled.replace("yyy", "yyx")), undefined);
    assert.equal(publishedHost(name, zone, '"v=1" "host=app.example.net"'), undefined);
  }
  assert.match(balancedHostProblem(host(241), zone)!, /has 254 characters, and DNS allows 253/);
});

test("a zone may be too long for any view", () => {
  const long = Array.from({ length: 4 }, () => "z".repeat(58)).join(".");
  assert.equal(isPublishable(`a.${long}`, long), true);
  assert.equal(isPublishable(`abcd.${long}`, long), false);
  assert.match(balancedHostProblem(`abcd.${long}`, long)!, /use a zone with a shorter name/);
});

const specs: readonly { readonly strategy: object; readonly text: string }[] = [
  { strategy: { type: "roundRobin" }, text: '"v=1" "strategy=roundRobin"' },
  { strategy: { type: "geoip" }, text: '"v=1" "strategy=geoip"' },
  {
    strategy: { type: "failover", primaryGeoTag: "us-east-1", splitBrainThresholdSeconds: 60 },
    text: '"v=1" "strategy=failover" "primary=us-east-1" "threshold=60"',
  },
  { strategy: { type: "failover" }, text: '"v=1" "strategy=failover" "primary="' },
  {
    strategy: { type: "failover", primaryGeoTag: 'zürich"' },
    text: '"v=1" "strategy=failover" "primary=z%C3%BCrich%22"',
  },
  {
    strategy: { type: "roundRobin", weight: { "us-east-1": 0, eu: 35 } },
    text: '"v=1" "strategy=roundRobin" "weight=eu:35" "weight=us-east-1:0"',
  },
];

for (const { strategy, text } of specs)
  test(`how a host is balanced is told as ${text}, and read back`, () => {
    const gslb = { metadata: {}, spec: { strategy } } as never;
    const { policy } = parseGslbPolicy(gslb);
    assert.equal(publishedPolicyText(policy), text);
    const { healthPolicy: _, ...published } = policy!;
    assert.deepEqual(parsePublishedPolicy(text, published.ttlSeconds), published);
  });

for (const text of [
  "",
  '"v=2" "strategy=geoip"',
  '"v=1"',
  '"v=1" "strategy=other"',
  "v=1",
  '"strategy=geoip"',
])
  test(`${text || "nothing"} says nothing of how a host is balanced`, () => {
    assert.equal(parsePublishedPolicy(text, 5), undefined);
  });

test("what is not understood of a policy is passed over", () => {
  const text = '"v=1" "strategy=roundRobin" "weight=eu:x" "weight=us:7" "threshold=-1" "later=1"';
  assert.deepEqual(parsePublishedPolicy(text, 5), {
    strategy: { type: "roundRobin", weight: { us: 7 } },
    strategyName: "roundRobin",
    ttlSeconds: 5,
    splitBrainThresholdSeconds: 0,
  });
  assert.deepEqual(parsePublishedPolicy('"v=1" "strategy=failover" "primary=%zz"', 5)?.strategy, {
    type: "failover",
    primaryGeoTag: "",
  });
  const long = {
    metadata: {},
    spec: { strategy: { type: "failover", primaryGeoTag: "x".repeat(300) } },
  } as never;
  assert.equal(publishedPolicyText(parseGslbPolicy(long).policy), '"v=1" "strategy=failover" "primary="');
});
