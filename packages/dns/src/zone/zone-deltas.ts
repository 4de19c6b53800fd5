import type { Name } from "../name/name.ts";
import { typeSoa } from "../message/type-numbers.ts";
import type { WireRecord, ZoneDelta } from "./wire-record.ts";
import { octetsKey, wireRecordsOf, type WireSet } from "./wire-set.ts";

/** One serial step of a zone, as it was made. */
interface MadeStep {
  readonly origin: Name;
  readonly serials: readonly [from: number, to: number];
  readonly soas: readonly [from: WireSet, to: WireSet];
  /** Absent: too many to be told. */
  readonly owners:
    | readonly {
        readonly name: Name;
        readonly before: readonly WireSet[];
        readonly after: readonly WireSet[];
      }[]
    | undefined;
}

/** Those who want to know the records of each step. */
export class ZoneDeltas {
  readonly #listeners = new Set<(delta: ZoneDelta) => void>();

  get isObserved(): boolean {
    return this.#listeners.size > 0;
  }

  observe(listener: (delta: ZoneDelta) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  tell({ origin, serials, soas, owners }: MadeStep): void {
    const removed = wireRecordsOf(origin, soas[0]);
    const added = wireRecordsOf(origin, soas[1]);
    for (const { name, before, after } of owners ?? []) {
      const [went, came] = [recordsByKey(name, before), recordsByKey(name, after)];
      for (const [key, record] of went) if (!came.has(key)) removed.push(record);
      for (const [key, record] of came) if (!went.has(key)) added.push(record);
    }
    const delta: ZoneDelta = {
      ...{ fromSerial: serials[0], toSerial: serials[1], removed, added },
      ...(owners === undefined ? { isAnew: true } : {}),
    };
    for (const listener of this.#listeners) {
      try {
        listener(delta);
      } catch {
        // The change is made; whoever only wanted to know of it cannot undo it.
      }
    }
  }
}

/** All records but the SOA, which stands at the front of a delta. */
function recordsByKey(owner: Name, sets: readonly WireSet[]): Map<string, WireRecord> {
  const records = new Map<string, WireRecord>();
  for (const set of sets) {
    if (set.type === typeSoa) continue;
    for (const record of wireRecordsOf(owner, set))
      records.set(`${record.type} ${record.ttl} ${octetsKey(record.rdata)}`, record);
  }
  return records;
}
