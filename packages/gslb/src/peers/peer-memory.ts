import { createOrUpdate, type KubeClient } from "@meridian/controller";
import { configMapType, isNotFound, type ConfigMap, type ResourceType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { AddressFamily } from "../decide/address-family.ts";
import type { PeerMemoryEntry } from "../decide/peer-view.ts";
import { textHash } from "../decide/text-hash.ts";
import { zoneObjectName } from "../decide/zone-names.ts";
import { Wakeup } from "../tasks/wakeup.ts";

/** Keeps what was last believed of peers over restarts of the operator. */
export interface PeerMemory {
  get(key: MemoryKey): PeerMemoryEntry | undefined;
  /** Forgets every host that is not kept any more. */
  retain(isKept: (host: string) => boolean): void;
  /** Remembers, or with `undefined` forgets. Stored soon after, and only where it differs. */
  set(key: MemoryKey, entry: PeerMemoryEntry | undefined): void;
}

/** What one entry is about: a peer's targets of one host and family. */
export interface MemoryKey {
  readonly zone: string;
  readonly geoTag: string;
  readonly host: string;
  readonly family: AddressFamily;
}

/** What of a client it takes to keep objects. */
type ObjectClient = Pick<KubeClient, "get" | "list" | "create" | "update" | "delete">;

const shards = 16;
const retryMsMax = 15_000;
const labels = { "app.kubernetes.io/managed-by": "meridian", "app.kubernetes.io/component": "peer-views" };
const contentKey = "views.json";

interface Shard {
  readonly zone: string;
  readonly geoTag: string;
  readonly hosts: Map<string, Map<AddressFamily, PeerMemoryEntry>>;
}

/**
 * Peer memory in ConfigMaps: one per zone, peer and sixteenth of the hosts, so that 10,000 hosts fit and a change writes
 * little. Only hosts with a threshold are in it, and it is written when something changes, never by the clock.
 */
export class StoredPeerMemory implements PeerMemory {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #client: ObjectClient;
  readonly #namespace: string;
  readonly #shards = new Map<string, Shard>();
  readonly #dirty = new Set<string>();
  readonly #changed = new Wakeup();

  constructor(
    runtime: Pick<Runtime, "clock" | "log">,
    options: { readonly client: ObjectClient; readonly namespace: string },
  ) {
    this.#runtime = runtime;
    this.#client = options.client;
    this.#namespace = options.namespace;
  }

  /** Reads what an earlier run stored; call it before the first `get`. A map that cannot be read is skipped and logged. */
  async load(signal: AbortSignal): Promise<void> {
    const selector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(",");
    const list = await this.#client.list<ConfigMap>(configMapType, {
      namespace: this.#namespace,
      labelSelector: selector,
      signal,
    });
    for (const map of list.items) {
      const shard = decodeShard(map.data?.[contentKey] ?? "");
      if (shard === undefined)
        this.#runtime.log.warn("a stored peer memory cannot be read", { configMap: map.metadata.name });
      else this.#shards.set(map.metadata.name ?? "", shard);
    }
  }

  get(key: MemoryKey): PeerMemoryEntry | undefined {
    return this.#shards.get(shardName(key))?.hosts.get(key.host)?.get(key.family);
  }

  set(key: MemoryKey, entry: PeerMemoryEntry | undefined): void {
    if (sameEntry(this.get(key), entry)) return;
    const name = shardName(key);
    const shard = this.#shards.get(name) ?? { zone: key.zone, geoTag: key.geoTag, hosts: new Map() };
    this.#shards.set(name, shard);
    const families = shard.hosts.get(key.host) ?? new Map<AddressFamily, PeerMemoryEntry>();
    shard.hosts.set(key.host, families);
    if (entry === undefined) families.delete(key.family);
    else families.set(key.family, entry);
    if (families.size === 0) shard.hosts.delete(key.host);
    this.#dirty.add(name);
    this.#changed.wake();
  }

  retain(isKept: (host: string) => boolean): void {
    for (const [name, shard] of this.#shards) {
      for (const host of shard.hosts.keys()) {
        if (isKept(host) || !shard.hosts.delete(host)) continue;
        this.#dirty.add(name);
        this.#changed.wake();
      }
    }
  }

  /** Stores changes as they come until the signal aborts. One write at a time; a failed one is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const name = this.#dirty.values().next().value;
      if (name === undefined) {
        await this.#changed.wait(signal);
        continue;
      }
      this.#dirty.delete(name);
      try {
        await this.#store(name, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#dirty.add(name);
        failures += 1;
        this.#runtime.log.warn("storing what peers last said failed; trying again", {
          configMap: name,
          error,
        });
        await this.#runtime.clock.sleep(Math.min(retryMsMax, 250 * 2 ** failures), signal).catch(() => {});
      }
    }
  }

  async #store(name: string, signal: AbortSignal): Promise<void> {
    const shard = this.#shards.get(name);
    if (shard === undefined) return;
    if (shard.hosts.size === 0) {
      await deleteIfThere(this.#client, configMapType, { namespace: this.#namespace, name, signal });
      // Not before: a deletion that failed is tried again. What came meanwhile is stored next.
      if (shard.hosts.size === 0) this.#shards.delete(name);
      return;
    }
    const desired: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: this.#namespace, name, labels },
      data: { [contentKey]: encodeShard(shard) },
    };
    await createOrUpdate(this.#client, configMapType, {
      desired,
      mutate: (current) => ({ ...current, data: { ...current.data, ...desired.data } }),
      signal,
    });
  }
}

async function deleteIfThere(
  client: ObjectClient,
  type: ResourceType,
  ref: { readonly namespace: string; readonly name: string; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await client.delete(type, { namespace: ref.namespace, name: ref.name }, { signal: ref.signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function sameEntry(a: PeerMemoryEntry | undefined, b: PeerMemoryEntry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.unreachableSince === b.unreachableSince && a.targets.join(" ") === b.targets.join(" ");
}

function shardName({ zone, geoTag, host }: MemoryKey): string {
  return `meridian-peer-${geoTag.toLowerCase()}-${zoneObjectName(zone)}-${textHash(host) % shards}`;
}

interface EncodedShard {
  readonly zone: string;
  readonly geoTag: string;
  readonly hosts: Readonly<Record<string, Readonly<Partial<Record<AddressFamily, PeerMemoryEntry>>>>>;
}

function encodeShard(shard: Shard): string {
  const hosts = [...shard.hosts].sort(([a], [b]) => (a < b ? -1 : 1));
  const encoded: EncodedShard = {
    zone: shard.zone,
    geoTag: shard.geoTag,
    hosts: Object.fromEntries(hosts.map(([host, families]) => [host, Object.fromEntries(families)])),
  };
  return JSON.stringify(encoded);
}

function decodeShard(text: string): Shard | undefined {
  try {
    const { zone, geoTag, hosts } = JSON.parse(text) as EncodedShard;
    const decoded = Object.entries(hosts).map(
      ([host, families]) =>
        [host, new Map(Object.entries(families) as [AddressFamily, PeerMemoryEntry][])] as const,
    );
    const isWhole = decoded.every(([, families]) =>
      [...families.values()].every(({ targets }) => Array.isArray(targets)),
    );
    return isWhole && typeof zone === "string" ? { zone, geoTag, hosts: new Map(decoded) } : undefined;
  } catch {
    return undefined;
  }
}
