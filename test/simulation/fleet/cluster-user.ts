import { createOrUpdate, KubeClient } from "@meridian/controller";
import { isStatusError, type ConfigMap, type KubeObject, type ResourceType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import {
  gslb,
  ingress,
  loadBalancerStatus,
  namespaceName,
  service,
  slice,
  types,
  type Application,
  type GslbStrategySpec,
} from "./application.ts";
import { fleetKeyText, parentKeyText } from "./fleet-keys.ts";
import { geoMapText, placeOf, tokenOf, type Tag } from "./fleet-map.ts";
import type { FleetSettings } from "./fleet-settings.ts";
import type { MemberUser } from "./member.ts";

/** What is wanted of one application in one cluster. */
export interface WantedApplication {
  readonly application: Application;
  readonly ready: boolean;
  /** The addresses that its load balancer has now, of those that the application may have. */
  readonly targets: readonly string[];
  /** Absent: there is no Gslb. */
  readonly strategy: GslbStrategySpec | undefined;
}

/** An object that should not be as it is: what it consists of, and how it is told apart. */
export interface BadObject {
  readonly name: string;
  readonly about: string;
  readonly objects: readonly { readonly type: ResourceType; readonly object: KubeObject }[];
  /** The Gslb whose condition must tell; absent where there is none. */
  readonly isGslb: boolean;
}

/** What a tampered DNSEndpoint answers with. */
export const tamperedTarget = "203.0.113.9";

const retryMs = 100;
const geoMap = "geo-map";
const fleetKey = "fleet-key";
const parentKey = "parent-key";
/** Where the operator looks for the map. */
const operatorNamespace = "k8gb";

/**
 * The people and controllers of one cluster: writes what is wanted through the API, from the cluster's own node, again
 * after every crash, until it is there.
 */
export class ClusterUser implements MemberUser {
  readonly #tag: Tag;
  readonly #applications = new Map<string, WantedApplication>();
  readonly #bad = new Map<string, BadObject | undefined>();
  readonly #dirty = new Set<string>();
  /** Bad objects that the API server refused, by name. */
  readonly refused: Map<string, string> = new Map();
  #client: KubeClient | undefined;
  #wake: () => void = () => {};

  constructor(tag: Tag, settings: FleetSettings) {
    this.#tag = tag;
    if (settings.geoMap) this.#dirty.add(geoMap);
    if (settings.keyed[tag]) this.#dirty.add(fleetKey);
    if (settings.dynamicParent) this.#dirty.add(parentKey);
  }

  /** Whether everything wanted was written. */
  get idle(): boolean {
    return this.#dirty.size === 0;
  }

  get applications(): ReadonlyMap<string, WantedApplication> {
    return this.#applications;
  }

  /** The bad objects that are wanted now. */
  *badObjects(): IterableIterator<BadObject> {
    for (const bad of this.#bad.values()) if (bad !== undefined) yield bad;
  }

  want(wanted: WantedApplication): void {
    this.#applications.set(wanted.application.name, wanted);
    this.#touch(`application ${wanted.application.name}`);
  }

  addBad(bad: BadObject): void {
    this.#bad.set(bad.name, bad);
    this.#touch(`bad ${bad.name}`);
  }

  removeBad(name: string): void {
    if (!this.#bad.has(name)) return;
    this.#bad.set(name, undefined);
    this.#touch(`bad ${name}`);
  }

  /** Works in a new process of the node, starting with everything. Ends by the process's death only. */
  async live(runtime: Runtime): Promise<void> {
    const { address, port } = placeOf(this.#tag).apiServer;
    const client = new KubeClient(runtime, {
      origin: `http://${address}:${port}`,
      token: tokenOf(this.#tag),
      userAgent: "user",
      deadlineMs: 5_000,
    });
    this.#client = client;
    for (const name of this.#applications.keys()) this.#dirty.add(`application ${name}`);
    while (this.#client === client) {
      const [next] = this.#dirty;
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#dirty.delete(next);
      try {
        await this.#write(client, next);
      } catch (error) {
        this.#touch(next);
        runtime.log.debug("writing what is wanted failed; trying again", { what: next, error });
        await runtime.clock.sleep(retryMs);
      }
    }
  }

  die(): void {
    this.#client = undefined;
  }

  /** Somebody who should not lays hands on the DNSEndpoint of an application. One try, which may fail. */
  async tamper({ name, host }: Application, how: "delete" | "edit"): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    const place = { namespace: namespaceName, name };
    const endpoints = [{ dnsName: host, recordType: "A", recordTTL: 5, targets: [tamperedTarget] }];
    try {
      if (how === "delete") await client.delete(types.endpoint, place);
      else await client.patch(types.endpoint, place, { type: "merge", body: { spec: { endpoints } } });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }

  #touch(what: string): void {
    this.#dirty.add(what);
    this.#wake();
  }

  async #write(client: KubeClient, what: string): Promise<void> {
    const [kind, name = ""] = what.split(" ");
    if (kind === geoMap) return writeGeoMap(client);
    if (kind === fleetKey) return writeKey(client, "tsig", fleetKeyText);
    if (kind === parentKey) return writeKey(client, "parent", parentKeyText(this.#tag));
    if (kind === "application") return this.#writeApplication(client, this.#applications.get(name)!);
    const bad = this.#bad.get(name);
    if (bad === undefined) return this.#removeBad(client, name);
    for (const { type, object } of bad.objects) {
      try {
        await createOrUpdate(client, type, { desired: object });
      } catch (error) {
        if (!isStatusError(error) || error.code !== 422) throw error;
        this.refused.set(name, error.message);
      }
    }
  }

  async #writeApplication(client: KubeClient, wanted: WantedApplication): Promise<void> {
    const { application, ready, strategy, targets } = wanted;
    const { name, host } = application;
    await createOrUpdate(client, types.namespace, {
      desired: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespaceName } },
    });
    await createOrUpdate<KubeObject>(client, types.service, {
      desired: service(name),
      mutate: (current) => current,
    });
    await createOrUpdate<KubeObject>(client, types.slice, { desired: slice(name, ready) });
    await createOrUpdate<KubeObject>(client, types.ingress, { desired: ingress(name, host) });
    const status = loadBalancerStatus(targets);
    const place = { namespace: namespaceName, name };
    await client.patch(types.ingress, place, { type: "merge", subresource: "status", body: { status } });
    if (strategy === undefined) await deleteIfThere(client, types.gslb, name);
    else await createOrUpdate<KubeObject>(client, types.gslb, { desired: gslb(name, strategy) });
  }

  async #removeBad(client: KubeClient, name: string): Promise<void> {
    for (const type of [types.gslb, types.ingress, types.endpoint]) await deleteIfThere(client, type, name);
    this.refused.delete(name);
    this.#bad.delete(name);
  }
}

async function ensureOperatorNamespace(client: KubeClient): Promise<void> {
  await createOrUpdate<KubeObject>(client, types.namespace, {
    desired: { apiVersion: "v1", kind: "Namespace", metadata: { name: operatorNamespace } },
    mutate: (current) => current,
  });
}

/** A Secret with a key file, labelled with what the key is for. */
async function writeKey(client: KubeClient, use: "tsig" | "parent", text: string): Promise<void> {
  await ensureOperatorNamespace(client);
  await createOrUpdate<KubeObject & { readonly data: object }>(client, types.secret, {
    desired: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: operatorNamespace, name: `key-${use}`, labels: { "meridian/dns-keys": use } },
      data: { "file.key": btoa(text) },
    },
  });
}

async function writeGeoMap(client: KubeClient): Promise<void> {
  await ensureOperatorNamespace(client);
  await createOrUpdate<ConfigMap>(client, types.configMap, {
    desired: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: operatorNamespace, name: "meridian-geo-map" },
      data: { "geo.yaml": geoMapText },
    },
  });
}

async function deleteIfThere(client: KubeClient, type: ResourceType, name: string): Promise<void> {
  try {
    await client.delete(type, { namespace: namespaceName, name });
  } catch (error) {
    if (!isStatusError(error) || error.code !== 404) throw error;
  }
}
