import type { Disk, DiskLog, Logger } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import { typeFromText } from "../message/codes.ts";
import { concatenate } from "../message/octets.ts";
import type { RecordSet } from "../zone/record-set.ts";
import type { WorkSlices } from "../zone/work-slices.ts";
import type { Zone, ZoneSoa, ZoneStep } from "../zone/zone.ts";
import { composeJournalRecord, readJournalRecords } from "./journal-record.ts";
import type { ZoneChange } from "./zone-draft.ts";

/** The first record: which content the others stand on. */
interface Head {
  readonly format: "meridian update journal 1";
  readonly origin: string;
  /** The serial that the zone had before the first update. */
  readonly baseSerial: number;
}

/** A change as it is written: what its owners have from then on. */
interface Entry {
  readonly serial: number;
  readonly owners: readonly (readonly [owner: string, sets: readonly RecordSet[]])[];
  readonly soa?: Partial<ZoneSoa>;
  readonly nameServers?: readonly string[];
  readonly nameServerTtl?: number;
}

const compactOctetsMin = 1024 * 1024;
/** Owners in one record of a compacted journal: a millisecond of work. */
const ownersPerRecord = 100;
const durable = { durableAppends: true } as const;

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
  readonly #head: Head;
  readonly #touched: Set<string>;
  #log: DiskLog;
  /** Octets that are whole and durable. */
  #octets: number;
  #compactAt: number;
  #broken = false;

  private constructor(options: {
    readonly disk: Disk;
    readonly path: string;
    readonly head: Head;
    readonly log: DiskLog;
    readonly octets: number;
    readonly touched: Set<string>;
  }) {
    this.#disk = options.disk;
    this.#path = options.path;
    this.#head = options.head;
    this.#log = options.log;
    this.#octets = options.octets;
    this.#touched = options.touched;
    this.#compactAt = Math.max(compactOctetsMin, 2 * options.octets);
  }

  /**
   * Opens the journal of a zone that was just read from its file, and puts what it holds into the zone.
   *
   * @throws DnsError `BadJournal` when it is damaged before its end, or is of another zone or another content
   */
  static async open(
    { disk, log }: { readonly disk: Disk; readonly log: Logger },
    { path, zone }: { readonly path: string; readonly zone: Zone },
  ): Promise<UpdateJournal> {
    const octets = (await disk.read(path)) ?? new Uint8Array();
    const { payloads, wholeOctets, damagedAt } = readJournalRecords(octets);
    if (damagedAt !== undefined) {
      throw new DnsError(
        "BadJournal",
        `journal ${path} of zone ${zone.origin} is damaged at octet ${damagedAt} of ${octets.length}, and whole records follow; restore it from a backup, or cut it there and lose them`,
      );
    }
    const [first, ...rest] = payloads.map(decode);
    const entries = rest as Entry[];
    const head: Head = { format: "meridian update journal 1", origin: zone.origin, baseSerial: zone.serial };
    if (first !== undefined) checkHead(first as Partial<Head>, { head, path, isEmpty: entries.length === 0 });
    const touched = replay(entries, { zone, path });
    const opened = await disk.openLog(path, durable);
    // Without updates it may stand on any content of the zone's file, and begins anew on this one.
    const kept = entries.length === 0 ? 0 : wholeOctets;
    // Zeros are room that was made ahead.
    if (octets.subarray(wholeOctets).some((octet) => octet !== 0)) {
      log.warn("the torn end of an update journal was cut off; it was never acknowledged", {
        path,
        zone: zone.origin,
        octets: octets.length - wholeOctets,
      });
    }
    if (kept < octets.length) await opened.truncate(kept);
    const journal = new UpdateJournal({ disk, path, head, log: opened, octets: kept, touched });
    if (kept === 0) await journal.#write(head);
    return journal;
  }

  /** Resolves when the change is durable; only then may it be made. When it rejects, nothing of it stays. */
  async append(change: ZoneChange, serial: number): Promise<void> {
    await this.#repair();
    await this.#write({ ...change.step, serial, owners: [...change.owners] } satisfies Entry);
    for (const owner of change.owners.keys()) this.#touched.add(owner);
  }

  /**
   * Writes each owner once, when the journal has grown to twice what it was, in slices. The zone must have all that was
   * appended, and stay as it is meanwhile.
   */
  async compactIfLarge(zone: Zone, slices: WorkSlices): Promise<void> {
    if (this.#octets < this.#compactAt || this.#broken) return;
    const records = [encode(this.#head)];
    for (const entry of compactedEntries(zone, [...this.#touched])) {
      records.push(encode(entry));
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
      this.#octets = readJournalRecords((await this.#disk.read(this.#path)) ?? new Uint8Array()).wholeOctets;
      throw error;
    }
    this.#octets = content.length;
    this.#compactAt = Math.max(compactOctetsMin, 2 * content.length);
    await this.#repair();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log.close();
  }

  async #write(value: Head | Entry): Promise<void> {
    const octets = encode(value);
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

function checkHead(
  found: Partial<Head>,
  { head, path, isEmpty }: { readonly head: Head; readonly path: string; readonly isEmpty: boolean },
): void {
  const { format, origin, baseSerial } = head;
  if (found.format !== format || found.origin !== origin) {
    throw new DnsError(
      "BadJournal",
      `${path} is not the journal of zone ${origin} but of ${found.origin ?? "something else"}; give each zone a path of its own`,
    );
  }
  if (found.baseSerial !== baseSerial && !isEmpty) {
    throw new DnsError(
      "BadJournal",
      `journal ${path} stands on serial ${found.baseSerial} of zone ${origin}, and the zone's file has ${baseSerial}; put the old file back, or remove the journal and with it all updates since`,
    );
  }
}

/** Puts the last content of each owner into the zone, in one step. Returns the owners. */
function replay(
  entries: readonly Entry[],
  { zone, path }: { readonly zone: Zone; readonly path: string },
): Set<string> {
  const owners = new Map<string, readonly RecordSet[]>();
  let step: ZoneStep = {};
  for (const { serial, owners: changed, soa, nameServers, nameServerTtl } of entries) {
    for (const [owner, sets] of changed) owners.set(owner, sets);
    step = {
      ...step,
      serial,
      ...(soa === undefined ? {} : { soa }),
      ...(nameServers === undefined ? {} : { nameServers }),
      ...(nameServerTtl === undefined ? {} : { nameServerTtl }),
    };
  }
  try {
    zone.replace(owners, step);
  } catch (cause) {
    throw new DnsError(
      "BadJournal",
      `journal ${path} has records that zone ${zone.origin} cannot hold; it was written by another version`,
      { cause },
    );
  }
  return new Set(owners.keys());
}

function* compactedEntries(zone: Zone, touched: readonly string[]): Generator<Entry> {
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

function encode(value: Head | Entry): Uint8Array {
  return composeJournalRecord(new TextEncoder().encode(JSON.stringify(value)));
}

function decode(payload: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}
