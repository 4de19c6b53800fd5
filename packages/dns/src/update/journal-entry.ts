import type { RecordSet } from "../zone/record-set.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";
import { composeJournalRecord } from "./journal-record.ts";
import type { KnownOutcome } from "./seen-updates.ts";

/** The first record of a journal: which content the others stand on. */
export interface JournalHead {
  readonly format: "meridian update journal 1";
  readonly origin: string;
  /** The serial that the zone had before the first update. */
  readonly baseSerial: number;
}

/** A change as it is written: what its owners have from then on. */
export interface ChangeEntry {
  readonly serial: number;
  readonly owners: readonly (readonly [owner: string, sets: readonly RecordSet[]])[];
  readonly soa?: Partial<ZoneSoa>;
  readonly nameServers?: readonly string[];
  readonly nameServerTtl?: number;
  /** The signed update that made it. */
  readonly seen?: readonly KnownOutcome[];
}

/** What became of signed updates that changed nothing, so that they change nothing later. */
export interface SeenEntry {
  readonly seen: readonly KnownOutcome[];
}

export type JournalEntry = ChangeEntry | SeenEntry;

export function encodeEntry(value: JournalHead | JournalEntry): Uint8Array {
  return composeJournalRecord(new TextEncoder().encode(JSON.stringify(value)));
}

/** @throws SyntaxError for what this program did not write */
export function decodeEntry(payload: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}
