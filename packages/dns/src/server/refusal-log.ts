import type { Clock, LogFields, Logger } from "@meridian/runtime";

/** Why somebody did not get what they asked for. None of it is a secret. */
export interface Refusal {
  readonly what: "signature" | "transfer" | "update";
  /** A constant: an error of TSIG, or a sentence. */
  readonly reason: string;
  /** Address of the client. */
  readonly client: string;
  /** The key that signed, as the request says; proved or not. */
  readonly key: string | undefined;
  /** The zone asked for, or the name of a question. */
  readonly zone: string;
  readonly details?: LogFields | undefined;
}

interface Told {
  readonly untilMs: number;
  /** The same again since the line. */
  more: number;
}

/** The same is told once in this time. */
const quietMs = 60_000;
/** Lines in that time, and what is remembered. */
const toldMax = 100;

/**
 * Tells of refused requests, each kind by each client and key once a minute and at most 100 in a minute, whoever floods the
 * server with what. What has no line is counted: `more` of the same since its last line, `others` since the last line of all.
 */
export class RefusalLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** By what is the same, in the order of their lines. */
  readonly #told = new Map<string, Told>();
  #others = 0;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param knownKey a key of ours; the names of others are free to invent, and do not make one refusal another */
  note(refusal: Refusal, knownKey: boolean): void {
    const { details, ...fields } = refusal;
    const { what, reason, client, key } = fields;
    const nowMs = this.#clock.monotonicMs();
    const same = [what, reason, client, knownKey ? key : ""].join(" ");
    const told = this.#told.get(same);
    if (told !== undefined && nowMs < told.untilMs) {
      told.more++;
      return;
    }
    this.#told.delete(same);
    if (!this.#makeRoom(nowMs)) {
      this.#others++;
      return;
    }
    this.#told.set(same, { untilMs: nowMs + quietMs, more: 0 });
    const more = told?.more ?? 0;
    const others = this.#others;
    this.#others = 0;
    this.#log.warn("a DNS request was refused", {
      ...details,
      ...fields,
      ...(more === 0 ? {} : { more }),
      ...(others === 0 ? {} : { others }),
    });
  }

  #makeRoom(nowMs: number): boolean {
    for (const [same, { untilMs, more }] of this.#told) {
      if (this.#told.size < toldMax) return true;
      if (nowMs < untilMs) return false;
      this.#told.delete(same);
      this.#others += more;
    }
    return true;
  }
}
