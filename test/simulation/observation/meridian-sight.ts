import type { KubeObject } from "@meridian/kube";
import {
  storeKey,
  types,
  type Application,
  type GslbObject,
  type GslbStrategySpec,
} from "../fleet/application.ts";
import { tamperedTarget } from "../fleet/cluster-user.ts";
import type { FleetCluster } from "../fleet/fleet-cluster.ts";
import {
  answerOf,
  askDirectly,
  askWhole,
  servedZone,
  type DirectAnswer,
  type PackedQuestions,
} from "./asking.ts";
import type { Sight, SightChanges } from "./sight.ts";

/** Sees a cluster that runs Meridian: what its store acknowledged, and what its DNS server answers. */
export class MeridianSight implements Sight {
  readonly #cluster: FleetCluster;
  readonly #zones: readonly string[];
  readonly #serials: number[] = [];
  #isOver: boolean | undefined;
  #version = "";
  readonly #byKey = new Map<string, string>();
  readonly #byEndpointKey = new Map<string, string>();

  constructor(
    cluster: FleetCluster,
    of: { readonly zones: readonly string[]; readonly applications: readonly Application[] },
  ) {
    this.#cluster = cluster;
    this.#zones = of.zones;
    for (const { name } of of.applications) {
      this.#byEndpointKey.set(storeKey(types.endpoint, name), name);
      for (const type of [types.service, types.slice, types.ingress, types.gslb])
        this.#byKey.set(storeKey(type, name), name);
    }
  }

  takeChanges(): SightChanges {
    const keys = this.#cluster.truth.takeChanged();
    if (keys.length === 0) return { keys, applications: [], tampered: [] };
    const tampered = keys.filter((key) => this.#byEndpointKey.has(key) && this.#isTampered(key));
    return {
      keys,
      applications: new Set(keys.flatMap((key) => this.#byKey.get(key) ?? [])),
      tampered: tampered.map((key) => this.#byEndpointKey.get(key)!),
    };
  }

  strategy(name: string): GslbStrategySpec | null {
    return this.#cluster.truth.object<GslbObject>(storeKey(types.gslb, name))?.spec?.strategy ?? null;
  }

  healthy(name: string): boolean {
    const { truth } = this.#cluster;
    return (
      this.strategy(name) !== null &&
      truth.current(storeKey(types.service, name)) !== undefined &&
      isReady(truth.object(storeKey(types.slice, name)))
    );
  }

  addresses(name: string): readonly string[] {
    return addressesOf(this.#cluster.truth.object(storeKey(types.ingress, name)));
  }

  version(): string | undefined {
    const authority = this.#cluster.cluster?.authority;
    let isSame = authority?.lease?.isOver === this.#isOver;
    for (const [index, name] of this.#zones.entries()) {
      const zone = servedZone(authority, name);
      if (zone?.ready !== true) return undefined;
      isSame = isSame && zone.serial === this.#serials[index];
      this.#serials[index] = zone.serial;
    }
    this.#isOver = authority?.lease?.isOver;
    if (!isSame) this.#version = `${this.#serials.join(" ")} ${this.#isOver === true ? "unvouched" : ""}`;
    return this.#version;
  }

  answer({ host, zone, name }: Application, questions: PackedQuestions): DirectAnswer {
    if (this.strategy(name)?.weight === undefined) return this.ask(questions);
    return askWhole(this.#cluster.cluster!.authority, { host, zone, questions });
  }

  ask(questions: PackedQuestions): DirectAnswer {
    return askDirectly(answerOf(this.#cluster.cluster!.authority), questions);
  }

  /** The operator itself never takes a DNSEndpoint away, nor writes what `ClusterUser.tamper` does. */
  #isTampered(key: string): boolean {
    const event = this.#cluster.truth.current(key);
    return event?.value === undefined || new TextDecoder().decode(event.value).includes(tamperedTarget);
  }
}

function isReady(slice: KubeObject | undefined): boolean {
  const { endpoints = [] } = (slice ?? {}) as {
    readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
  };
  return endpoints.some((endpoint) => endpoint.conditions?.ready === true);
}

function addressesOf(ingress: KubeObject | undefined): readonly string[] {
  const { status } = (ingress ?? {}) as {
    readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } };
  };
  return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).toSorted();
}
