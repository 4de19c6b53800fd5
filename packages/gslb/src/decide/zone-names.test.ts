import assert from "node:assert/strict";
import { test } from "node:test";
import { hostNameProblem, isInZone, zoneOf } from "./dns-name.ts";
import { balancedHostProblem, isLocalTargetsName, localTargetsName } from "./local-targets-name.ts";
import {
  geoTagOfNameServer,
  geoTagsOfNameServers,
  localTargetsZone,
  nameServerName,
  nameServerProblem,
  zoneObjectName,
  zoneOfLocalTargetsZone,
  zonePairProblem,
} from "./zone-names.ts";

const cloud = { loadBalancedZone: "cloud.example.com", parentZone: "example.com" };
const deep = { loadBalancedZone: "podinfo.foo.blah.gslb.a.b.c.d", parentZone: "a.b.c.d" };

const nameServers: readonly {
  readonly zone: typeof cloud;
  readonly tag: string;
  readonly prefix: string;
  readonly name: string;
}[] = [
  { zone: cloud, tag: "eu", prefix: "gslb-ns-", name: "gslb-ns-eu-cloud.example.com" },
  { zone: cloud, tag: "us-test-1", prefix: "gslb-ns-", name: "gslb-ns-us-test-1-cloud.example.com" },
  {
    zone: { loadBalancedZone: "k8gb-test.gslb.cloud.example.com", parentZone: "cloud.example.com" },
    tag: "us",
    prefix: "gslb-ns-",
    name: "gslb-ns-us-k8gb-test-gslb.cloud.example.com",
  },
  { zone: deep, tag: "1-test", prefix: "gslb-ns-", name: "gslb-ns-1-test-podinfo-foo-blah-gslb.a.b.c.d" },
  { zone: deep, tag: "1-test", prefix: "my-", name: "my-1-test-podinfo-foo-blah-gslb.a.b.c.d" },
];

for (const { zone, tag, prefix, name } of nameServers) {
  test(`${name} is the name server of ${tag} and tells its tag`, () => {
    assert.equal(nameServerName(zone, tag, prefix), name);
    assert.equal(geoTagOfNameServer(zone, `${name}.`, prefix), tag);
    assert.equal(geoTagOfNameServer(zone, name.toUpperCase(), prefix), tag);
  });
}

test("Geo tag extraction: of any names only those of clusters' servers for the zone count, each tag once", () => {
  const names = [
    "gslb-ns-us-east-1-cloud.example.com.",
    "GSLB-NS-EU-cloud.example.com",
    "gslb-ns-eu-cloud.example.com",
    "gslb-ns-za-cloud2.example.com",
    "gslb-ns-a.b-cloud.example.com",
    "gslb-ns--cloud.example.com",
    "ns1.dns.cloud.example.com",
    "ns.example.net",
  ];
  assert.deepEqual(geoTagsOfNameServers(cloud, names, "gslb-ns-"), ["eu", "us-east-1"]);
  assert.deepEqual(geoTagsOfNameServers(cloud, ["pr-eu-cloud.example.com"], "pr-"), ["eu"]);
});

test("D15: the longest zone wins, label by label and without case", () => {
  const zones = ["example.com", "cloud.example.com", "Deep.Cloud.example.com"];
  const cases = [
    ["app.cloud.example.com", "cloud.example.com"],
    ["cloud.example.com", "cloud.example.com"],
    ["APP.Cloud.Example.com.", "cloud.example.com"],
    ["a.deep.cloud.example.com", "Deep.Cloud.example.com"],
    ["mycloud.example.com", "example.com"],
    ["app.cloud.example.com.evil.org", undefined],
    ["example.org", undefined],
  ] as const;
  for (const [host, zone] of cases) assert.equal(zoneOf(host, zones), zone, host);
  assert.ok(!isInZone("mycloud.example.com", "cloud.example.com"));
  assert.equal(zoneOf("app.cloud.example.com", []), undefined);
});

test("a host's localtargets name must keep the limits of DNS", () => {
  const label = (length: number): string => "a".repeat(length);
  assert.equal(balancedHostProblem(`${label(50)}.cloud.example.com`), undefined);
  assert.match(
    balancedHostProblem(`${label(51)}.cloud.example.com`)!,
    /localtargets-a{51}.* 64 characters.*63; shorten the host's first label to 50/,
  );
  const long = `${label(50)}.${label(63)}.${label(63)}.${label(59)}`;
  assert.match(balancedHostProblem(`${long}.abc`)!, /255 characters/);
  assert.equal(balancedHostProblem("*.cloud.example.com"), undefined);
  assert.match(balancedHostProblem("localtargets-app.cloud.example.com")!, /what clusters publish/);
});

test("what is no host name is told apart", () => {
  for (const host of ["app.cloud.example.com", "a.b.", "_x.y", "*.x", "xn--bcher-kva.example"])
    assert.equal(hostNameProblem(host), undefined, host);
  for (const host of [
    "",
    ".",
    "a..b",
    "-a.b",
    "a-.b",
    "a b.c",
    "x.*.y",
    `${"a".repeat(64)}.b`,
    Array(90).fill("abc").join("."),
  ])
    assert.notEqual(hostNameProblem(host), undefined, host);
  assert.match(hostNameProblem("münchen.x") ?? "", /; write names of other scripts as xn--/);
});

test("localtargets names are literal, also of wildcards, and known in any case", () => {
  assert.equal(localTargetsName("*.x.example.com"), "localtargets-*.x.example.com");
  assert.ok(isLocalTargetsName("LocalTargets-app.example.com"));
  assert.ok(!isLocalTargetsName("app.localtargets-x.example.com"));
});

test("zones have names of their own for objects and for what clusters say of themselves", () => {
  assert.equal(zoneObjectName("Cloud.Example.com."), "cloud-example-com");
  assert.equal(localTargetsZone("Cloud.example.com"), "_localtargets.cloud.example.com");
  assert.equal(zoneOfLocalTargetsZone("_LOCALTARGETS.cloud.example.com."), "cloud.example.com");
  assert.equal(zoneOfLocalTargetsZone("cloud.example.com"), undefined);
});

test("D-15: a name server name that breaks a limit is a problem", () => {
  assert.equal(nameServerProblem(cloud, "eu", "gslb-ns-"), undefined);
  assert.match(nameServerProblem(cloud, "e".repeat(60), "gslb-ns-")!, /cannot be used/);
});

test("a zone is below its parent and takes no names under which clusters tell each other what they serve", () => {
  const problem = (loadBalancedZone: string, parentZone = "example.com"): string | undefined =>
    zonePairProblem({ loadBalancedZone, parentZone }, { geoTags: ["eu"], prefix: "gslb-ns-" });
  assert.equal(problem("cloud.example.com"), undefined);
  assert.equal(problem("my-localtargets.example.com"), undefined);
  for (const zone of [
    "_localtargets.cloud.example.com",
    "a._LocalTargets.cloud.example.com",
    "localtargets-app.cloud.example.com",
    "LOCALTARGETS-app.cloud.example.com.",
  ])
    assert.match(problem(zone) ?? "", /is what clusters publish to each other/, zone);
  for (const zone of ["example.com", "Example.com.", "example.org"])
    assert.match(problem(zone) ?? "", /must be below parentZone/, zone);
});
