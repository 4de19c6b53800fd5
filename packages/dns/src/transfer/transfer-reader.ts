import { DnsError } from "../dns-error.ts";
import { equalNames, isAtOrBelow, type Name } from "../name/name.ts";
import { typeSoa } from "../message/type-numbers.ts";
import { isNewerSerial } from "../zone/serial.ts";
import type { WireRecord, ZoneDelta } from "../zone/wire-record.ts";
import { soaSerial } from "./soa-record.ts";

/** What a transfer turned out to be, once its last record is there. */
export type TransferContent =
  /** The primary has nothing newer. */
  | { readonly kind: "current"; readonly soa: WireRecord }
  /** Every record of the zone once, the SOA first; none where they were taken as they came. */
  | { readonly kind: "whole"; readonly soa: WireRecord; readonly records: readonly WireRecord[] }
  /** Steps from the serial that we have to that of `soa`, in order. */
  | { readonly kind: "deltas"; readonly soa: WireRecord; readonly deltas: readonly ZoneDelta[] };

/** Takes the records of a whole zone as they come, the SOA first. They are not to be kept. */
export type TakeRecord = (record: WireRecord) => void;

/** What a transfer may come to; a primary that sends more is not listened to. */
export interface TransferLimits {
  readonly recordsMax: number;
  /** Octets of all messages together. */
  readonly octetsMax: number;
}

type State =
  | { readonly at: "start" }
  /** After the first SOA: the next record tells which form this is. */
  | { readonly at: "opened" }
  | { readonly at: "whole" }
  | { readonly at: "removing" | "adding" }
  | { readonly at: "end" };

/**
 * Follows the records of a transfer, AXFR (RFC 5936 §2.2) or IXFR (RFC 1995 §4), as they arrive. Pure.
 *
 * Example, from serial 3 to 5 in two steps, each letter a record: `SOA5 SOA3 a SOA4 b SOA4 c SOA5 d SOA5`. The second
 * record is the SOA that we have, so it is incremental; each SOA then ends a list, and the one that is the newest and
 * stands where a step would begin ends it all.
 *
 * Records outside the zone are left out and counted: old primaries send such glue, and nothing of it may be served.
 */
export class TransferReader {
  /** How many records were of names outside the zone. */
  foreignRecords = 0;
  readonly #origin: Name;
  readonly #haveSerial: number | undefined;
  readonly #limits: TransferLimits;
  readonly #startWhole: (() => TakeRecord) | undefined;
  #state: State = { at: "start" };
  #soa: WireRecord | undefined;
  #records: WireRecord[] = [];
  #takeWhole: TakeRecord = (record) => void this.#records.push(record);
  #deltas: ZoneDelta[] = [];
  #removed: WireRecord[] = [];
  #added: WireRecord[] = [];
  #seen = 0;
  #octets = 0;

  /** @param haveSerial the serial asked from; `undefined` for AXFR */
  constructor(options: {
    readonly origin: Name;
    readonly haveSerial: number | undefined;
    readonly limits: TransferLimits;
    /** Called when it is known to be a whole zone: for who takes its records then. Absent: they are kept. */
    readonly startWhole?: (() => TakeRecord) | undefined;
  }) {
    this.#startWhole = options.startWhole;
    this.#origin = options.origin;
    this.#haveSerial = options.haveSerial;
    this.#limits = options.limits;
  }

  /**
   * Takes the records of the next message; what the transfer is, once they are its last.
   *
   * @throws DnsError `BadTransfer` when it cannot be a transfer of this zone, or is over the limits
   */
  read(records: readonly WireRecord[], octets: number): TransferContent | undefined {
    this.#seen += records.length;
    this.#octets += octets;
    if (this.#seen > this.#limits.recordsMax || this.#octets > this.#limits.octetsMax) {
      throw bad(
        `it is over ${this.#limits.recordsMax} records or ${this.#limits.octetsMax} octets; raise the limit`,
      );
    }
    if (records.length === 0) throw bad("a message has no records");
    for (const record of records) this.#take(record);
    if (this.#state.at === "end") return this.#content();
    const soa = this.#soa!;
    const serial = soaSerial(soa);
    const isCurrent =
      this.#haveSerial !== undefined &&
      this.#state.at === "opened" &&
      !isNewerSerial(serial, this.#haveSerial);
    return isCurrent ? { kind: "current", soa } : undefined;
  }

  #take(record: WireRecord): void {
    if (!isAtOrBelow(record.owner, this.#origin)) {
      if (this.#state.at === "start") throw bad("it does not begin with the zone's SOA");
      if (this.#state.at === "end") throw bad("it goes on behind its last SOA");
      this.foreignRecords++;
      return;
    }
    const isSoa = record.type === typeSoa;
    if (isSoa && !equalNames(record.owner, this.#origin)) throw bad("an SOA stands below the zone's apex");
    switch (this.#state.at) {
      case "start":
        if (!isSoa) throw bad("it does not begin with the zone's SOA");
        this.#soa = record;
        this.#state = { at: "opened" };
        break;
      case "opened":
        this.#open(record, isSoa);
        break;
      case "whole":
        if (!isSoa) this.#takeWhole(record);
        else this.#endWhole(record);
        break;
      case "removing":
        if (!isSoa) this.#removed.push(record);
        else this.#startAdding(record);
        break;
      case "adding":
        if (!isSoa) this.#added.push(record);
        else this.#endStep(record);
        break;
      case "end":
        throw bad("it goes on behind its last SOA");
    }
  }

  #open(record: WireRecord, isSoa: boolean): void {
    const serial = soaSerial(record);
    if (isSoa && this.#haveSerial !== undefined && serial === this.#haveSerial && serial !== this.#serial()) {
      this.#removed = [record];
      this.#state = { at: "removing" };
      return;
    }
    if (isSoa) {
      if (serial !== this.#serial()) throw bad(`it has differences from serial ${serial}, which is not ours`);
      throw bad("it has nothing between its SOA records, not even the name servers");
    }
    if (this.#startWhole !== undefined) this.#takeWhole = this.#startWhole();
    this.#takeWhole(this.#soa!);
    this.#takeWhole(record);
    this.#state = { at: "whole" };
  }

  #endWhole(record: WireRecord): void {
    // An SOA in the middle, or a zone that changed meanwhile: what came so far is of no one moment.
    if (soaSerial(record) !== this.#serial())
      throw bad(`it begins with serial ${this.#serial()} and has another SOA with ${soaSerial(record)}`);
    this.#state = { at: "end" };
  }

  #startAdding(record: WireRecord): void {
    const from = soaSerial(this.#removed[0]!);
    if (!isNewerSerial(soaSerial(record), from))
      throw bad(`a step leads from serial ${from} back to ${soaSerial(record)}`);
    this.#added = [record];
    this.#state = { at: "adding" };
  }

  #endStep(record: WireRecord): void {
    const toSerial = soaSerial(this.#added[0]!);
    this.#deltas.push({
      fromSerial: soaSerial(this.#removed[0]!),
      toSerial,
      removed: this.#removed,
      added: this.#added,
    });
    if (soaSerial(record) !== toSerial)
      throw bad(`a step leads to serial ${toSerial} and the next begins at ${soaSerial(record)}`);
    if (toSerial === this.#serial()) {
      this.#state = { at: "end" };
      return;
    }
    this.#removed = [record];
    this.#state = { at: "removing" };
  }

  #serial(): number {
    return soaSerial(this.#soa!);
  }

  #content(): TransferContent {
    const soa = this.#soa!;
    return this.#deltas.length > 0
      ? { kind: "deltas", soa, deltas: this.#deltas }
      : { kind: "whole", soa, records: this.#records };
  }
}

function bad(problem: string): DnsError {
  return new DnsError("BadTransfer", `cannot use the transfer: ${problem}`);
}
