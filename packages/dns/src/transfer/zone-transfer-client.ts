import type { Endpoint, Runtime } from "@meridian/runtime";
import { dnsErrorText } from "../dns-error.ts";
import type { RecordSet } from "../zone/record-set.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";
import { soaFromRecord } from "./soa-record.ts";
import {
  exchangeTransfer,
  type Primary,
  type TransferAsked,
  type TransferOutcome,
} from "./transfer-exchange.ts";
import type { TakeRecord } from "./transfer-reader.ts";
import { toRecordSets } from "./transferred-sets.ts";
import { condenseDeltas } from "./zone-journal.ts";

/** How transfers are asked for, and how much of a primary is borne. */
export interface ZoneTransferClientOptions {
  /** The own address that requests leave from; any when absent. */
  readonly from?: string;
  /** Default 10,000,000. */
  readonly recordsMax?: number;
  /** Octets of all messages of one transfer. Default 1 GiB. */
  readonly octetsMax?: number;
  /** Silence after which a primary is given up. Default 30,000. */
  readonly idleMs?: number;
  /** The longest that one transfer may take. Default one hour. */
  readonly totalMs?: number;
}

/** Which zone, from whom. */
export interface ZoneTransferQuestion {
  readonly zone: string;
  /** Asked in this order until one gives the zone or has nothing newer. */
  readonly primaries: readonly Primary[];
  /** The serial of what is known already: then only what is newer is asked for. */
  readonly haveSerial?: number;
  readonly signal?: AbortSignal;
}

/** What a zone transfer came to, in plain record sets. The SOA is in none of them. */
export type ZoneTransfer =
  /** Nothing is newer than the serial given. */
  | { readonly kind: "current"; readonly soa: ZoneSoa; readonly server: Endpoint }
  | {
      readonly kind: "whole";
      readonly soa: ZoneSoa;
      readonly sets: readonly RecordSet[];
      readonly server: Endpoint;
    }
  /** From the serial given to that of `soa`: the records that went and those that came, grouped into sets. */
  | {
      readonly kind: "changes";
      readonly soa: ZoneSoa;
      readonly removed: readonly RecordSet[];
      readonly added: readonly RecordSet[];
      readonly server: Endpoint;
    }
  /** All that were reached refused; names the last rcode. */
  | { readonly kind: "refused"; readonly rcode: string }
  /** No whole, proved transfer could be had; never to be taken for an empty zone. */
  | { readonly kind: "unreachable"; readonly reason: string };

/** Numbers since the start; they only rise. */
export interface ZoneTransferCounters {
  /** Whole zones, differences, and "nothing newer" that were received. */
  whole: number;
  incremental: number;
  current: number;
  /** Refused, unreachable, or broken. */
  failed: number;
}

/** Fetches zones from their primaries: incrementally where it can be, signed where a key is given. */
export class ZoneTransferClient {
  readonly counters: ZoneTransferCounters = { whole: 0, incremental: 0, current: 0, failed: 0 };
  readonly #runtime: Runtime;
  readonly #from: string | undefined;
  readonly #limits: TransferAsked["limits"];

  constructor(runtime: Runtime, options: ZoneTransferClientOptions = {}) {
    this.#runtime = runtime;
    this.#from = options.from;
    this.#limits = {
      recordsMax: options.recordsMax ?? 10_000_000,
      octetsMax: options.octetsMax ?? 2 ** 30,
      idleMs: options.idleMs ?? 30_000,
      totalMs: options.totalMs ?? 3_600_000,
    };
  }

  /**
   * Fetches a zone, or what is newer than a serial, as record sets.
   *
   * Rejects only with `signal.reason`.
   *
   * @throws DnsError `BadName` for a zone that is no name
   */
  async fetchZone(question: ZoneTransferQuestion): Promise<ZoneTransfer> {
    const { zone, primaries, haveSerial, signal } = question;
    let failure: ZoneTransfer = { kind: "unreachable", reason: "no primary to ask" };
    for (const primary of primaries) {
      const server = { address: primary.address, port: primary.port };
      const outcome = await this.fetchRecords({ zone, primary, haveSerial, signal });
      try {
        switch (outcome.kind) {
          case "current":
            return { kind: "current", soa: soaFromRecord(outcome.soa), server };
          case "whole":
            return {
              kind: "whole",
              soa: soaFromRecord(outcome.soa),
              sets: toRecordSets(outcome.records),
              server,
            };
          case "deltas": {
            const { removed, added } = condenseDeltas(outcome.deltas);
            const soa = soaFromRecord(outcome.soa);
            return {
              kind: "changes",
              soa,
              removed: toRecordSets(removed),
              added: toRecordSets(added),
              server,
            };
          }
          case "refused":
            failure = { kind: "refused", rcode: outcome.rcode };
            break;
          case "unreachable":
          case "broken":
            failure = { kind: "unreachable", reason: outcome.reason };
            break;
        }
      } catch (error) {
        failure = { kind: "unreachable", reason: dnsErrorText(error) };
      }
    }
    return failure;
  }

  /**
   * Fetches from one primary, as records in wire form. Where the differences cannot be had or used, the whole zone is
   * asked for at once (RFC 1995 §4). Of a whole zone `startWhole` names who takes the records as they come, so that none
   * are kept; where it is called again, what came before is void.
   */
  async fetchRecords(options: {
    readonly zone: string;
    readonly primary: Primary;
    readonly haveSerial: number | undefined;
    readonly signal: AbortSignal | undefined;
    readonly startWhole?: (() => TakeRecord) | undefined;
  }): Promise<TransferOutcome> {
    const asked = { ...options, from: this.#from, limits: this.#limits };
    const outcome = await this.#exchange(asked);
    if (options.haveSerial === undefined || !isWorthWhole(outcome)) return outcome;
    return this.#exchange({ ...asked, haveSerial: undefined });
  }

  async #exchange(asked: TransferAsked): Promise<TransferOutcome> {
    const outcome = await exchangeTransfer(this.#runtime, asked);
    this.counters[counterOf(outcome)]++;
    return outcome;
  }
}

/** Whether an IXFR failed in a way that an AXFR from the same server may not. */
function isWorthWhole(outcome: TransferOutcome): boolean {
  if (outcome.kind === "refused") return outcome.rcode !== "REFUSED" && outcome.rcode !== "NOTAUTH";
  return outcome.kind === "broken";
}

function counterOf(outcome: TransferOutcome): keyof ZoneTransferCounters {
  switch (outcome.kind) {
    case "whole":
    case "current":
      return outcome.kind;
    case "deltas":
      return "incremental";
    case "refused":
    case "unreachable":
    case "broken":
      return "failed";
  }
}
