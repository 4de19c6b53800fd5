import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadBalancerIngress } from "@meridian/kube";
import type { Gslb } from "../resources/gslb.ts";
import { exposedAddresses, type ExposedSources, type LookedUp } from "./exposed-addresses.ts";
import type { ReachedAt } from "./reference-kind.ts";

const hostnames = "k8gb.io/exposed-hostnames";
const addresses = "k8gb.io/exposed-ip-addresses";

const names: Readonly<Record<string, LookedUp>> = {
  "one.test": { state: "known", targets: { A: ["198.51.100.1"], AAAA: ["2001:db8::1"] } },
  "two.test": { state: "known", targets: { A: ["198.51.100.2"], AAAA: [] } },
  "empty.test": { state: "known", targets: { A: [], AAAA: [] } },
  "slow.test": { state: "pending" },
  "app.test": { state: "known", targets: { A: ["203.0.113.9"], AAAA: [] } },
  "dead.test": { state: "failed", verdict: "no reply in 2000 ms" },
};

interface Case {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly sources?: Partial<Pick<ExposedSources, "override">> & {
    readonly addresses?: readonly LoadBalancerIngress[];
  };
  /** Addresses of both families, or the start of what is wrong, or `unknown`. */
  readonly expect: readonly string[] | RegExp | "unknown";
}

const cases: readonly Case[] = [
  { name: "nothing known is no error", expect: [] },
  {
    name: "the object's addresses",
    sources: { addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }] },
    expect: ["192.0.2.1", "192.0.2.2"],
  },
  {
    name: "both families of the object, each once",
    sources: { addresses: [{ ip: "192.0.2.1" }, { ip: "2001:db8::9" }, { ip: "192.0.2.1" }] },
    expect: ["192.0.2.1", "2001:db8::9"],
  },
  {
    name: "the object's host name",
    sources: { addresses: [{ hostname: "one.test" }] },
    expect: ["198.51.100.1", "2001:db8::1"],
  },
  {
    name: "an entry with both an address and a host name",
    sources: {
      addresses: [
        { ip: "192.0.2.1", hostname: "one.test" },
        { ip: "", hostname: "two.test" },
      ],
    },
    expect: ["192.0.2.1", "198.51.100.1", "198.51.100.2", "2001:db8::1"],
  },
  {
    name: "an object's name without addresses is none",
    sources: { addresses: [{ hostname: "empty.test" }] },
    expect: [],
  },
  {
    name: "an object's name that is not looked up yet",
    sources: { addresses: [{ hostname: "slow.test" }] },
    expect: "unknown",
  },
  {
    name: "an object's name that cannot be resolved",
    sources: { addresses: [{ hostname: "dead.test" }] },
    expect: /dead.test .* cannot be resolved: no reply/,
  },
  {
    name: "the configuration before the object",
    sources: { addresses: [{ ip: "192.0.2.1" }], override: ["203.0.113.1"] },
    expect: ["203.0.113.1"],
  },
  {
    name: "the addresses annotation before the configuration",
    annotations: { [addresses]: "10.0.0.1" },
    sources: { override: ["203.0.113.1"] },
    expect: ["10.0.0.1"],
  },
  {
    name: "two addresses in the annotation, spaces around",
    annotations: { [addresses]: "10.0.0.1, 10.0.0.2" },
    expect: ["10.0.0.1", "10.0.0.2"],
  },
  {
    name: "the host names annotation before the addresses annotation",
    annotations: { [hostnames]: "one.test", [addresses]: "10.0.0.1" },
    expect: ["198.51.100.1", "2001:db8::1"],
  },
  {
    name: "two host names, order kept",
    annotations: { [hostnames]: "two.test, one.test" },
    expect: ["198.51.100.2", "198.51.100.1", "2001:db8::1"],
  },
  {
    name: "an empty addresses annotation",
    annotations: { [addresses]: "" },
    expect: /is "", and "" is no address/,
  },
  {
    name: "a name in the addresses annotation",
    annotations: { [addresses]: "192.169.0.test" },
    expect: /"192.169.0.test" is no address/,
  },
  {
    name: "a first address that is none",
    annotations: { [addresses]: "256.256.256.256,10.0.0.1" },
    expect: /"256.256.256.256" is no address/,
  },
  { name: "a last comma", annotations: { [addresses]: "10.0.0.1," }, expect: /"" is no address/ },
  { name: "a blank host names annotation", annotations: { [hostnames]: " " }, expect: /is blank/ },
  {
    name: "both annotations, and nobody can be asked for the host name, which wins",
    annotations: { [hostnames]: "dead.test", [addresses]: "10.0.0.1" },
    expect: /dead.test .* cannot be resolved: no reply/,
  },
  {
    name: "what is no host name in the annotation",
    annotations: { [hostnames]: "one..test" },
    expect: /one\.\.test .* is no host name: it has an empty label/,
  },
  {
    name: "a host name without address",
    annotations: { [hostnames]: "one.test,empty.test" },
    expect: /empty.test .* has no address/,
  },
  {
    name: "an address in the host names annotation",
    annotations: { [hostnames]: "192.0.2.1" },
    expect: /192\.0\.2\.1 .* is an address and no host name; write it into annotation k8gb\.io\/exposed-ip/,
  },
  {
    name: "a host that is balanced itself would keep alive the addresses of clusters that are dead",
    annotations: { [hostnames]: "one.test,app.test" },
    expect: /app\.test .* is balanced itself, .*; name this cluster's own load balancer/,
  },
  {
    name: "the object's host name that is balanced itself",
    sources: { addresses: [{ hostname: "app.test" }] },
    expect: /app\.test \(the referenced object\) is balanced itself/,
  },
  {
    name: "the object's address beside a host name that is balanced itself",
    sources: { addresses: [{ ip: "192.0.2.1", hostname: "app.test" }] },
    expect: ["192.0.2.1"],
  },
];

for (const { name, annotations = {}, sources = {}, expect } of cases) {
  test(`exposed: ${name}`, () => {
    const gslb: Gslb = { apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata: { name: "g", annotations } };
    const lookUp = (host: string): LookedUp => names[host] ?? { state: "pending" };
    const isBalanced = (host: string): boolean => host === "app.test";
    const { addresses: entries = [], override = [] } = sources;
    // Precedence: the object is not even asked where something else says it.
    const isStated = override.length > 0 || Object.keys(annotations).length > 0;
    const reachedAt = (): ReachedAt => {
      assert.ok(!isStated, "the object was asked");
      return { entries, isUnknown: false, problems: [] };
    };
    const { targets, problem } = exposedAddresses(gslb, { reachedAt, override, lookUp, isBalanced });
    if (expect instanceof RegExp) {
      assert.match(problem ?? "", expect);
      assert.equal(targets, undefined);
    } else {
      assert.equal(problem, undefined);
      assert.deepEqual(targets === undefined ? "unknown" : [...targets.A, ...targets.AAAA], expect);
    }
  });
}

test("exposed: a family that is not known of one host name is not known of all, be they named or the object's", () => {
  const gslb: Gslb = { apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata: { name: "g" } };
  const four: LookedUp = {
    ...{ state: "known", targets: { A: ["198.51.100.2"], AAAA: [] } },
    unknownFamily: "AAAA",
  };
  const sources: ExposedSources = {
    reachedAt: () => ({
      entries: [{ hostname: "four.test" }, { hostname: "one.test" }],
      isUnknown: false,
      problems: [],
    }),
    override: [],
    lookUp: (name) => (name === "four.test" ? four : names[name]!),
    isBalanced: () => false,
  };
  const expected = {
    targets: { A: ["198.51.100.2", "198.51.100.1"], AAAA: ["2001:db8::1"] },
    unknownFamily: "AAAA",
  };
  const annotations = { [hostnames]: "four.test,one.test" };
  for (const metadata of [gslb.metadata, { ...gslb.metadata, annotations }]) {
    const { source: _source, ...found } = exposedAddresses({ ...gslb, metadata }, sources);
    assert.deepEqual(found, expected);
  }
});
