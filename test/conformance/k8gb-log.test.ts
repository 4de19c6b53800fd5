import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { dnsEndpointType, gslbType, zoneDelegationType } from "@meridian/gslb";

import { ingressType } from "@meridian/kube";
import { ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

// Phrases that users of k8gb look for in the log, each when it happens in a whole cluster.

const toIngress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
let world: ReferenceWorld;

before(async () => {
  world = await ReferenceWorld.open({ MERIDIAN_DNS_ADDRESSES: "", EXTDNS_ENABLED: "true" });
});
after(() => world.close());

/** What is logged while something happens, as `level message`. */
async function logOf(happens: () => Promise<unknown>): Promise<readonly string[]> {
  const before = world.logged.length;
  await happens();
  await world.settle(10_000);
  return world.logged.slice(before).map(({ level, message }) => `${level} ${message}`);
}

const cases: readonly {
  readonly name: string;
  readonly happens: () => Promise<unknown>;
  readonly says: readonly string[];
}[] = [
  {
    name: "a labelled Ingress tells where the DNS server is",
    happens: async () => {
      const labels = { "k8gb.io/ip-source": "true" };
      await world.ingress("dns", { "dns.example.org": "dns" }, { labels });
    },
    says: [
      "info available IPs",
      "debug Reconciling ZoneDelegation",
      "debug Calling DNS provider",
      "debug Finished Reconciling zone delegation",
    ],
  },
  {
    name: "D36: another address of that Ingress, at once",
    happens: async () => {
      await world.settle(60_000);
      await world.patchStatus(ingressType, "dns", { loadBalancer: { ingress: [{ ip: "192.0.2.77" }] } });
      await world.settle(1_000);
      const delegation = await world.simulation.complete(
        world.cluster.client.get(dnsEndpointType, {
          ...{ namespace: "k8gb", name: "k8gb-ns-extdns-cloud-example-com" },
        }),
      );
      assert.match(JSON.stringify(delegation), /192\.0\.2\.77/);
    },
    says: ["info available IPs", "debug Calling DNS provider"],
  },
  {
    name: "a Gslb with an Ingress of its own",
    happens: async () => {
      await world.serve("embedded");
      const ingress = { rules: ingressRules({ [`embedded.${zone}`]: "embedded" }) };
      await world.create(gslbType, "embedded", { spec: { strategy: { type: "roundRobin" }, ingress } });
    },
    says: [
      "debug Resolved strategy",
      "info Creating a new Ingress",
      "info Creating a new DNSEndpoint",
      "info Final target list",
    ],
  },
  {
    name: "a Gslb with no host in any zone",
    happens: async () => {
      await world.ingress("foreign", { "foreign.example.org": "embedded" });
      await world.gslb("foreign", { ...toIngress, name: "foreign" });
    },
    says: ["info Skipping reconciliation: ZoneDelegation is not present or Status is empty"],
  },
  {
    name: "a host name that nobody resolves, once",
    happens: async () => {
      await world.ingress("named", { [`named.${zone}`]: "embedded" });
      const annotations = { "k8gb.io/exposed-hostnames": "lb.example.net" };
      await world.gslb("named", { ...toIngress, name: "named" }, { annotations });
    },
    says: ["warn Dig error"],
  },
  {
    name: "a ZoneDelegation that leaves its parent",
    happens: async () => {
      const spec = { loadBalancedZone: "other.example.com", parentZone: "example.com", dnsZoneNegTTL: 30 };
      await world.create(zoneDelegationType, "other", { spec: { ...spec, doFinalize: true } });
      await world.settle(10_000);
      await world.remove(zoneDelegationType, "other");
    },
    says: ["info Removing delegated zone from edge DNS"],
  },
];

test("the start: configured zones, and that nobody knows where the DNS server is", async () => {
  await world.settle(10_000);
  const said = world.logged.map(({ message }) => message);
  assert.ok(said.includes("ZoneDelegation saved"));
  assert.ok(said.includes("Waiting for IPs to be assigned"));
});

for (const { name, happens, says } of cases)
  test(name, async () => {
    const said = await logOf(happens);
    for (const line of says) assert.ok(said.includes(line), `${line}\n${said.join("\n")}`);
  });

test("what fails for long is told once, and at rest nothing is", async () => {
  await world.settle(600_000);
  const said = await logOf(() => world.settle(3_600_000));
  assert.deepEqual(
    said.filter((line) => !line.startsWith("debug")),
    [],
  );
});
