import {
  dnskeyOf,
  ZoneKeys,
  type AnswerSigner,
  type ForeignKey,
  type SigningKey,
  type Zone,
  type ZoneSigning,
} from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";

/** What signs, and who else must know. */
export interface SignedZonesOptions {
  /** Of the thread that changes the zones. */
  readonly answers: AnswerSigner;
  /** Called with what other threads build their signers from; `undefined`: the zone is signed no more. */
  readonly onSigning?: (origin: string, signing: ZoneSigning | undefined) => void;
}

/** The label, below a zone's apex, of the name at which each cluster has its own keys alone, for the others to find. */
export const ownKeysLabel = "_meridian-keys";

/** Signs the zones that there are with the keys that there are, whichever came first. */
export class SignedZones {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: SignedZonesOptions;
  readonly #zones = new Map<string, Zone>();
  readonly #signed = new Map<string, ZoneKeys>();
  readonly #foreign = new Map<string, readonly ForeignKey[]>();
  #keys: ReadonlyMap<string, readonly SigningKey[]> = new Map();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: SignedZonesOptions) {
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
  get origins(): readonly string[] {
    return [...this.#signed.keys()];
  }

  /** Takes the keys that other clusters sign a zone with; those that are own ones, too, are none. */
  setForeign(origin: string, keys: readonly ForeignKey[]): void {
    const own = new Set((this.#keys.get(origin) ?? []).map((key) => dnskeyOf(key).join()));
    const foreign = new Map(keys.map((key) => [key.dnskey.join(), key]));
    for (const text of own) foreign.delete(text);
    const next = [...foreign].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
    if (textOf(next) === textOf(this.#foreign.get(origin) ?? [])) return;
    this.#foreign.set(origin, next);
    this.#follow(origin);
  }

  /** Stops signing. */
  close(): void {
    for (const origin of [...this.#zones.keys()]) this.removeZone(origin);
  }

  #follow(origin: string): void {
    const zone = this.#zones.get(origin);
    const own = zone === undefined ? [] : (this.#keys.get(origin) ?? []);
    const signed = this.#signed.get(origin);
    if (zone === undefined || own.length === 0) {
      if (signed === undefined) return;
      this.#signed.delete(origin);
      signed[Symbol.dispose]();
      this.#options.onSigning?.(origin, undefined);
      this.#runtime.log.warn("a zone is signed no more; withdraw its DS record", { zone: origin });
      return;
    }
    const keys = { own, foreign: this.#foreign.get(origin) ?? [] };
    if (signed !== undefined) {
      signed.set(keys);
      return;
    }
    const { answers, onSigning } = this.#options;
    const { clock, log } = this.#runtime;
    const told =
      onSigning === undefined ? {} : { onSigning: (signing: ZoneSigning) => onSigning(origin, signing) };
    this.#signed.set(origin, new ZoneKeys(zone, { keys, ownKeysLabel }, { clock, log, answers, ...told }));
  }
}

function textOf(keys: readonly ForeignKey[]): string {
  return keys.map(({ dnskey, wantsDs }) => `${dnskey.join()} ${wantsDs}`).join("\n");
}
