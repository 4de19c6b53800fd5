import { createOrUpdate, Informer, type CollectionClient, type KubeClient } from "@meridian/controller";
import { configMapType, deepEqual, type ConfigMap } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import { zoneObjectName } from "../decide/zone-names.ts";
import { apartZoneObjectName } from "../delegation/apart-zone-object-name.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { Wakeup } from "../tasks/wakeup.ts";

/** Where the ConfigMap is, and what it is made from. */
export interface ZoneConfigMapOptions {
  readonly client: CollectionClient & Pick<KubeClient, "get" | "create" | "update">;
  readonly namespace: string;
  /** The zones that are answered now. */
  readonly zones: () => readonly string[];
}

/** The ConfigMap that a CoreDNS with k8gb's plugin reads its zones from. */
const configMapName = "k8gb-zone-delegation";
const retryMsMax = 30_000;

/** Keeps the server blocks of all zones in a ConfigMap, for clusters where CoreDNS answers. It has nothing else in it. */
export class ZoneConfigMap {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: ZoneConfigMapOptions;
  readonly #copy: Informer<ConfigMap>;
  readonly #changed = new Wakeup();

  constructor(runtime: Pick<Runtime, "clock" | "log" | "random">, options: ZoneConfigMapOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#copy = new Informer<ConfigMap>(runtime, {
      client: options.client,
      type: configMapType,
      namespace: options.namespace,
      fieldSelector: `metadata.name=${configMapName}`,
    });
    const touch = (): void => this.touch();
    this.#copy.addHandler({ onAdd: touch, onUpdate: touch, onDelete: touch });
  }

  /** The set of zones may be another. */
  touch(): void {
    this.#changed.wake();
  }

  /** Keeps the ConfigMap right until the signal aborts; also where somebody changes or deletes it. */
  async run(signal: AbortSignal, tasks: TaskScope): Promise<void> {
    tasks.start("copy of the zones' ConfigMap", (ending) => this.#copy.run(ending));
    this.touch();
    let failures = 0;
    while (true) {
      await this.#changed.wait(signal);
      if (signal.aborted) return;
      try {
        await this.#write(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#runtime.log.warn("the ConfigMap of the zones cannot be written; trying again", {
          configMap: `${this.#options.namespace}/${configMapName}`,
          error,
        });
        await this.#runtime.clock.sleep(Math.min(retryMsMax, 500 * 2 ** failures), signal).catch(() => {});
        this.touch();
      }
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { client, namespace, zones } = this.#options;
    const data = zoneBlocks(zones());
    await createOrUpdate<ConfigMap>(client, configMapType, {
      desired: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: configMapName, namespace }, data },
      mutate: (current) => (deepEqual(current.data ?? {}, data) ? current : { ...current, data }),
      current: this.#copy.lister.get(`${namespace}/${configMapName}`),
      signal,
    });
  }
}

/**
 * CoreDNS' server block of each zone by its key in the ConfigMap. Of zones that would have one key the name with the fewest
 * labels has it, and the others have one of their own.
 */
export function zoneBlocks(zones: Iterable<string>): Readonly<Record<string, string>> {
  const blocks: Record<string, string> = {};
  const labels = (zone: string): number => zone.split(".").length;
  const names = [...new Set([...zones].map(canonicalName))];
  names.sort((a, b) => labels(a) - labels(b) || (a < b ? -1 : 1));
  for (const zone of names) {
    const plain = `${zoneObjectName(zone)}.conf`;
    const key = plain in blocks ? `${apartZoneObjectName(zone)}.conf` : plain;
    blocks[key] = `${zone}:5353 {\n  import k8gbplugins\n}\n`;
  }
  return Object.fromEntries(Object.entries(blocks).sort(([a], [b]) => (a < b ? -1 : 1)));
}
