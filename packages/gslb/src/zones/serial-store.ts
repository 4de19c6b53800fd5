import { createOrUpdate, type KubeClient } from "@meridian/controller";
import { configMapType, isNotFound, type ConfigMap } from "@meridian/kube";
import { canonicalName } from "../decide/dns-name.ts";

/** The serial of a view and the digest of its content: equal serials mean equal content. */
export interface StoredSerial {
  readonly serial: number;
  readonly digest: string;
}

const configMapName = "meridian-localtargets-serials";

/** Keeps the serials of the `_localtargets.` zones in one ConfigMap, an entry per zone. */
export class SerialStore {
  readonly #client: Pick<KubeClient, "get" | "create" | "update">;
  readonly #namespace: string;
  /** As it was last seen: saves reading it before each write. */
  #known: ConfigMap | undefined;

  constructor(client: Pick<KubeClient, "get" | "create" | "update">, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async load(zone: string, signal: AbortSignal): Promise<StoredSerial | undefined> {
    try {
      const ref = { namespace: this.#namespace, name: configMapName };
      const map = await this.#client.get<ConfigMap>(configMapType, ref, { signal });
      this.#known = map;
      return decode(map.data?.[canonicalName(zone)]);
    } catch (error) {
      this.#known = undefined;
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Resolves when it is stored; only then may it be published. */
  async store(zone: string, serial: StoredSerial, signal: AbortSignal): Promise<void> {
    const entry = { [canonicalName(zone)]: JSON.stringify({ serial: serial.serial, digest: serial.digest }) };
    const desired: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        namespace: this.#namespace,
        name: configMapName,
        labels: { "app.kubernetes.io/managed-by": "meridian" },
      },
      data: entry,
    };
    const { object } = await createOrUpdate(this.#client, configMapType, {
      desired,
      mutate: (current) => ({ ...current, data: { ...current.data, ...entry } }),
      current: this.#known,
      signal,
    });
    this.#known = object;
  }
}

function decode(text: string | undefined): StoredSerial | undefined {
  if (text === undefined) return undefined;
  try {
    const { serial, digest } = JSON.parse(text) as Partial<StoredSerial>;
    return Number.isInteger(serial) && typeof digest === "string" ? { serial: serial!, digest } : undefined;
  } catch {
    return undefined;
  }
}
