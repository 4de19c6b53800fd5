import assert from "node:assert/strict";
import { test } from "node:test";
import { nameServerName } from "../decide/zone-names.ts";
import { parseOperatorConfig } from "./operator-config.ts";

const base = { CLUSTER_GEO_TAG: "us", EXT_GSLB_CLUSTERS_GEO_TAGS: "eu", EDGE_DNS_SERVERS: "192.0.2.53" };

interface Case {
  readonly name: string;
  readonly zones: string;
  readonly prefix?: string;
  /** Zone, parent, negative TTL and the name of the own server. */
  readonly expect: readonly string[] | RegExp;
}

const cases: readonly Case[] = [
  {
    name: "a TTL that is no number",
    zones: "example.com:cloud.example.com:30x",
    expect: /parent:zone:seconds/,
  },
  { name: "a part too few", zones: "example.com:cloud.example.com", expect: /parent:zone:seconds/ },
  { name: "a part too many", zones: "example.com:cloud.example.com:30:1", expect: /parent:zone:seconds/ },
  {
    name: "two zones with two parents",
    zones: "example.com:cloud.example.com:30;example.org:cloud.example.org:50",
    expect: [
      "cloud.example.com example.com 30 gslb-ns-us-cloud.example.com",
      "cloud.example.org example.org 50 gslb-ns-us-cloud.example.org",
    ],
  },
  {
    name: "two zones with one parent",
    zones: "example.com:a.example.com:30;example.com:b.example.com:50",
    expect: [
      "a.example.com example.com 30 gslb-ns-us-a.example.com",
      "b.example.com example.com 50 gslb-ns-us-b.example.com",
    ],
  },
  {
    name: "a prefix of one's own",
    zones: "example.com:cloud.example.com:30",
    prefix: "pr-",
    expect: ["cloud.example.com example.com 30 pr-us-cloud.example.com"],
  },
  {
    name: "a semicolon at the end",
    zones: "example.com:cloud.example.com:30;",
    expect: ["cloud.example.com example.com 30 gslb-ns-us-cloud.example.com"],
  },
  {
    name: "spaces around parts and before the last semicolon",
    zones: " example.com : cloud.example.com : 30 ; example.org:cloud.example.org: 50 ; ",
    expect: [
      "cloud.example.com example.com 30 gslb-ns-us-cloud.example.com",
      "cloud.example.org example.org 50 gslb-ns-us-cloud.example.org",
    ],
  },
  {
    name: "a zone of several labels",
    zones: "cloud.example.com: k8gb-test.gslb.cloud.example.com :60;",
    expect: [
      "k8gb-test.gslb.cloud.example.com cloud.example.com 60 gslb-ns-us-k8gb-test-gslb.cloud.example.com",
    ],
  },
  {
    name: "a name of the own server that is too long",
    zones: `${"a.".repeat(118)}example.com:c.${"a.".repeat(118)}example.com:30`,
    expect: /has \d+ characters, and DNS allows 253/,
  },
  {
    name: "a label of the own server's name that is too long",
    zones: `example.com:${"a".repeat(60)}.example.com:30`,
    expect: /has \d+ characters, and DNS allows 63/,
  },
  {
    name: "a zone outside of its parent",
    zones: "example.com:mycloud-example.com:30",
    expect: /must be below parentZone example.com/,
  },
  {
    name: "a zone that is named twice",
    zones: "example.com:cloud.example.com:30;example.com:Cloud.example.com:50",
    expect: /Cloud.example.com is named twice/,
  },
  { name: "nothing", zones: "", expect: [] },
];

for (const { name, zones, prefix = "gslb-ns-", expect } of cases)
  test(`DNS_ZONES: ${name}`, () => {
    const { config, problems } = parseOperatorConfig({ ...base, DNS_ZONES: zones, GLUEA_PREFIX: prefix });
    if (expect instanceof RegExp) {
      assert.deepEqual(
        problems?.map(({ variable }) => variable),
        ["DNS_ZONES"],
      );
      assert.match(problems?.[0]?.message ?? "", expect);
      return;
    }
    const found = config?.zones.map(
      (zone) =>
        `${zone.loadBalancedZone} ${zone.parentZone} ${zone.negativeTtlSeconds} ${nameServerName(zone, "us", prefix)}`,
    );
    assert.deepEqual(found, expect);
  });

const infoblox = {
  INFOBLOX_GRID_HOST: "grid.example.net",
  INFOBLOX_WAPI_USERNAME: "u",
  INFOBLOX_WAPI_PASSWORD: "p",
};
const modes: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
  ["Infoblox with a list is static", { ...infoblox, EXT_GSLB_CLUSTERS_GEO_TAGS: "eu,us" }, false],
  ["Infoblox without a list is dynamic", { ...infoblox, EXT_GSLB_CLUSTERS_GEO_TAGS: "" }, true],
  ["Infoblox with only the own tag is dynamic", { ...infoblox, EXT_GSLB_CLUSTERS_GEO_TAGS: "us" }, true],
  [
    "external-dns with an empty list is alone",
    { EXTDNS_ENABLED: "true", EXT_GSLB_CLUSTERS_GEO_TAGS: "" },
    false,
  ],
  ["nobody with an empty list is alone", { EXT_GSLB_CLUSTERS_GEO_TAGS: "" }, false],
  [
    "any provider is dynamic on request, and the listed ones are known from the start",
    { EXTDNS_ENABLED: "true", MERIDIAN_GEO_TAGS: "dynamic" },
    true,
  ],
  [
    "Infoblox without a list can be told not to be",
    { ...infoblox, EXT_GSLB_CLUSTERS_GEO_TAGS: "", MERIDIAN_GEO_TAGS: "static" },
    false,
  ],
];

for (const [name, environment, areGeoTagsDynamic] of modes)
  test(`Geo tag mode: ${name}`, () => {
    const { config } = parseOperatorConfig({ ...base, ...environment });
    assert.equal(config?.areGeoTagsDynamic, areGeoTagsDynamic);
  });

test("a fleet that is found by names, which carry no case, has no geo tags with capital letters", () => {
  const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] =>
    (parseOperatorConfig({ ...base, ...environment }).problems ?? []).map(({ message }) => message);
  const tags = { CLUSTER_GEO_TAG: "US", EXT_GSLB_CLUSTERS_GEO_TAGS: "EU,za" };
  const [own = "", listed = "", ...more] = problemsOf({ ...tags, MERIDIAN_GEO_TAGS: "dynamic" });
  assert.match(own, /^CLUSTER_GEO_TAG is "US"; it must be us where .*; or set MERIDIAN_GEO_TAGS=static/);
  assert.match(listed, /^EXT_GSLB_CLUSTERS_GEO_TAGS is "EU"; it must be eu where /);
  assert.deepEqual(more, []);
  assert.deepEqual(problemsOf(tags), []);
});
