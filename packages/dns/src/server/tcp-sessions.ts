import type { AnswerDatagram, Runtime, TcpConnection } from "@meridian/runtime";
import { TcpSession } from "./tcp-session.ts";

/** How long the first question may take to arrive, and a written answer to be taken. */
const firstQuestionMs = 8_000;
const writeMs = 10_000;
/** Above this share of the connections allowed, silent ones are let go after `crowdedIdleMs`. */
const crowdedShare = 0.75;
const crowdedIdleMs = 3_000;
const sweepMs = 1_000;
const answerOctetsMax = 65_535;

/** Numbers of TCP connections; all but `tcpOpen` only rise. */
export interface TcpCounters {
  /** Connections accepted since the start. */
  tcpConnections: number;
  /** Open now. */
  tcpOpen: number;
  /** Closed to make room for a newcomer. */
  tcpEvicted: number;
  /** Closed for their silence, or for taking no answers. */
  tcpExpired: number;
  /** Reset for what they sent, or broken by the client. */
  tcpReset: number;
}

/** The TCP clients of one server, with a bound on how many there are and how long they may be silent. */
export class TcpSessions {
  readonly counters: TcpCounters = {
    tcpConnections: 0,
    tcpOpen: 0,
    tcpEvicted: 0,
    tcpExpired: 0,
    tcpReset: 0,
  };
  readonly #runtime: Runtime;
  readonly #answer: AnswerDatagram;
  readonly #output: Uint8Array = new Uint8Array(answerOctetsMax);
  readonly #idleMs: number;
  readonly #sessionsMax: number;
  /** In order of their last question, the longest silent first. */
  readonly #sessions = new Set<TcpSession>();
  #stopSweep: (() => void) | undefined;
  #onEmpty: (() => void) | undefined;
  #draining = false;

  constructor(
    runtime: Runtime,
    options: { readonly answer: AnswerDatagram; readonly idleMs: number; readonly sessionsMax: number },
  ) {
    this.#runtime = runtime;
    this.#answer = options.answer;
    this.#idleMs = options.idleMs;
    this.#sessionsMax = options.sessionsMax;
  }

  accept(connection: TcpConnection): void {
    if (this.#draining) {
      connection.destroy();
      return;
    }
    if (this.#sessions.size >= this.#sessionsMax) this.#evict();
    const { clock } = this.#runtime;
    const session = new TcpSession({
      connection,
      answer: this.#answer,
      output: this.#output,
      monotonicMs: () => clock.monotonicMs(),
    });
    this.counters.tcpConnections++;
    this.#sessions.add(session);
    this.counters.tcpOpen = this.#sessions.size;
    this.#stopSweep ??= clock.after(sweepMs, () => this.#sweep());
    void this.#serve(session);
  }

  /** Ends all connections after the answers that are due; resets those that are left after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    for (const session of this.#sessions) session.drain();
    if (this.#sessions.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#runtime.clock.after(graceMs, resolve);
        this.#onEmpty = () => {
          cancel();
          resolve();
        };
      });
    }
    for (const session of this.#sessions) session.reset();
    this.#stopSweep?.();
  }

  async #serve(session: TcpSession): Promise<void> {
    const clean = await session.run(() => {
      this.#sessions.delete(session);
      this.#sessions.add(session);
    });
    if (!clean) this.counters.tcpReset++;
    this.#sessions.delete(session);
    this.counters.tcpOpen = this.#sessions.size;
    if (this.#sessions.size === 0) this.#onEmpty?.();
  }

  #evict(): void {
    const [longestIdle] = this.#sessions;
    if (longestIdle === undefined) return;
    this.counters.tcpEvicted++;
    this.#sessions.delete(longestIdle);
    longestIdle.reset();
  }

  #sweep(): void {
    const now = this.#runtime.clock.monotonicMs();
    const crowded = this.#sessions.size > this.#sessionsMax * crowdedShare;
    const idleMs = crowded ? Math.min(crowdedIdleMs, this.#idleMs) : this.#idleMs;
    for (const session of this.#sessions) {
      const allowedMs = session.asked === 0 ? Math.min(firstQuestionMs, idleMs) : idleMs;
      const { writingSinceMs } = session;
      const expired =
        writingSinceMs === undefined ? now - session.activeMs >= allowedMs : now - writingSinceMs >= writeMs;
      if (!expired) continue;
      this.counters.tcpExpired++;
      session.reset();
    }
    this.#stopSweep =
      this.#sessions.size > 0 ? this.#runtime.clock.after(sweepMs, () => this.#sweep()) : undefined;
  }
}
