import type { Clock, Disk, DiskLog, Logger } from "@meridian/runtime";
import { typeFromText } from "../message/codes.ts";
import { concatenate } from "../message/octets.ts";
import type { RecordSet } from "../zone/record-set.ts";
import type { WorkSlices } from "../zone/work-slices.ts";
import type { Zone } from "../zone/zone.ts";
import { encodeEntry, type ChangeEntry, type JournalEntry, type JournalHead } from "./journal-entry.ts";
import { JournalRecords } from "./journal-record.ts";
import { replayJournal, type JournalReading } from "./journal-replay.ts";
import type { KnownOutcome } from "./seen-updates.ts";
import type { ZoneChange } from "./zone-draft.ts";

const compactOctetsMin = 1024 * 1024;
/** Owners in one record of a compacted journal: a millisecond of work. */
const ownersPerRecord = 100;
const durable = { durableAppends: true } as const;

/** A journal that was just opened, and the signed updates that it knows. */
export interface OpenedJournal {
  readonly journal: UpdateJournal;
  readonly seen: readonly KnownOutcome[];
}

/**
 * The updates of a zone that were acknowledged, in a file that only grows until it is compacted. The zone's own file stays
 * as it is: at a start the journal is put on top of it.
 *
 * An entry says what its owners have, not what was done to them. So only the last entry of an owner counts, and a journal
 * is compacted by writing each owner once.
 */
export class UpdateJournal implements AsyncDisposable {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #head: JournalHead;
  readonly #touched: Set<string>;
  #log: DiskLog;
  /** Octets that are whole and durable. */
  #octets: number;
  #compactAt: number;
  #hasChanges: boolean;
  #broken = false;

  private constructor(options: {
    readonly disk: Disk;
    readonly path: string;
    readonly head: JournalHead;
    readonly log: DiskLog;
    readonly octets: number;
    readonly touched: ReadonlySet<string>;
    readonly hasChanges: boolean;
  }) {
    this.#disk = options.disk;
    this.#path = options.path;
    this.#head = options.head;
    this.#log = options.log;
    this.#octets = options.octets;
    this.#touched = new Set(options.touched);
    this.#hasChanges = options.hasChanges;
    this.#compactAt = Math.max(compactOctetsMin, 2 * options.octets);
  }

  /**
   * Opens the journal of a zone that was just read from its file, and puts what it holds into the zone.
   *
   * @throws as `replayJournal`
   */
  static async open(
    runtime: { readonly disk: Disk; readonly clock: Clock; readonly log: Logger },
    reading: JournalReading,
  ): Promise<OpenedJournal> {
    const { path, zone } = reading;
    const { disk } = runtime;
    const head = {
      format: "meridian update journal 1",
      origin: zone.origin,
      baseSerial: zone.serial,
    } as const;
    const {
      tornOctets: octets,
      owners: touched,
      seen,
      hasChanges,
      wholeOctets,
    } = await replayJournal(runtime, reading);
    if (octets > 0) {
      runtime.log.warn("the torn end of an update journal was cut off; it was never acknowledged", {
        ...{ path, zone: zone.origin, octets },
      });
    }
    if (!hasChanges) {
      // It begins anew, on the present content of the zone's file.
      await disk.replace(
        path,
        concatenate([head, ...(seen.length === 0 ? [] : [{ seen }])].map(encodeEntry)),
      );
    }
    const log = await disk.openLog(path, durable);
    if (hasChanges && wholeOctets < log.sizeBytes) await log.truncate(wholeOctets);
    const journal = new UpdateJournal({ disk, path, head, log, octets: log.sizeBytes, touched, hasChanges });
    return { journal, seen };
  }

  /**
   * Resolves when the change is durable; only then may it be made. When it rejects, nothing of it stays.
   *
   * @param seen the signed update that makes it
   */
  async append(
    change: ZoneChange,
    { serial, seen }: { readonly serial: number; readonly seen?: KnownOutcome | undefined },
  ): Promise<void> {
    const entry = { ...change.step, serial, owners: [...change.owners] };
    await this.#repair();
    await this.#write(seen === undefined ? entry : { ...entry, seen: [seen] });
    this.#hasChanges = true;
    for (const owner of change.owners.keys()) this.#touched.add(owner);
  }

  /** Keeps what became of a signed update that changed nothing. Resolves when it is durable. */
  async note(seen: KnownOutcome): Promise<void> {
    await this.#repair();
    await this.#write({ seen: [seen] });
  }

  /**
   * Writes each owner once, when the journal has grown to twice what it was, in slices. The zone must have all that was
   * appended, and stay as it is meanwhile.
   */
  async compactIfLarge(
    zone: Zone,
    { slices, seen }: { readonly slices: WorkSlices; readonly seen: Iterable<KnownOutcome> },
  ): Promise<void> {
    if (this.#octets < this.#compactAt || this.#broken) return;
    const records = [encodeEntry(this.#head), encodeEntry({ seen: [...seen] })];
    for (const entry of this.#hasChanges ? compactedEntries(zone, [...this.#touched]) : []) {
      records.push(encodeEntry(entry));
      const pause = slices.pause();
      if (pause !== undefined) await pause;
    }
    const content = concatenate(records);
    await this.#log.close();
    // Whatever happens from here, the next append opens the file again.
    this.#broken = true;
    try {
      await this.#disk.replace(this.#path, content);
    } catch (error) {
      // The old or the new file is there, and whole.
      this.#octets = wholeOctetsOf((await this.#disk.read(this.#path)) ?? new Uint8Array());
      throw error;
    }
    this.#octets = content.length;
    this.#compactAt = Math.max(compactOctetsMin, 2 * content.length);
    await this.#repair();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log.close();
  }

  async #write(entry: JournalEntry): Promise<void> {
    const octets = encodeEntry(entry);
    try {
      await this.#log.append(octets);
    } catch (error) {
      this.#broken = true;
      throw error;
    }
    this.#octets += octets.length;
  }

  /** After a failed write nobody knows what is in the file: opened again, it is cut to what is known to be whole. */
  async #repair(): Promise<void> {
    if (!this.#broken) return;
    await this.#log.close().catch(() => {});
    this.#log = await this.#disk.openLog(this.#path, durable);
    await this.#log.truncate(this.#octets);
    this.#broken = false;
  }
}

function wholeOctetsOf(octets: Uint8Array): number {
  const records = new JournalRecords(octets);
  while (records.next() !== undefined);
  return records.wholeOctets;
}

function* compactedEntries(zone: Zone, touched: readonly string[]): Generator<ChangeEntry> {
  const { serial: _serial, ...soa } = zone.soa;
  const nameServerTtl = zone.recordSetsOf(zone.origin).find((set) => set.type === "NS")?.ttl;
  const common = {
    serial: zone.serial,
    soa,
    nameServers: zone.nameServers,
    ...(nameServerTtl === undefined ? {} : { nameServerTtl }),
  };
  for (let at = 0; at === 0 || at < touched.length; at += ownersPerRecord) {
    const owners = touched.slice(at, at + ownersPerRecord).map((owner) => {
      const sets = zone.recordSetsOf(owner);
      const own = ({ type }: RecordSet): boolean =>
        type !== "SOA" && type !== "NS" && !zone.apexExtraTypes.has(typeFromText(type));
      return [owner, owner === zone.origin ? sets.filter(own) : sets] as const;
    });
    yield { ...common, owners };
  }
}
