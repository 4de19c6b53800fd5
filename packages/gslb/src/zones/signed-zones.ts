import { ZoneKeys, type AnswerSigner, type SigningKey, type Zone, type ZoneSigning } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { KeyMemory } from "./key-memory.ts";

/** What signs, and who else must know. */
export interface SignedZonesOptions {
  /** Of the thread that changes the zones. */
  readonly answers: AnswerSigner;
  /** Called with what other threads build their signers from; `undefined`: the zone is signed no more. */
  readonly onSigning?: (origin: string, signing: ZoneSigning | undefined) => void;
}

/** The label, below a zone's apex, of the name at which each cluster has its own keys alone, for the others to find. */
export const ownKeysLabel = "_meridian-keys";

/** TTL of the key sets. */
export const keyTtlSeconds = 3_600;

/** Signs the zones that there are with the keys that there are, whichever came first. */
export class SignedZones {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: SignedZonesOptions & { readonly memory: Pick<KeyMemory, "restore"> };
  readonly #zones = new Map<string, Zone>();
  readonly #signed = new Map<string, ZoneKeys>();
  #keys: ReadonlyMap<string, readonly SigningKey[]> = new Map();

  /** `memory` has the keys of other clusters, and what was decided on own ones. */
  constructor(
    runtime: Pick<Runtime, "clock" | "log">,
    options: SignedZonesOptions & { readonly memory: Pick<KeyMemory, "restore"> },
  ) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** A zone is served from now on. */
  addZone(zone: Zone): void {
    this.#zones.set(zone.origin, zone);
    this.#follow(zone.origin);
  }

  removeZone(origin: string): void {
    this.#zones.delete(origin);
    this.#follow(origin);
  }

  /** Takes all keys there are now, by zone. */
  setKeys(keys: ReadonlyMap<string, readonly SigningKey[]>): void {
    this.#keys = keys;
    for (const origin of [...this.#zones.keys()]) this.#follow(origin);
  }

  /** The zones that are signed now. */
  get signed(): ReadonlyMap<string, ZoneKeys> {
    return this.#signed;
  }

  /** The own keys of a zone as they were given. */
  given(origin: string): readonly SigningKey[] {
    return this.#keys.get(origin) ?? [];
  }

  /** Stops signing. */
  close(): void {
    for (const origin of [...this.#zones.keys()]) this.removeZone(origin);
  }

  #follow(origin: string): void {
    const zone = this.#zones.get(origin);
    const own = zone === undefined ? [] : this.given(origin);
    const signed = this.#signed.get(origin);
    if (zone === undefined || own.length === 0) {
      if (signed === undefined) return;
      this.#signed.delete(origin);
      signed[Symbol.dispose]();
      this.#options.onSigning?.(origin, undefined);
      this.#runtime.log.warn("a zone is signed no more; withdraw its DS record", { zone: origin });
      return;
    }
    const keys = this.#options.memory.restore(origin, own);
    if (signed !== undefined) {
      signed.set(keys);
      return;
    }
    const { answers, onSigning } = this.#options;
    const { clock, log } = this.#runtime;
    const told =
      onSigning === undefined ? {} : { onSigning: (signing: ZoneSigning) => onSigning(origin, signing) };
    this.#signed.set(
      origin,
      new ZoneKeys(zone, { keys, ownKeysLabel, keyTtl: keyTtlSeconds }, { clock, log, answers, ...told }),
    );
  }
}
