import {
  deferred,
  ReusedClient,
  type Runtime,
  type UdpServer,
  type UdpServerOptions,
} from "@meridian/runtime";
import {
  assertPortFree,
  openMmsgSocket,
  receiveBufferBytesAsked,
  type MmsgSocket,
} from "@meridian/runtime/node";
import type { ZoneSigning } from "../dnssec/online-signer.ts";
import { nameToText, type Name } from "../name/name.ts";
import type { QueryLogRing } from "../server/query-log-ring.ts";
import type { QueryLog } from "../server/query-log.ts";
import { counterSlots, type SharedAuthority } from "../server/shared-authority.ts";
import { SocketWorker, type ThreadPlace } from "./socket-worker.ts";
import type { DeferredMessage } from "./udp-thread.ts";
import { sumCounters, type WorkerCounters } from "./worker-control.ts";
import type { ToWorker } from "./worker-messages.ts";

/** What threads answer from: an `Authority`. */
export interface SharingAuthority {
  share(): SharedAuthority;
  onShareChanged: (() => void) | undefined;
}

/** How many threads, and what they know. */
export interface UdpWorkersOptions {
  readonly authority: SharingAuthority;
  /** Threads, and sockets, for each address; at least 1. All together at most 64. */
  readonly threads: number;
  /** Networks of proxies, as in `ServeDnsOptions`. */
  readonly proxies?: readonly string[];
  /** Notes what the threads answer; what comes to the main thread is noted by the function given to `serveUdp`. */
  readonly queryLog?: QueryLog;
}

/** What only one thread at a time may write. */
interface WrittenByThread {
  readonly slot: number;
  readonly ring: QueryLogRing | undefined;
}

const answerOctetsMax = 65_535;

/**
 * Threads that answer datagrams from an authority's shared memory, each blocked in `recvmmsg` on a socket of its own;
 * the kernel spreads clients over the sockets of a port. What needs more than a lookup comes to the main thread, is
 * answered there by the function and the deferral given to `serveUdp`, and leaves through the same socket.
 *
 * Only where `mmsgAvailability` says so.
 */
export class UdpWorkers {
  readonly #runtime: Runtime;
  readonly #options: UdpWorkersOptions;
  readonly #workers = new Set<SocketWorker>();
  readonly #signings = new Map<string, ZoneSigning>();
  readonly #slots = new Set<number>();
  #past: WorkerCounters = sumCounters([]);

  /** Follows the authority's `onShareChanged` from now on; who set it before is still called. */
  constructor(runtime: Runtime, options: UdpWorkersOptions) {
    const { authority } = options;
    this.#runtime = runtime;
    this.#options = options;
    const before = authority.onShareChanged;
    authority.onShareChanged = () => {
      before?.();
      this.#post({ kind: "share", shared: authority.share() });
    };
  }

  /**
   * Stands in for `Network.serveUdp`. Resolves when all threads answer.
   *
   * @throws NetworkError as `Network.serveUdp`; or the error of a thread that did not come up
   */
  readonly serveUdp = async (options: UdpServerOptions): Promise<UdpServer> => {
    const workers = this.#openSockets(options).map((socket) => this.#startWorker(socket, options));
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await Promise.all(workers.map(({ worker }) => worker.close()));
      for (const { worker, places } of workers) {
        this.#past = sumCounters([this.#past, worker.counters]);
        this.#workers.delete(worker);
        for (const { slot } of places.values()) this.#slots.delete(slot);
      }
    };
    try {
      await Promise.all(workers.map(({ worker }) => worker.ready));
    } catch (error) {
      await close();
      throw error;
    }
    return {
      local: workers[0]!.worker.local,
      [Symbol.asyncDispose]: () => (closing ??= close()),
    };
  };

  /** Numbers of all threads since the start. */
  get counters(): WorkerCounters {
    return sumCounters([this.#past, ...[...this.#workers].map((worker) => worker.counters)]);
  }

  /** Signs the answers of a zone from now on, or with other keys. */
  sign(signing: ZoneSigning): void {
    this.#signings.set(nameToText(signing.origin), signing);
    this.#post({ kind: "sign", signing });
  }

  unsign(origin: Name): void {
    if (this.#signings.delete(nameToText(origin))) this.#post({ kind: "unsign", origin });
  }

  /**
   * Replaces all threads, one after another; no datagram is lost.
   *
   * @throws the error of a thread that did not come up; those before it are new, all others stay
   */
  async restart(): Promise<void> {
    for (const worker of this.#workers) await worker.restart();
  }

  #post(message: ToWorker): void {
    for (const worker of this.#workers) worker.post(message);
  }

  #openSockets(options: UdpServerOptions): readonly MmsgSocket[] {
    const { log } = this.#runtime;
    if (options.port !== 0) assertPortFree(options);
    const sockets = [openMmsgSocket(options)];
    const [{ local, receiveBufferBytes }] = sockets as [MmsgSocket];
    while (sockets.length < this.#options.threads) sockets.push(openMmsgSocket(local));
    log.info("datagrams are answered by threads", {
      datapath: "mmsg",
      ...local,
      threads: sockets.length,
      receiveBufferBytes,
    });
    if (receiveBufferBytes < receiveBufferBytesAsked)
      log.warn("the receive buffers are small: bursts may be lost; raise net.core.rmem_max", {
        receiveBufferBytes,
        receiveBufferBytesAsked,
      });
    return sockets;
  }

  #startWorker(
    socket: MmsgSocket,
    served: UdpServerOptions,
  ): { readonly worker: SocketWorker; readonly places: ReadonlyMap<ThreadPlace, WrittenByThread> } {
    const { authority, proxies = [], queryLog } = this.#options;
    const places = new Map<ThreadPlace, WrittenByThread>();
    const placeOf = (place: ThreadPlace): WrittenByThread => {
      const known = places.get(place) ?? { slot: this.#freeSlot(), ring: queryLog?.addRing() };
      places.set(place, known);
      return known;
    };
    const output = new Uint8Array(answerOctetsMax);
    const worker = new SocketWorker(this.#runtime, {
      socket,
      start: (place) => {
        const { slot, ring } = placeOf(place);
        return {
          shared: authority.share(),
          signings: [...this.#signings.values()],
          slot,
          proxies,
          ...(ring === undefined ? {} : { queryLog: ring.shared }),
        };
      },
      onReplyLost: () => served.onLost?.(),
      onDeferred: ({ message, address, port }: DeferredMessage, reply) => {
        const client = new ReusedClient("udp", { address, port });
        const length = served.answer(message, 0, message.length, client, output);
        if (length === deferred) served.defer?.(message, client, reply);
        else if (length > 0) reply(output.subarray(0, length));
      },
    });
    this.#workers.add(worker);
    return { worker, places };
  }

  /** Where the main thread counts is slot 0. More threads than slots share one, whose numbers are then too low. */
  #freeSlot(): number {
    let slot = 1;
    while (slot < counterSlots - 1 && this.#slots.has(slot)) slot++;
    this.#slots.add(slot);
    return slot;
  }
}
