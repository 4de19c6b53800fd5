import { createOrUpdate, type KubeClient } from "@meridian/controller";
import { dnskeyOf, type ForeignKey, type KeyTimes, type SigningKey, type SigningKeys } from "@meridian/dns";
import { isNotFound, secretType, type Secret } from "@meridian/kube";
import type { Logger } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";

/** What a zone's entry holds: nothing that is secret, but whoever could change it could sign for the zone. */
interface StoredKeys {
  /** The times of own keys that were decided on here and that no Secret gives, by DNSKEY rdata in base64. */
  readonly own: Readonly<Record<string, Partial<KeyTimes>>>;
  readonly foreign: readonly { readonly dnskey: string; readonly wantsDs: boolean }[];
}

const secretName = "meridian-known-keys";

/**
 * Keeps, in one Secret, what clusters learned of each other's signing keys: a cluster that starts while a peer is silent
 * publishes that peer's keys all the same (RFC 8901 model 2), and a takeover of keys that was decided on stays decided.
 */
export class KeyMemory {
  readonly #client: Pick<KubeClient, "get" | "create" | "update">;
  readonly #namespace: string;
  readonly #log: Pick<Logger, "error">;
  readonly #zones = new Map<string, StoredKeys>();

  constructor(
    log: Pick<Logger, "error">,
    options: { readonly client: Pick<KubeClient, "get" | "create" | "update">; readonly namespace: string },
  ) {
    this.#log = log;
    this.#client = options.client;
    this.#namespace = options.namespace;
  }

  /** Reads what an earlier run stored; call it before the first `restore`. An entry that cannot be read is logged. */
  async load(signal: AbortSignal): Promise<void> {
    const ref = { namespace: this.#namespace, name: secretName };
    const secret = await this.#client.get<Secret>(secretType, ref, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    for (const [zone, text] of Object.entries(secret?.data ?? {})) {
      const stored = decode(text);
      if (stored === undefined) this.#log.error("stored keys of peers cannot be read", { zone });
      else this.#zones.set(zone, stored);
    }
  }

  /** All keys of a zone whose own ones are these: times that a Secret gives win over those that were decided on. */
  restore(zone: string, own: readonly SigningKey[]): SigningKeys {
    const stored = this.#zones.get(canonicalName(zone));
    if (stored === undefined) return { own, foreign: [] };
    const ownTexts = new Set(own.map(textOf));
    return {
      own: own.map((key) => ({ ...key, times: { ...stored.own[textOf(key)], ...key.times } })),
      foreign: stored.foreign
        .filter(({ dnskey }) => !ownTexts.has(dnskey))
        .map(({ dnskey, wantsDs }): ForeignKey => ({
          dnskey: Uint8Array.from(Buffer.from(dnskey, "base64")),
          wantsDs,
        })),
    };
  }

  /**
   * Resolves when it is stored; only then may it be used.
   *
   * @param given the own keys as the Secrets have them: of those that are out of use the times are kept, since a key whose
   *   end is forgotten would sign again
   */
  async store(
    zone: string,
    keys: SigningKeys,
    { given, signal }: { readonly given: readonly SigningKey[]; readonly signal: AbortSignal },
  ): Promise<void> {
    const name = canonicalName(zone);
    const before = this.#zones.get(name)?.own ?? {};
    const times = new Map(keys.own.map((key) => [textOf(key), key.times]));
    const own = given.flatMap((key): [string, Partial<KeyTimes>][] => {
      const decided = times.has(textOf(key))
        ? without(times.get(textOf(key))!, key.times)
        : before[textOf(key)];
      return decided === undefined || Object.keys(decided).length === 0 ? [] : [[textOf(key), decided]];
    });
    const stored: StoredKeys = {
      own: Object.fromEntries(own),
      foreign: keys.foreign.map(({ dnskey, wantsDs }) => ({ dnskey: base64(dnskey), wantsDs })),
    };
    const data = { [name]: Buffer.from(JSON.stringify(stored)).toString("base64") };
    await createOrUpdate<Secret>(this.#client, secretType, {
      desired: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          namespace: this.#namespace,
          name: secretName,
          labels: { "app.kubernetes.io/managed-by": "meridian" },
        },
        data,
      },
      mutate: (current) => ({ ...current, data: { ...current.data, ...data } }),
      signal,
    });
    this.#zones.set(name, stored);
  }
}

function without(times: KeyTimes, given: KeyTimes): Partial<KeyTimes> {
  return Object.fromEntries(
    Object.entries(times).filter(([name]) => given[name as keyof KeyTimes] === undefined),
  );
}

function textOf(key: SigningKey): string {
  return base64(dnskeyOf(key));
}

function base64(octets: Uint8Array): string {
  return Buffer.from(octets).toString("base64");
}

function decode(text: string): StoredKeys | undefined {
  try {
    const { own, foreign } = JSON.parse(Buffer.from(text, "base64").toString("utf8")) as StoredKeys;
    const isWhole =
      Object.values(own).every((times) => Object.values(times).every(Number.isInteger)) &&
      foreign.every(({ dnskey, wantsDs }) => typeof dnskey === "string" && typeof wantsDs === "boolean");
    return isWhole ? { own, foreign } : undefined;
  } catch {
    return undefined;
  }
}
