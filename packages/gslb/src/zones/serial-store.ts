import { createOrUpdate, type KubeClient } from "@meridian/controller";
import { isNewerSerial, nextSerial } from "@meridian/dns";
import { configMapType, type ConfigMap } from "@meridian/kube";
import { canonicalName } from "../decide/dns-name.ts";

/** The serial of a view and the digest of its content: equal serials mean equal content. */
export interface StoredSerial {
  readonly serial: number;
  readonly digest: string;
}

/** Under which serial a content may be served. */
export type ClaimedSerial =
  | (StoredSerial & { readonly kind: "claimed" })
  /** Another replica has stored a newer content, and this one is the old. */
  | { readonly kind: "behind" };

/** What is to be served, and what this replica served last. */
export interface SerialClaim {
  readonly digest: string;
  readonly last: StoredSerial | undefined;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

const configMapName = "meridian-localtargets-serials";

/**
 * Keeps the serials of the `_localtargets.` zones in one ConfigMap, an entry per zone. A serial belongs to the cluster: who
 * claims one names the version of the ConfigMap that it saw, so that of several replicas exactly one gives a content its
 * serial and the others take it over.
 */
export class SerialStore {
  readonly #client: Pick<KubeClient, "get" | "create" | "update">;
  readonly #namespace: string;
  /** As it was last seen: saves reading it before each write. */
  #known: ConfigMap | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: Pick<KubeClient, "get" | "create" | "update">, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Resolves when the serial is stored; only then may it be published. Zones wait for each other. */
  claim(zone: string, claim: SerialClaim): Promise<ClaimedSerial> {
    const claimed = this.#turn.then(() => this.#claim(zone, claim));
    this.#turn = claimed.catch(() => {});
    return claimed;
  }

  async #claim(zone: string, claim: SerialClaim): Promise<ClaimedSerial> {
    const key = canonicalName(zone);
    let claimed = judge(undefined, claim);
    const desired: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        namespace: this.#namespace,
        name: configMapName,
        labels: { "app.kubernetes.io/managed-by": "meridian" },
      },
      data: { [key]: encode(claimed) },
    };
    const known = this.#known;
    this.#known = undefined;
    const { object } = await createOrUpdate(this.#client, configMapType, {
      desired,
      mutate: (current) => {
        const stored = decode(current.data?.[key]);
        claimed = judge(stored, claim);
        return isStored(claimed, stored)
          ? current
          : { ...current, data: { ...current.data, [key]: encode(claimed) } };
      },
      current: known,
      signal: claim.signal,
    });
    this.#known = object;
    return claimed;
  }
}

/** Pure: the rule by which a content gets its serial. */
function judge(stored: StoredSerial | undefined, { digest, last, now }: SerialClaim): ClaimedSerial {
  // What is stored may be older than what was served: a backup was put back.
  const isOlder = last !== undefined && (stored === undefined || isNewerSerial(last.serial, stored.serial));
  const newest = isOlder ? last : stored;
  if (newest?.digest === digest) return { kind: "claimed", ...newest };
  // What was ours when we last agreed is no news: another replica was sooner, and our copies will follow.
  if (last?.digest === digest) return { kind: "behind" };
  return { kind: "claimed", serial: serialAfter(newest?.serial, now), digest };
}

function isStored(claimed: ClaimedSerial, stored: StoredSerial | undefined): boolean {
  if (claimed.kind === "behind") return true;
  return claimed.serial === stored?.serial && claimed.digest === stored.digest;
}

/**
 * At least one more than the newest known, and never before the time: so the serials of a store that was lost, or put back
 * from a backup, are left behind at once.
 */
function serialAfter(newest: number | undefined, now: number): number {
  const time = Math.floor(now / 1000) >>> 0;
  if (newest === undefined) return time;
  const next = nextSerial(newest);
  return isNewerSerial(time, next) ? time : next;
}

function encode(claimed: ClaimedSerial): string {
  return claimed.kind === "behind" ? "" : JSON.stringify({ serial: claimed.serial, digest: claimed.digest });
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
