import type { Endpoint } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import type { Fabric } from "./fabric.ts";
import type { Host } from "./host.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import { isLoopback } from "./host.ts";
import { drawDelayMs } from "./links.ts";
import { WireEnd } from "./wire.ts";

/** Where a connection attempt starts and where it goes. */
export interface Dialing {
  readonly fabric: Fabric;
  readonly host: Host;
  readonly boot: Boot;
  readonly to: Endpoint;
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

const firstRetryMs = 1_000;

/**
 * Connects two hosts. A closed port refuses after a round trip; a cut link or a machine without power says nothing,
 * and the attempt is repeated with growing pauses until it gets through, times out or is aborted.
 */
export async function dial(dialing: Dialing): Promise<WireEnd> {
  const { fabric, host, boot, to, signal } = dialing;
  signal?.throwIfAborted();
  if (!boot.alive) return never();
  const from = dialing.from ?? host.sourceFor(to.address);
  if (!host.owns(from)) {
    throw new NetworkError(
      "AddressNotAvailable",
      `cannot connect to ${formatEndpoint(to)} from ${from}: node ${host.name} has only ${host.addresses.join(", ")}`,
    );
  }
  const local: Endpoint = { address: from, port: host.connectionPorts.ephemeralPort(from) };
  const end = new WireEnd(fabric, boot, { host, local });
  return new Promise((resolve, reject) => {
    const { world } = fabric;
    const attempt = new Attempt(dialing, end, {
      onOpen: () => finish(() => resolve(end)),
      onRefused: refuse,
    });
    const onAbort = (): void => giveUp(signal?.reason);
    const deadline = Number.isFinite(dialing.timeoutMs)
      ? world.timers.schedule(world.nowMs + dialing.timeoutMs, expire, boot)
      : undefined;
    const forget = boot.onEnd(() => signal?.removeEventListener("abort", onAbort));
    signal?.addEventListener("abort", onAbort, { once: true });
    attempt.start(firstRetryMs);

    function finish(settle: () => void): void {
      signal?.removeEventListener("abort", onAbort);
      forget();
      if (deadline !== undefined) world.timers.cancel(deadline);
      attempt.stop();
      settle();
    }
    function giveUp(reason: unknown): void {
      end.reset("the connection attempt was given up");
      finish(() => reject(reason));
    }
    function expire(): void {
      const message = `cannot connect to ${formatEndpoint(to)}: no answer within ${dialing.timeoutMs} ms; check that it runs and can be reached`;
      giveUp(new NetworkError("Timeout", message));
    }
    function refuse(): void {
      const message = `cannot connect to ${formatEndpoint(to)}: nothing listens there; check address and port`;
      giveUp(new NetworkError("Refused", message));
    }
  });
}

/** One connection attempt with its repeated first packets. */
class Attempt {
  readonly #dialing: Dialing;
  readonly #end: WireEnd;
  readonly #listener: { readonly onOpen: () => void; readonly onRefused: () => void };
  #cancelRetry: () => void = () => {};
  #stopped = false;
  #accepted = false;

  constructor(dialing: Dialing, end: WireEnd, listener: { onOpen: () => void; onRefused: () => void }) {
    this.#dialing = dialing;
    this.#end = end;
    this.#listener = listener;
  }

  start(retryMs: number): void {
    const { fabric, host, boot, to } = this.#dialing;
    const { world, links } = fabric;
    const peer = fabric.route(host, to.address);
    const timer = world.timers.schedule(world.nowMs + retryMs, () => this.start(retryMs * 2), boot);
    this.#cancelRetry = () => world.timers.cancel(timer);
    if (peer === undefined && isLoopback(to.address)) return this.#listener.onRefused();
    if (peer === undefined || links.isCut(host.name, peer.name)) return;
    const random = world.random(`connection/${host.name}>${peer.name}`);
    const conditions = links.conditions(host.name, peer.name);
    if (random.chance(conditions.loss)) return;
    world.timers.schedule(world.nowMs + drawDelayMs(random, conditions), () => this.#knock(peer));
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRetry();
  }

  /** The first packet arrives at the other host. */
  #knock(peer: Host): void {
    const { fabric, host, boot, to } = this.#dialing;
    const { world, links } = fabric;
    // What cannot be answered is treated as not having arrived: both sides then know the same.
    if (this.#stopped || this.#accepted || !fabric.reachable(host, peer)) return;
    const sink = peer.connectionPorts.lookup(to);
    if (sink === undefined || peer.boot === undefined) {
      const random = world.random(`connection/${peer.name}>${host.name}`);
      const delayMs = drawDelayMs(random, links.conditions(peer.name, host.name));
      const callback = (): void => {
        if (!this.#stopped) this.#listener.onRefused();
      };
      world.timers.schedule(world.nowMs + delayMs, callback, boot);
      return;
    }
    this.#accepted = true;
    const accepted = new WireEnd(fabric, peer.boot, { host: peer, local: to });
    WireEnd.join(this.#end, accepted);
    this.#end.reader = {
      receive: () => this.#listener.onOpen(),
      broken: () => this.#listener.onRefused(),
    };
    accepted.send({ kind: "open" });
    peer.boot.enter(() => sink.accept(accepted));
  }
}
