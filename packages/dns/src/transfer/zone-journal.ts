import { typeSoa } from "../message/type-numbers.ts";
import { foldName } from "../name/name.ts";
import type { WireRecord, ZoneDelta } from "../zone/wire-record.ts";

/** What a journal follows: a zone. */
export interface JournaledZone {
  observe(listener: (delta: ZoneDelta) => void): Disposable;
}

/**
 * The last serial steps of a zone, for incremental transfers (RFC 1995). Bounded in octets: the oldest steps go first,
 * and whoever asks from before them gets the whole zone.
 */
export class ZoneJournal implements Disposable {
  readonly #octetsMax: number;
  readonly #observing: Disposable;
  #steps: { readonly delta: ZoneDelta; readonly octets: number }[] = [];
  #octets = 0;

  constructor(zone: JournaledZone, options: { readonly octetsMax: number }) {
    this.#octetsMax = options.octetsMax;
    this.#observing = zone.observe((delta) => this.#append(delta));
  }

  /** Octets of the records kept. */
  get octets(): number {
    return this.#octets;
  }

  /** The steps from a serial to the newest, oldest first; `undefined` where they are not all kept. */
  since(serial: number): readonly ZoneDelta[] | undefined {
    const first = this.#steps.findIndex(({ delta }) => delta.fromSerial === serial);
    return first < 0 ? undefined : this.#steps.slice(first).map(({ delta }) => delta);
  }

  [Symbol.dispose](): void {
    this.#observing[Symbol.dispose]();
    this.#forget();
  }

  #append(delta: ZoneDelta): void {
    if (delta.isAnew === true) {
      this.#forget();
      return;
    }
    // A step that does not follow on from the last: the content was set anew, and what is kept leads nowhere.
    if (this.#steps.length > 0 && this.#steps.at(-1)!.delta.toSerial !== delta.fromSerial) this.#forget();
    const octets = recordOctets(delta.removed) + recordOctets(delta.added);
    this.#steps.push({ delta, octets });
    this.#octets += octets;
    let dropped = 0;
    while (this.#octets > this.#octetsMax) this.#octets -= this.#steps[dropped++]!.octets;
    this.#steps.splice(0, dropped);
  }

  #forget(): void {
    this.#steps = [];
    this.#octets = 0;
  }
}

/**
 * Several steps as the one that has the same effect (RFC 1995 §4 allows it): records that came and went again are in
 * neither list. Pure.
 */
export function condenseDeltas(deltas: readonly ZoneDelta[]): ZoneDelta {
  const first = deltas[0]!;
  const last = deltas.at(-1)!;
  if (deltas.length === 1) return first;
  const removed = new Map<string, WireRecord>();
  const added = new Map<string, WireRecord>();
  for (const delta of deltas) {
    for (const record of delta.removed) {
      if (record.type === typeSoa) continue;
      const key = recordKey(record);
      if (!added.delete(key)) removed.set(key, record);
    }
    for (const record of delta.added) {
      if (record.type === typeSoa) continue;
      const key = recordKey(record);
      if (!removed.delete(key)) added.set(key, record);
    }
  }
  return {
    fromSerial: first.fromSerial,
    toSerial: last.toSerial,
    removed: [first.removed[0]!, ...removed.values()],
    added: [last.added[0]!, ...added.values()],
  };
}

/** Equal for records that are the same but for the case of their owner. */
export function recordKey({ owner, type, ttl, rdata }: WireRecord): string {
  return `${octetText(foldName(owner))}${type} ${ttl} ${octetText(rdata)}`;
}

function octetText(octets: Uint8Array): string {
  let text = "";
  for (let at = 0; at < octets.length; at += 8_192)
    text += String.fromCharCode(...octets.subarray(at, at + 8_192));
  return text;
}

function recordOctets(records: readonly WireRecord[]): number {
  let octets = 0;
  for (const { owner, rdata } of records) octets += owner.length + 10 + rdata.length;
  return octets;
}
