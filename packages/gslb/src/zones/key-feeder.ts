import type { SigningKey } from "@meridian/dns";
import { Informer, type CollectionClient, type EventRecorder } from "@meridian/controller";
import { objectKey, secretType, type Secret } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { dnsKeysLabel, joinDnsKeys, readDnsSecret, type DnsKeys } from "./dns-secrets.ts";

/** Where keys come from and who takes them. */
export interface KeyFeederOptions {
  readonly client: CollectionClient;
  readonly namespace: string;
  readonly events: Pick<EventRecorder, "record">;
  /** Called with all keys whenever they changed. */
  readonly onKeys: (keys: DnsKeys) => void;
}

/**
 * Hands the DNS server the keys that stand in labelled Secrets. One that cannot be read is told by an event, without a
 * word of its content, and what it gave before stays.
 *
 * Without its keys a zone would be bogus for as long as its parent has a DS record. So the signing keys that a zone had last
 * stay while there are no others, told by an event, until a Secret of the kind `unsigned` names the zone.
 */
export class KeyFeeder {
  /** Resolves when the Secrets that there are at the start were handed on. */
  readonly synced: Promise<void>;
  readonly #options: KeyFeederOptions;
  readonly #secrets: Informer<Secret>;
  readonly #log: Runtime["log"];
  readonly #good = new Map<string, DnsKeys>();
  /** What each zone was signed with last. */
  readonly #signing = new Map<string, readonly SigningKey[]>();
  /** Zones whose keys are no more there. */
  readonly #kept = new Set<string>();

  constructor(runtime: Pick<Runtime, "clock" | "log" | "random">, options: KeyFeederOptions) {
    this.#options = options;
    this.#log = runtime.log;
    const { client, namespace } = options;
    this.#secrets = new Informer<Secret>(runtime, {
      client,
      type: secretType,
      namespace,
      labelSelector: dnsKeysLabel,
    });
    const { synced } = this.#secrets.addHandler({
      onAdd: (secret) => this.#take(secret),
      onUpdate: (_old, secret) => this.#take(secret),
      onDelete: (secret) => {
        if (this.#good.delete(objectKey(secret.metadata))) this.#hand(secret);
      },
    });
    this.synced = synced;
  }

  /** Follows the Secrets until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#secrets.run(signal);
  }

  #take(secret: Secret): void {
    const keys = readDnsSecret(secret);
    if (typeof keys !== "string") {
      this.#good.set(objectKey(secret.metadata), keys);
      this.#hand(secret);
      return;
    }
    const message = `the keys in this Secret cannot be used: ${keys}`;
    this.#log.error("keys of the DNS server cannot be used", {
      secret: objectKey(secret.metadata),
      problem: keys,
    });
    this.#options.events.record(secret, { type: "Warning", reason: "KeysRefused", message });
  }

  #hand(changed: Secret): void {
    const keys = joinDnsKeys([...this.#good].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each));
    const signing = new Map(keys.signing);
    for (const zone of keys.unsigned) {
      signing.delete(zone);
      this.#signing.delete(zone);
      this.#kept.delete(zone);
    }
    for (const [zone, last] of this.#signing) {
      if (signing.has(zone)) {
        this.#kept.delete(zone);
        continue;
      }
      signing.set(zone, last);
      if (!this.#kept.has(zone)) this.#tellKept(changed, zone);
      this.#kept.add(zone);
    }
    for (const [zone, own] of signing) this.#signing.set(zone, own);
    this.#options.onKeys({ ...keys, signing });
  }

  #tellKept(secret: Secret, zone: string): void {
    const message = `zone ${zone} has no signing keys any more and stays signed with the last ones until the next start; put them back, or withdraw its DS record and name the zone in a Secret of the kind unsigned`;
    this.#log.error("a zone lost its signing keys and stays signed", {
      secret: objectKey(secret.metadata),
      zone,
    });
    this.#options.events.record(secret, { type: "Warning", reason: "SigningKeysKept", message });
  }
}
