import type { Endpoint } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Boot } from "./boot.ts";
import type { Fabric } from "./fabric.ts";
import type { Host } from "./host.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import { drawDelayMs } from "./links.ts";
import type { Prng } from "./prng.ts";
import type { Timer } from "./timer-queue.ts";

/** One message of a connection; `octets` is what the trace sees of it. */
export interface WireMessage {
  readonly kind: string;
  readonly octets?: Uint8Array;
}

/** Who reads an end. Set right after the end was made. */
export interface WireReader {
  receive(message: WireMessage): void;
  /** The connection broke; nothing comes after it. */
  broken(error: NetworkError): void;
}

/** When an end notices that its peer is gone: silence of `idleMs`, then a probe that is not answered for `answerMs`. */
export interface Keepalive {
  readonly idleMs: number;
  readonly answerMs: number;
}

/**
 * One end of a simulated connection: messages arrive once and in order, or the connection breaks.
 *
 * Over a cut link nothing fails at once: messages wait and are sent again with growing pauses, as TCP does it. The
 * connection breaks when `giveUpMs` have passed, or when the keepalive of an end goes unanswered.
 */
export class WireEnd {
  readonly local: Endpoint;
  readonly host: Host;
  readonly boot: Boot;
  reader: WireReader | undefined;
  keepalive: Keepalive = { idleMs: 30_000, answerMs: 10_000 };
  readonly #fabric: Fabric;
  #peer: WireEnd | undefined;
  #random: Prng | undefined;
  #open = true;
  #closing = false;
  readonly #waiting: WireMessage[] = [];
  #lastArrivalMs = 0;
  #lastHeardMs: number;
  /** Set while something sent is not acknowledged for too long; `blocked` while nothing gets out at all. */
  #retry: { readonly sinceMs: number; pauseMs: number; blocked: boolean; timer: Timer } | undefined;
  #deathCheck: Timer | undefined;

  constructor(fabric: Fabric, boot: Boot, options: { host: Host; local: Endpoint }) {
    this.#fabric = fabric;
    this.boot = boot;
    this.host = options.host;
    this.local = options.local;
    this.#lastHeardMs = fabric.world.nowMs;
    options.host.wireEnds.add(this);
  }

  /** Joins two ends. Called once for each pair. */
  static join(a: WireEnd, b: WireEnd): void {
    a.#connect(b);
    b.#connect(a);
  }

  get open(): boolean {
    return this.#open && this.boot.alive;
  }

  get remote(): Endpoint {
    return this.#other.local;
  }

  send(message: WireMessage): void {
    if (!this.open) return;
    this.#waiting.push(message);
    if (this.#retry?.blocked !== true) this.#transmit();
  }

  /** Forgets this end once everything was sent. The peer is not told: the layer above has said goodbye. */
  close(): void {
    if (this.#waiting.length === 0) this.#forget();
    else this.#closing = true;
  }

  /** Breaks the connection from this side; the peer hears of it if the link lets it through. */
  reset(reason: string): void {
    if (!this.open) return;
    this.#forget();
    this.#sendReset(reason);
  }

  /** The process of this end has died. The kernel resets what it held, unless the whole machine is gone. */
  die(reason: string | undefined): void {
    const wasOpen = this.#open;
    this.#forget();
    if (wasOpen && reason !== undefined) this.#sendReset(reason);
  }

  /** A link to the peer was cut, or the peer's machine lost its power: the keepalive will notice. */
  suspectPeer(): void {
    if (!this.open || this.#peer === undefined) return;
    const { idleMs, answerMs } = this.keepalive;
    const silentMs = this.#fabric.world.nowMs - this.#lastHeardMs;
    const dueMs = this.#fabric.world.nowMs + idleMs - (silentMs % idleMs) + answerMs;
    if (this.#deathCheck !== undefined) this.#fabric.world.timers.cancel(this.#deathCheck);
    this.#deathCheck = this.#fabric.world.timers.schedule(dueMs, () => this.#probe(), this.boot);
  }

  peerIs(host: Host): boolean {
    return this.#peer?.host === host;
  }

  get #other(): WireEnd {
    if (this.#peer === undefined) throw new Error("a wire end is used before it was joined to its peer");
    return this.#peer;
  }

  #connect(peer: WireEnd): void {
    this.#peer = peer;
    this.#random = this.#fabric.world.random(`connection/${this.host.name}>${peer.host.name}`);
  }

  #transmit(): void {
    const { world, links, tcp } = this.#fabric;
    const peer = this.#other;
    while (this.#waiting.length > 0) {
      if (links.isCut(this.host.name, peer.host.name) || !peer.host.powered) return this.#tryAgain(true);
      const message = this.#waiting.shift() as WireMessage;
      const conditions = links.conditions(this.host.name, peer.host.name);
      const random = this.#random as Prng;
      let delayMs = drawDelayMs(random, conditions);
      while (random.chance(conditions.loss)) delayMs += tcp.retransmitMinMs;
      this.#lastArrivalMs = Math.max(this.#lastArrivalMs, world.nowMs + delayMs);
      world.timers.schedule(this.#lastArrivalMs, () => this.#arrive(message));
    }
    if (this.#closing) return this.#forget();
    // Delivered, but the acknowledgement cannot come back: the sender goes on asking for it until it gives up.
    if (links.isCut(peer.host.name, this.host.name)) return this.#tryAgain(false);
    if (this.#retry !== undefined) world.timers.cancel(this.#retry.timer);
    this.#retry = undefined;
  }

  /** Plans the next try, each one after a longer pause. */
  #tryAgain(blocked: boolean): void {
    if (this.#retry !== undefined) {
      this.#retry.blocked = blocked;
      return;
    }
    const { world, tcp } = this.#fabric;
    const plan = (pauseMs: number): Timer =>
      world.timers.schedule(world.nowMs + pauseMs, () => this.#onRetry(plan), this.boot);
    const timer = plan(tcp.retransmitMinMs);
    this.#retry = { sinceMs: world.nowMs, pauseMs: tcp.retransmitMinMs, blocked, timer };
  }

  #onRetry(plan: (pauseMs: number) => Timer): void {
    const retry = this.#retry;
    if (!this.open || retry === undefined) return;
    const { world, tcp } = this.#fabric;
    if (world.nowMs - retry.sinceMs >= tcp.giveUpMs) {
      return this.#break("Timeout", `the peer acknowledged nothing for ${tcp.giveUpMs} ms`);
    }
    retry.pauseMs = Math.min(retry.pauseMs * 2, tcp.retransmitMaxMs);
    retry.timer = plan(retry.pauseMs);
    this.#transmit();
  }

  #arrive(message: WireMessage): void {
    const peer = this.#other;
    const { world } = this.#fabric;
    if (peer.open) {
      peer.#lastHeardMs = world.nowMs;
      world.trace.add(world.nowMs, `connection ${this.#describe()} ${message.kind}`, message.octets);
      peer.boot.enter(() => {
        if (peer.open) peer.reader?.receive(message);
      });
    } else if (peer.host.powered && this.open) {
      peer.#sendReset("the other side has no such connection any more");
    }
  }

  /** A reset is a single packet: a cut link swallows it. It never overtakes what was sent before it. */
  #sendReset(reason: string): void {
    const { world, links } = this.#fabric;
    const peer = this.#peer;
    if (peer === undefined || links.isCut(this.host.name, peer.host.name)) return;
    const conditions = links.conditions(this.host.name, peer.host.name);
    const atMs = Math.max(this.#lastArrivalMs, world.nowMs + drawDelayMs(this.#random as Prng, conditions));
    world.timers.schedule(atMs, () => peer.#break("Broken", reason));
  }

  #probe(): void {
    const peer = this.#other;
    this.#deathCheck = undefined;
    if (!this.open) return;
    if (!this.#fabric.reachable(this.host, peer.host)) {
      this.#break("Timeout", "the peer answered no keepalive probe");
    } else if (!peer.open) {
      this.#break("Broken", "the other side has no such connection any more");
    }
  }

  #break(code: "Broken" | "Timeout", reason: string): void {
    if (!this.open) return;
    const { world } = this.#fabric;
    world.trace.add(world.nowMs, `connection ${this.#describe()} broken`);
    const between = `${formatEndpoint(this.local)} and ${formatEndpoint(this.#other.local)}`;
    this.#forget();
    const error = new NetworkError(code, `the connection between ${between} broke: ${reason}; connect again`);
    this.boot.enter(() => this.reader?.broken(error));
  }

  #forget(): void {
    this.#open = false;
    this.#waiting.length = 0;
    this.host.wireEnds.delete(this);
    if (this.#retry !== undefined) this.#fabric.world.timers.cancel(this.#retry.timer);
    this.#retry = undefined;
    if (this.#deathCheck !== undefined) this.#fabric.world.timers.cancel(this.#deathCheck);
    this.#deathCheck = undefined;
  }

  #describe(): string {
    return `${formatEndpoint(this.local)}>${formatEndpoint(this.#other.local)}`;
  }
}
