import {
  isNewerSerial,
  type DnsClient,
  type TsigKey,
  type Verdict,
  type ZoneTransfer,
  type ZoneTransferClient,
  type ZoneTransferQuestion,
} from "@meridian/dns";
import { formatEndpoint, type Clock, type Endpoint } from "@meridian/runtime";
import { localTargetsZone } from "../decide/zone-names.ts";
import { Ending } from "../tasks/ending.ts";
import { ViewCopy, type CopyChange } from "./view-copy.ts";

/** Whose view is transferred, and by what means. */
export interface ViewTransferOptions {
  readonly zone: string;
  readonly dnsClient: Pick<DnsClient, "query">;
  /** Absent: nothing is transferred. */
  readonly transfers?: Pick<ZoneTransferClient, "fetchZone">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly deadlineMs: number;
  /** Also the longest that a transfer may take: what is believed meanwhile is older than that. */
  readonly periodMs: number;
}

/** What a check of a peer's view came to. */
export type ViewCheck =
  /** The copy is as the peer says, proved by the fleet's key. */
  | {
      readonly kind: "copied";
      readonly change: CopyChange | undefined;
      readonly verdict: string;
      readonly server: Endpoint;
      /** A replica of the peer has more to tell than the one that was reached. */
      readonly isBehind: boolean;
    }
  /** The peer is there and cannot be copied from: it is to be asked for each host. */
  | {
      readonly kind: "foreign";
      /** The serial of its view, where it told one: with proof if `isProved`. */
      readonly serial: number | undefined;
      /** It proved who it is, so it can prove its answers. */
      readonly isProved: boolean;
      readonly server: Endpoint | undefined;
    }
  /** Nobody is there. */
  | { readonly kind: "silent"; readonly verdict: string };

/** Where to ask, and until when. */
export interface ViewQuestion {
  readonly servers: readonly Endpoint[];
  readonly signal: AbortSignal;
}

/**
 * A peer whose view was newer, and which tells an older serial for so many checks, over as many periods, with never a newer
 * one between, has lost its serials: it is not a replica that lags.
 */
const olderChecksMax = 3;

/**
 * Keeps a copy of a peer's view of a zone: one signed question for its serial, and a transfer where that is newer.
 *
 * A peer that never proved itself is asked for its serial without a signature, too: one that has no such view, as a k8gb,
 * or does not know the key, says so at once, where the signed question would wait for its deadline. A peer that did prove
 * itself is believed no less again until it answers without proof.
 */
export class ViewTransfer {
  /** Empty, and without a serial, where nothing is known of what the peer carries. */
  copy: ViewCopy;
  readonly #options: ViewTransferOptions;
  readonly #name: string;
  #key: TsigKey | undefined;
  #isProved = false;
  #older: { readonly sinceMs: number; checks: number } | undefined;

  constructor(options: ViewTransferOptions) {
    this.#options = options;
    this.#name = localTargetsZone(options.zone);
    this.copy = new ViewCopy(options.zone);
  }

  /** The key that proves questions and answers; `undefined`: nothing is transferred. */
  get key(): TsigKey | undefined {
    return this.#key;
  }

  setKey(key: TsigKey | undefined): void {
    if (key === undefined || this.#key === undefined || !isSameKey(key, this.#key)) this.#isProved = false;
    this.#key = key;
  }

  /** Whether the peer's answers are proved by the key, so that those without proof do not count. */
  get isProved(): boolean {
    return this.#isProved;
  }

  /** Asks for the serial and fetches what is newer. Rejects only with the signal's reason. */
  async check(question: ViewQuestion): Promise<ViewCheck> {
    if (this.#key === undefined || this.#options.transfers === undefined)
      return foreign(await this.#ask(question, undefined));
    const verdict = this.#isProved
      ? await this.#ask(question, this.#key)
      : await this.#introduce(question, this.#key);
    const serial = serialIn(verdict.signed);
    if (serial !== undefined && verdict.signed?.state === "answered") {
      this.#isProved = true;
      return this.#follow(serial, verdict.signed.server, question);
    }
    // What is signed proves who is there, whatever it says. Who comes after a silence proves itself anew.
    this.#isProved = isSigned(verdict);
    const check = foreign(verdict);
    // Somebody else is there now, who does not tell what it carries.
    if (check.kind === "foreign" && !check.isProved && this.copy.serial !== undefined)
      this.copy = new ViewCopy(this.#options.zone);
    return check;
  }

  /** Asks only whether there is news, without proof: of a peer that is asked host by host nothing more is believed anyway. */
  async look(question: ViewQuestion): Promise<ViewCheck> {
    return foreign(await this.#ask(question, undefined));
  }

  async #ask({ servers, signal }: ViewQuestion, key: TsigKey | undefined): Promise<Told> {
    const { dnsClient, deadlineMs } = this.#options;
    const verdict = await dnsClient.query({
      ...{ name: this.#name, type: "SOA", servers, deadlineMs, recursionDesired: true, signal },
      ...(key === undefined ? {} : { key }),
    });
    return key === undefined ? { plain: verdict } : { signed: verdict };
  }

  /** Both questions at once; the first answer that settles it counts. */
  async #introduce({ servers, signal }: ViewQuestion, key: TsigKey): Promise<Told> {
    using ending = new Ending(signal);
    const both = { servers, signal: ending.signal };
    const orNothing = (told: Promise<Told>): Promise<Told> =>
      told.catch(() => {
        signal.throwIfAborted();
        return {};
      });
    const signed = orNothing(this.#ask(both, key));
    const plain = orNothing(this.#ask(both, undefined));
    const first = await Promise.race([signed, plain]);
    if (serialIn(first.signed) !== undefined || isWithoutView(first.plain)) return first;
    return { ...(await signed), ...(await plain) };
  }

  async #follow(serial: number, server: Endpoint, question: ViewQuestion): Promise<ViewCheck> {
    const have = this.copy.serial;
    const verdict = `serial ${serial} from ${formatEndpoint(server)}`;
    if (have === serial) {
      this.#older = undefined;
      return { kind: "copied", change: undefined, verdict, server, isBehind: false };
    }
    if (have === undefined || isNewerSerial(serial, have)) {
      this.#older = undefined;
      return this.#fetch({ serial, server, have, verdict }, question);
    }
    if (this.#isLost()) return this.#fetch({ serial, server, have: undefined, verdict }, question);
    return { kind: "copied", change: undefined, verdict, server, isBehind: false };
  }

  /** Counts a serial that is older than the copy's. */
  #isLost(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    this.#older ??= { sinceMs: nowMs, checks: 0 };
    this.#older.checks += 1;
    return (
      this.#older.checks >= olderChecksMax &&
      nowMs - this.#older.sinceMs >= (olderChecksMax - 1) * this.#options.periodMs
    );
  }

  async #fetch(
    { serial, server, have, verdict }: SerialToFetch,
    { signal }: ViewQuestion,
  ): Promise<ViewCheck> {
    const primaries = [{ ...server, ...(this.#key === undefined ? {} : { key: this.#key }) }];
    for (const haveSerial of have === undefined ? [undefined] : [have, undefined]) {
      const transfer = await this.#fetchInTime({
        ...{ zone: this.#name, primaries, signal },
        ...(haveSerial === undefined ? {} : { haveSerial }),
      });
      switch (transfer.kind) {
        case "refused":
        case "unreachable":
          return { kind: "foreign", serial, isProved: true, server };
        case "current":
          return { kind: "copied", change: undefined, verdict, server, isBehind: true };
        case "whole":
        case "changes": {
          const change = this.copy.apply(transfer);
          // Differences that do not fit: once more, and whole.
          if (change === undefined) continue;
          this.#older = undefined;
          return { kind: "copied", change, verdict, server, isBehind: false };
        }
      }
    }
    return { kind: "foreign", serial, isProved: true, server };
  }

  /** A view that comes in drops would be believed as it was for as long as they fall. */
  async #fetchInTime(asked: ZoneTransferQuestion & { readonly signal: AbortSignal }): Promise<ZoneTransfer> {
    const { clock, periodMs, transfers } = this.#options;
    using ending = new Ending(asked.signal);
    const cancel = clock.after(periodMs, () => ending.end());
    try {
      return await transfers!.fetchZone({ ...asked, signal: ending.signal });
    } catch (error) {
      asked.signal.throwIfAborted();
      if (!ending.signal.aborted) throw error;
      return { kind: "unreachable", reason: "the transfer took longer than a period" };
    } finally {
      cancel();
    }
  }
}

/** A serial that is told by a server, what is here, and how the first is shown. */
interface SerialToFetch {
  readonly serial: number;
  readonly server: Endpoint;
  /** `undefined`: the whole is fetched. */
  readonly have: number | undefined;
  readonly verdict: string;
}

/** What the questions for a serial came to, each where it was asked. */
interface Told {
  readonly signed?: Verdict;
  readonly plain?: Verdict;
}

/** What answers that are no view's serial with proof say about who is there. */
function foreign(told: Told): ViewCheck {
  const { signed, plain } = told;
  const isThere = plain?.state === "answered" || plain?.state === "refused";
  const isProvedThere = isSigned(told);
  const isUnproved = signed?.state === "unreachable" && signed.unproved === true;
  if (isThere || isProvedThere || isUnproved) {
    const server = plain?.state === "answered" ? plain.server : undefined;
    return { kind: "foreign", serial: serialIn(plain), isProved: isProvedThere, server };
  }
  const silent = signed ?? plain;
  return { kind: "silent", verdict: silent?.state === "unreachable" ? silent.reason : "no reply in time" };
}

function isSigned({ signed }: Told): boolean {
  return signed?.state === "answered" || signed?.state === "refused";
}

/** Whether somebody says that there is no such view. */
function isWithoutView(plain: Verdict | undefined): boolean {
  if (plain?.state === "answered") return serialIn(plain) === undefined;
  return plain?.state === "refused";
}

function isSameKey(a: TsigKey, b: TsigKey): boolean {
  return a.algorithm === b.algorithm && Buffer.from(a.secret).equals(Buffer.from(b.secret));
}

/** The serial of the SOA in an answer. */
export function serialIn(verdict: Verdict | undefined): number | undefined {
  if (verdict?.state !== "answered" || verdict.outcome !== "data") return undefined;
  const data = verdict.records.find((record) => record.type === "SOA")?.data;
  const serial = Number(data?.split(/\s+/)[2]);
  return Number.isInteger(serial) ? serial : undefined;
}
