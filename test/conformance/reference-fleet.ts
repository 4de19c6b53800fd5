import assert from "node:assert/strict";
import { gslbType } from "@meridian/gslb";
import { ingressType, serviceType } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import { foreignType, ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

/** The clusters that a fleet may have. */
export const tags: readonly string[] = ["eu", "us", "cz", "af", "ru", "ap", "uk", "ca"];
const istio = "networking.istio.io";
const istioGateways = foreignType(istio, "v1", "Gateway");
const virtualServices = foreignType(istio, "v1", "VirtualService");
/** The application that is deployed. */
export const name = "app";
export const host: string = `${name}.${zone}`;
/** Where the application is reached in a cluster. */
export const addressesOf = (tag: string): readonly string[] =>
  ["192.0.2", "198.51.100"].map((network) => `${network}.${tags.indexOf(tag) + 1}`);

/** How the Gslb gets to its application. */
export type Variant = "embedded" | "referenced" | "istio";
export const variants: readonly Variant[] = ["embedded", "referenced", "istio"];

type SettingsOf = (tag: string) => Readonly<Record<string, string>>;

/** Whole clusters in one simulation that know where the others are. */
export class ReferenceFleet {
  readonly #clusters = new Map<string, ReferenceWorld>();
  readonly #simulation: Simulation;
  readonly #members: readonly string[];
  readonly #settingsOf: SettingsOf;

  private constructor(members: readonly string[], settingsOf: SettingsOf) {
    this.#simulation = new Simulation({ seed: members.length });
    this.#members = members;
    this.#settingsOf = settingsOf;
  }

  /**
   * Opens a fleet of the first `count` of the tags, each with these settings beside those that it needs. Only `started` of
   * them run, if that is given; the others may `join`.
   */
  static async open(
    count: number,
    {
      started = count,
      settingsOf = () => ({}),
    }: {
      readonly started?: number;
      readonly settingsOf?: SettingsOf;
    } = {},
  ): Promise<ReferenceFleet> {
    const fleet = new ReferenceFleet(tags.slice(0, count), settingsOf);
    for (const tag of tags.slice(0, started)) await fleet.join(tag);
    return fleet;
  }

  /** Starts a member that does not run yet. */
  async join(geoTag: string): Promise<void> {
    const members = this.#members;
    const network = members.indexOf(geoTag);
    const peers = members.flatMap((tag, other) => (tag === geoTag ? [] : [`${tag}=10.0.${other}.1:53`]));
    const settings = {
      EXT_GSLB_CLUSTERS_GEO_TAGS: members.join(),
      MERIDIAN_PEERS: peers.join(),
      ...this.#settingsOf(geoTag),
    };
    const place = { geoTag, network, simulation: this.#simulation };
    this.#clusters.set(geoTag, await ReferenceWorld.open(settings, { place }));
  }

  /** The tags of all that run. */
  get tags(): readonly string[] {
    return [...this.#clusters.keys()];
  }

  /** The cluster of a tag. */
  at(tag: string): ReferenceWorld {
    return this.#clusters.get(tag)!;
  }

  /** The application in every cluster, or the named ones, with a strategy that may be another in each. */
  async deploy(
    variant: Variant,
    strategyOf: (tag: string) => object,
    at: readonly string[] = this.tags,
  ): Promise<void> {
    for (const tag of at) {
      const world = this.at(tag);
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

  /** What one cluster must come to answer. */
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

  /** Stops all clusters. */
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
