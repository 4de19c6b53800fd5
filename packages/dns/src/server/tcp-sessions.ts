import type { AnswerDatagram, Runtime, StreamConnection, StreamSink } from "@meridian/runtime";
import type { RequestPipeline } from "./dns-request.ts";
import type { ProxySources } from "./proxy-sources.ts";
import { TcpOutput } from "./tcp-output.ts";
import { TcpSession, type TcpSessionHost } from "./tcp-session.ts";

/** How long the first question may take to arrive. */
const firstQuestionMs = 8_000;
/** How long written answers may wait to be taken. */
export const congestedMs = 10_000;
/** Above this share of the connections allowed, silent ones are let go after `crowdedIdleMs`. */
const crowdedShare = 0.75;
const crowdedIdleMs = 3_000;
const sweepMs = 1_000;

/** What TCP and TLS connections may cost. */
export interface TcpLimits {
  /** A connection without a question for this long is closed. Default 30,000; 3,000 above three quarters of `connectionsMax`. */
  readonly idleMs?: number;
  /** At this many, the longest idle connection is closed for a new one. Default 1,000 over all endpoints. */
  readonly connectionsMax?: number;
  /** The same for each IPv4 address and each IPv6 /64. Default 100. Proxies are exempt: they speak for many. */
  readonly connectionsPerClientMax?: number;
  /** After so many questions a connection is ended. Default: no limit. */
  readonly questionsMax?: number;
  /** Longer questions reset the connection. Default 16,384; long updates need up to 65,535. */
  readonly questionOctetsMax?: number;
}

/** Numbers of TCP and TLS connections; all but `tcpOpen` only rise. */
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
  tcpQuestions: number;
  tlsQuestions: number;
}

export interface TcpSessionsOptions {
  readonly answer: AnswerDatagram;
  readonly requests: () => RequestPipeline | undefined;
  readonly proxies: ProxySources;
  readonly limits: TcpLimits;
  /** Told what clients that ask for keepalive should be told from now on. */
  readonly onIdleMs: (idleMs: number) => void;
}

/** All connections of a server: few, silent ones for a short time only, and never more than the limits. */
export class TcpSessions {
  readonly counters: TcpCounters = {
    tcpConnections: 0,
    tcpOpen: 0,
    tcpEvicted: 0,
    tcpExpired: 0,
    tcpReset: 0,
    tcpQuestions: 0,
    tlsQuestions: 0,
  };
  readonly #runtime: Runtime;
  readonly #options: TcpSessionsOptions;
  readonly #idleMs: number;
  readonly #connectionsMax: number;
  readonly #perClientMax: number;
  readonly #host: TcpSessionHost;
  /** The longest idle first. */
  readonly #sessions = new Set<TcpSession>();
  readonly #perClient = new Map<string, number>();
  #crowded = false;
  #draining = false;
  #stopSweep: (() => void) | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(runtime: Runtime, options: TcpSessionsOptions) {
    const { limits } = options;
    this.#runtime = runtime;
    this.#options = options;
    this.#idleMs = limits.idleMs ?? 30_000;
    this.#connectionsMax = limits.connectionsMax ?? 1_000;
    this.#perClientMax = limits.connectionsPerClientMax ?? 100;
    this.#host = {
      answer: options.answer,
      requests: options.requests,
      output: new TcpOutput(),
      monotonicMs: () => runtime.clock.monotonicMs(),
      log: runtime.log,
      frameOctetsMax: limits.questionOctetsMax ?? 16 * 1024,
      questionsMax: limits.questionsMax ?? Infinity,
      onActive: (session, questions) => this.#noteActive(session, questions),
      onClose: (session) => this.#remove(session),
    };
    options.onIdleMs(this.#idleMs);
  }

  accept(connection: StreamConnection, transport: "tcp" | "tls"): StreamSink {
    const { proxies } = this.#options;
    const session = new TcpSession(this.#host, {
      connection,
      transport,
      proxied: (peer) => proxies.has(peer),
    });
    if (this.#draining) {
      session.reset("evicted");
      return session;
    }
    if (this.#sessions.size >= this.#connectionsMax) this.#evict();
    const { network } = session;
    const ofClient = this.#perClient.get(network) ?? 0;
    if (ofClient >= this.#perClientMax && !session.proxied) this.#evict(network);
    this.#perClient.set(network, (this.#perClient.get(network) ?? 0) + 1);
    this.counters.tcpConnections++;
    this.#sessions.add(session);
    this.#noteSize();
    this.#stopSweep ??= this.#runtime.clock.after(sweepMs, () => this.#sweep());
    return session;
  }

  /** Ends all connections after the answers that are due; resets those that are left after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    this.#options.onIdleMs(0);
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
    for (const session of this.#sessions) session.reset("expired");
    this.#stopSweep?.();
  }

  #noteActive(session: TcpSession, questions: number): void {
    if (session.transport === "tls") this.counters.tlsQuestions += questions;
    else this.counters.tcpQuestions += questions;
    if (!this.#sessions.delete(session)) return;
    this.#sessions.add(session);
  }

  /** Takes the session off the lists, at its end or before. */
  #remove(session: TcpSession): void {
    if (!this.#sessions.delete(session)) return;
    const left = (this.#perClient.get(session.network) ?? 1) - 1;
    if (left > 0) this.#perClient.set(session.network, left);
    else this.#perClient.delete(session.network);
    if (session.end === "reset") this.counters.tcpReset++;
    else if (session.end === "evicted") this.counters.tcpEvicted++;
    else if (session.end === "expired") this.counters.tcpExpired++;
    this.#noteSize();
    if (this.#sessions.size === 0) this.#onEmpty?.();
  }

  #noteSize(): void {
    const { size } = this.#sessions;
    this.counters.tcpOpen = size;
    const crowded = size > this.#connectionsMax * crowdedShare;
    if (crowded === this.#crowded || this.#draining) return;
    this.#crowded = crowded;
    this.#options.onIdleMs(crowded ? Math.min(crowdedIdleMs, this.#idleMs) : this.#idleMs);
  }

  /** Makes room by the longest idle connection, of all or of one client; one that is being answered goes last. */
  #evict(network?: string): void {
    let longest: TcpSession | undefined;
    for (const session of this.#sessions) {
      if (network !== undefined && session.network !== network) continue;
      longest ??= session;
      if (session.busy) continue;
      longest = session;
      break;
    }
    if (longest !== undefined) this.#close(longest, "evicted");
  }

  /** Off the lists at once, although the connection goes a moment later. */
  #close(session: TcpSession, reason: "evicted" | "expired"): void {
    session.reset(reason);
    this.#remove(session);
  }

  #sweep(): void {
    const now = this.#runtime.clock.monotonicMs();
    const idleMs = this.#crowded ? Math.min(crowdedIdleMs, this.#idleMs) : this.#idleMs;
    for (const session of this.#sessions) {
      const allowedMs = session.asked === 0 ? Math.min(firstQuestionMs, idleMs) : idleMs;
      const { congestedSinceMs } = session;
      const silent = !session.busy && now - session.activeMs >= allowedMs;
      const expired = congestedSinceMs === undefined ? silent : now - congestedSinceMs >= congestedMs;
      if (expired) this.#close(session, "expired");
    }
    this.#stopSweep =
      this.#sessions.size > 0 ? this.#runtime.clock.after(sweepMs, () => this.#sweep()) : undefined;
  }
}
