import assert from "node:assert/strict";
import { test } from "node:test";
import { ingressType, serviceType } from "@meridian/kube";
import { gslbType } from "@meridian/gslb";
import { Simulation } from "@meridian/runtime/sim";
import { foreignType, ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

// k8gb's older end-to-end suite: applications that stop and start in whole fleets of 2 to 8 clusters, asked at each.

const tags = ["eu", "us", "cz", "af", "ru", "ap", "uk", "ca"];
const istio = "networking.istio.io";
const istioGateways = foreignType(istio, "v1", "Gateway");
const virtualServices = foreignType(istio, "v1", "VirtualService");
const name = "app";
const host = `${name}.${zone}`;
const addressesOf = (tag: string): readonly string[] =>
  ["192.0.2", "198.51.100"].map((network) => `${network}.${tags.indexOf(tag) + 1}`);

/** How the Gslb gets to its application. */
type Variant = "embedded" | "referenced" | "istio";
const variants: readonly Variant[] = ["embedded", "referenced", "istio"];

class Fleet {
  readonly #clusters: ReadonlyMap<string, ReferenceWorld>;

  private constructor(clusters: ReadonlyMap<string, ReferenceWorld>) {
    this.#clusters = clusters;
  }

  static async open(count: number): Promise<Fleet> {
    const simulation = new Simulation({ seed: count });
    const members = tags.slice(0, count);
    const clusters = new Map<string, ReferenceWorld>();
    for (const [network, geoTag] of members.entries()) {
      const peers = members.flatMap((tag, other) => (tag === geoTag ? [] : [`${tag}=10.0.${other}.1:53`]));
      const settings = { EXT_GSLB_CLUSTERS_GEO_TAGS: members.join(), MERIDIAN_PEERS: peers.join() };
      const place = { geoTag, network, simulation };
      clusters.set(geoTag, await ReferenceWorld.open(settings, { place }));
    }
    return new Fleet(clusters);
  }

  get tags(): readonly string[] {
    return [...this.#clusters.keys()];
  }

  at(tag: string): ReferenceWorld {
    return this.#clusters.get(tag)!;
  }

  /** The application in every cluster, with a strategy that may be another in each. */
  async deploy(variant: Variant, strategyOf: (tag: string) => object): Promise<void> {
    for (const [tag, world] of this.#clusters) {
      await world.serve(name);
      await deployments[variant](
        world,
        addressesOf(tag).map((ip) => ({ ip })),
        strategyOf(tag),
      );
    }
  }

  /** What every cluster must come to answer. */
  async answers(...members: readonly string[]): Promise<void> {
    for (const tag of this.#clusters.keys()) await this.answersAt(tag, ...members);
  }

  async answersAt(tag: string, ...members: readonly string[]): Promise<void> {
    const expected =
      members.length === 0 ? "nodata" : `data ${members.flatMap(addressesOf).toSorted().join()}`;
    let found = "";
    // A peer that lost a hint is asked a period later.
    for (let tries = 0; tries < 70 && found !== expected; tries += 1) {
      if (tries > 0) await this.at(tag).settle(500);
      found = await this.at(tag).dig(host);
    }
    assert.equal(found, expected, `${host} at ${tag}`);
  }

  async close(): Promise<void> {
    for (const world of this.#clusters.values()) await world.close();
  }
}

const deployments: Readonly<
  Record<Variant, (world: ReferenceWorld, entries: readonly object[], strategy: object) => Promise<void>>
> = {
  embedded: async (world, entries, strategy) => {
    const ingress = { rules: ingressRules({ [host]: name }) };
    await world.create(gslbType, name, { spec: { strategy, ingress } });
    await world.settle();
    await world.patchStatus(ingressType, name, { loadBalancer: { ingress: entries } });
  },
  referenced: async (world, entries, strategy) => {
    await world.ingress(name, { [host]: name });
    await world.patchStatus(ingressType, name, { loadBalancer: { ingress: entries } });
    const ref = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name };
    await world.gslb(name, ref, { spec: { strategy } });
  },
  istio: async (world, entries, strategy) => {
    await world.define(istioGateways);
    await world.define(virtualServices);
    const labels = { app: "istio-ingressgateway" };
    await world.create(serviceType, "gateway", {
      labels,
      spec: { type: "LoadBalancer", ports: [{ name: "http", port: 80 }] },
    });
    await world.patchStatus(serviceType, "gateway", { loadBalancer: { ingress: entries } });
    await world.create(istioGateways, "edge", { spec: { selector: labels } });
    const http = [{ route: [{ destination: { host: name } }] }];
    await world.create(virtualServices, name, {
      spec: { hosts: [host], gateways: ["default/edge"], http },
    });
    await world.gslb(
      name,
      { apiVersion: `${istio}/v1`, kind: "VirtualService", name },
      { spec: { strategy } },
    );
  },
};

/** Stops the application in one cluster after another, and starts it again. */
async function shrinkAndGrow(fleet: Fleet): Promise<void> {
  const all = fleet.tags;
  await fleet.answers(...all);
  for (const [index, tag] of all.entries()) {
    await fleet.at(tag).setReady(name, false);
    await fleet.answers(...all.slice(index + 1));
  }
  for (const [index, tag] of all.entries()) {
    await fleet.at(tag).setReady(name, true);
    await fleet.answers(...all.slice(0, index + 1));
  }
}

for (let count = 2; count <= tags.length; count += 1)
  test(`roundRobin on ${count} clusters: all answer the union, which shrinks and grows everywhere`, async () => {
    const fleet = await Fleet.open(count);
    await fleet.deploy("referenced", () => ({ type: "roundRobin" }));
    await shrinkAndGrow(fleet);
    await fleet.close();
  });

for (const variant of variants) {
  test(`${variant}: roundRobin on 2 clusters shrinks and grows`, async () => {
    const fleet = await Fleet.open(2);
    await fleet.deploy(variant, () => ({ type: "roundRobin" }));
    await shrinkAndGrow(fleet);
    await fleet.close();
  });

  test(`${variant}: failover with eu as primary, through each state of both`, async () => {
    const fleet = await Fleet.open(2);
    await fleet.deploy(variant, () => ({ type: "failover", primaryGeoTag: "eu" }));
    await fleet.answers("eu");
    for (const [tag, ready, answered] of [
      ["us", false, ["eu"]],
      ["eu", false, []],
      ["us", true, ["us"]],
      ["eu", true, ["eu"]],
    ] as const) {
      await fleet.at(tag).setReady(name, ready);
      await fleet.answers(...answered);
    }
    await fleet.close();
  });

  test(`${variant}: weights 5 and 5 are labels of both clusters' DNSEndpoints`, async () => {
    const fleet = await Fleet.open(2);
    await fleet.deploy(variant, () => ({ type: "roundRobin", weight: { eu: 5, us: 5 } }));
    const [eu, us] = ["eu", "us"].map(addressesOf);
    const expected = {
      ...{ strategy: "roundRobin", "weight-eu-0-5": eu![0], "weight-eu-1-5": eu![1] },
      ...{ "weight-us-0-5": us![0], "weight-us-1-5": us![1] },
    };
    for (const tag of fleet.tags) {
      const world = fleet.at(tag);
      await world.settle(35_000);
      const entry = (await world.endpoint(name))?.spec?.endpoints?.find(({ dnsName }) => dnsName === host);
      assert.deepEqual(entry?.labels, expected);
      assert.deepEqual(entry?.targets?.toSorted(), [...eu!, ...us!].toSorted());
    }
    await fleet.close();
  });
}

test("split failover: each cluster names itself primary and answers itself, and the other while it is down", async () => {
  const fleet = await Fleet.open(2);
  await fleet.deploy("referenced", (tag) => ({ type: "failover", primaryGeoTag: tag }));
  const eachItself = async (): Promise<void> => {
    for (const tag of fleet.tags) await fleet.answersAt(tag, tag);
  };
  await eachItself();
  await fleet.at("eu").setReady(name, false);
  await fleet.answers("us");
  await fleet.at("eu").setReady(name, true);
  await eachItself();
  await fleet.close();
});

test("D1: packets that are lost take no cluster out of any answer", async () => {
  const fleet = await Fleet.open(2);
  await fleet.deploy("referenced", () => ({ type: "failover", primaryGeoTag: "eu" }));
  await fleet.answers("eu");
  const { simulation } = fleet.at("us");
  await fleet.at("us").settle(35_000);
  const endpoint = await fleet.at("us").endpoint(name);
  const isUp = async (): Promise<string> => fleet.at("us").condition(name, "PeersReachable");
  assert.equal(await isUp(), "True PeersReachable");
  simulation.setLink("eu", "us", { loss: 0.05 });
  // In 240 rounds some twenty questions or replies are lost.
  await fleet.at("us").settle(7_200_000);
  assert.equal(await isUp(), "True PeersReachable");
  const now = await fleet.at("us").endpoint(name);
  assert.equal(now?.metadata.resourceVersion, endpoint?.metadata.resourceVersion);
  await fleet.close();
});
