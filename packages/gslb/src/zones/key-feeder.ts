import { Informer, type EventRecorder, type KubeClient } from "@meridian/controller";
import { objectKey, secretType, type Secret } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { dnsKeysLabel, joinDnsKeys, readDnsSecret, type DnsKeys } from "./dns-secrets.ts";

/** Where keys come from and who takes them. */
export interface KeyFeederOptions {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly namespace: string;
  readonly events: Pick<EventRecorder, "record">;
  /** Called with all keys whenever they changed. */
  readonly onKeys: (keys: DnsKeys) => void;
}

/**
 * Hands the DNS server the keys that stand in labelled Secrets. One that cannot be read is told by an event, without a
 * word of its content, and what it gave before stays.
 */
export class KeyFeeder {
  /** Resolves when the Secrets that there are at the start were handed on. */
  readonly synced: Promise<void>;
  readonly #options: KeyFeederOptions;
  readonly #secrets: Informer<Secret>;
  readonly #log: Runtime["log"];
  readonly #good = new Map<string, DnsKeys>();

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
        if (this.#good.delete(objectKey(secret.metadata))) this.#hand();
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
      this.#hand();
      return;
    }
    const message = `the keys in this Secret cannot be used: ${keys}`;
    this.#log.error("keys of the DNS server cannot be used", {
      secret: objectKey(secret.metadata),
      problem: keys,
    });
    this.#options.events.record(secret, { type: "Warning", reason: "KeysRefused", message });
  }

  #hand(): void {
    const keys = joinDnsKeys([...this.#good].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each));
    this.#options.onKeys(keys);
  }
}
