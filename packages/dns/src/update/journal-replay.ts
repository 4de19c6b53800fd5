import type { Clock, Disk, Logger } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import type { RecordSet } from "../zone/record-set.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import type { Zone, ZoneStep } from "../zone/zone.ts";
import { decodeEntry, type JournalEntry, type JournalHead } from "./journal-entry.ts";
import { JournalRecords } from "./journal-record.ts";
import type { KnownOutcome } from "./seen-updates.ts";

/** What reading a journal needs. */
export interface JournalReading {
  readonly path: string;
  /** Just read from its file, and served nowhere yet. */
  readonly zone: Zone;
  /** Ends the reading, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a journal had. */
export interface JournalContent {
  /** Octets of whole records from its start. */
  readonly wholeOctets: number;
  /** Octets of an end that was torn off while it was written, and never acknowledged. */
  readonly tornOctets: number;
  /** Whose content it has; without any, the journal may stand on any content of the zone's file. */
  readonly owners: ReadonlySet<string>;
  readonly hasChanges: boolean;
  readonly seen: readonly KnownOutcome[];
}

/** Owners put into the zone at once: less than a slice of work. */
const ownersPerStep = 50;
/** Work that takes longer says how far it is. */
const progressMs = 1_000;

/**
 * Reads the journal of a zone and puts what it holds into the zone, in slices, so that a large one leaves the thread time
 * for others. Writes nothing. A zone is of no use when it fails.
 *
 * @throws DnsError `BadJournal` when it is damaged before its end, or is of another zone or another content; the signal's reason
 */
export async function replayJournal(
  { disk, clock, log }: { readonly disk: Disk; readonly clock: Clock; readonly log: Logger },
  { path, zone, signal }: JournalReading,
): Promise<JournalContent> {
  const octets = (await disk.read(path)) ?? new Uint8Array();
  const slices = new WorkSlices(clock);
  let toldMs = clock.monotonicMs();
  const turn = async (progress: () => Readonly<Record<string, number>>): Promise<void> => {
    const pause = slices.pause();
    if (pause === undefined) return;
    await pause;
    signal?.throwIfAborted();
    if (clock.monotonicMs() - toldMs < progressMs) return;
    toldMs = clock.monotonicMs();
    log.info("an update journal is being put on top of its zone", { path, zone: zone.origin, ...progress() });
  };

  signal?.throwIfAborted();
  const records = new JournalRecords(octets);
  const changes = new Changes({ path, zone });
  for (let at = 0; ; at = records.wholeOctets) {
    const payload = records.next();
    if (payload === undefined) break;
    changes.take(payload, at);
    await turn(() => ({ octetsRead: records.wholeOctets, ofOctets: octets.length }));
  }
  const { wholeOctets, tornOctets } = records;
  if (tornOctets > 0 && records.isDamaged) {
    throw new DnsError(
      "BadJournal",
      `journal ${path} of zone ${zone.origin} is damaged at octet ${wholeOctets} of ${octets.length}, and whole records follow; restore it from a backup, or cut it there and lose them`,
    );
  }
  const { owners, seen, hasChanges } = changes;
  if (hasChanges) {
    changes.checkBase();
    let made = 0;
    for (const step of changes.steps()) {
      made += step;
      await turn(() => ({ ownersMade: made, ofOwners: owners.size }));
    }
  }
  return { wholeOctets, tornOctets, owners: new Set(owners.keys()), hasChanges, seen };
}

/** The last content of each owner, as it is gathered from the entries, and put into the zone. */
class Changes {
  readonly owners = new Map<string, readonly RecordSet[]>();
  readonly seen: KnownOutcome[] = [];
  hasChanges = false;
  readonly #path: string;
  readonly #zone: Zone;
  #head: Partial<JournalHead> | undefined;
  #step: ZoneStep = {};

  constructor({ path, zone }: { readonly path: string; readonly zone: Zone }) {
    this.#path = path;
    this.#zone = zone;
  }

  /** The first is the head. */
  take(payload: Uint8Array, at: number): void {
    let value: unknown;
    try {
      value = decodeEntry(payload);
    } catch (cause) {
      throw this.#unreadable(`the record at octet ${at}`, cause);
    }
    if (this.#head === undefined) {
      this.#head = value as Partial<JournalHead>;
      this.#checkOrigin();
      return;
    }
    const entry = value as JournalEntry;
    this.seen.push(...(entry.seen ?? []));
    if (!("owners" in entry)) return;
    this.hasChanges = true;
    const { serial, owners, soa, nameServers, nameServerTtl } = entry;
    for (const [owner, sets] of owners) this.owners.set(owner, sets);
    this.#step = {
      ...this.#step,
      serial,
      ...(soa === undefined ? {} : { soa }),
      ...(nameServers === undefined ? {} : { nameServers }),
      ...(nameServerTtl === undefined ? {} : { nameServerTtl }),
    };
  }

  checkBase(): void {
    const { serial, origin } = this.#zone;
    const baseSerial = this.#head?.baseSerial;
    if (baseSerial === serial) return;
    throw new DnsError(
      "BadJournal",
      `journal ${this.#path} stands on serial ${baseSerial} of zone ${origin}, and the zone's file has ${serial}; put the old file back, or remove the journal and with it all updates since`,
    );
  }

  /** Changes the zone by and by, and yields how many owners were changed. Nobody sees it before the last. */
  *steps(): Generator<number> {
    const zone = this.#zone;
    const owners = [...this.owners];
    try {
      for (let at = 0; at < owners.length; at += ownersPerStep) {
        const some = owners.slice(at, at + ownersPerStep);
        zone.load(new Map(some), zone.serial);
        yield some.length;
      }
      zone.replace(new Map(), this.#step);
    } catch (cause) {
      throw this.#unreadable("one of its records", cause);
    }
  }

  #checkOrigin(): void {
    const { format, origin } = this.#head!;
    if (format === "meridian update journal 1" && origin === this.#zone.origin) return;
    throw new DnsError(
      "BadJournal",
      `${this.#path} is not the journal of zone ${this.#zone.origin} but of ${origin ?? "something else"}; give each zone a path of its own`,
    );
  }

  #unreadable(what: string, cause: unknown): DnsError {
    return new DnsError(
      "BadJournal",
      `journal ${this.#path}: ${what} is nothing that zone ${this.#zone.origin} can hold; it was written by another version`,
      { cause },
    );
  }
}
