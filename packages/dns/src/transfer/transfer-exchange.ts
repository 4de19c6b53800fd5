import type { Clock, Endpoint, Runtime, TcpConnection } from "@meridian/runtime";
import { dnsErrorText } from "../dns-error.ts";
import { composeMessage } from "../message/message.ts";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";
import { rcodeToText } from "../message/codes.ts";
import { nameFromText } from "../name/name.ts";
import type { DnsTlsOptions } from "../client/stream-exchanges.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import type { TsigKey } from "../tsig/tsig-key.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import { OctetPool } from "./octet-pool.ts";
import { readTransferMessage } from "./record-reader.ts";
import {
  TransferReader,
  type TakeRecord,
  type TransferContent,
  type TransferLimits,
} from "./transfer-reader.ts";

/** A server that a zone can be had from. */
export interface Primary extends Endpoint {
  /** Signs the requests; then nothing unsigned is believed. */
  readonly key?: TsigKey;
  /** Asks and transfers over TLS (RFC 9103), and whom the server must prove to be. */
  readonly tls?: DnsTlsOptions;
}

/** One transfer to ask for. */
export interface TransferAsked {
  readonly zone: string;
  readonly primary: Primary;
  /** Asks for what is newer (IXFR); `undefined` asks for all (AXFR). */
  readonly haveSerial: number | undefined;
  /** The own address to ask from. */
  readonly from: string | undefined;
  readonly limits: TransferLimits & {
    /** Silence after which the primary is given up. */
    readonly idleMs: number;
    /** The longest that the whole transfer may take. */
    readonly totalMs: number;
  };
  readonly signal: AbortSignal | undefined;
  /** Who takes the records of a whole zone as they come; called anew for each try. Absent: the outcome has them. */
  readonly startWhole?: (() => TakeRecord) | undefined;
}

/** What asking for a transfer came to. */
export type TransferOutcome =
  | (TransferContent & { readonly foreignRecords: number })
  /** The primary will not give it. */
  | { readonly kind: "refused"; readonly rcode: string }
  /** No connection, or silence. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** What came is no whole, proved transfer of the zone. Nothing of it is to be used. */
  | { readonly kind: "broken"; readonly reason: string };

/**
 * Asks one primary for a zone over a TCP connection of its own. Rejects only with the signal's reason.
 *
 * @throws DnsError `BadName` for a zone that is no name
 */
export async function exchangeTransfer(runtime: Runtime, asked: TransferAsked): Promise<TransferOutcome> {
  const first = await exchangeOnce(runtime, asked, 0);
  if (first.kind !== "badTime") return first;
  // The primary has proved its time: one more try with its clock (RFC 8945 §5.2.3).
  const offsetSeconds = first.serverSeconds - Math.floor(runtime.clock.now() / 1000);
  const second = await exchangeOnce(runtime, asked, offsetSeconds);
  return second.kind === "badTime" ? { kind: "broken", reason: "the primary's clock is off" } : second;
}

type Attempt = TransferOutcome | { readonly kind: "badTime"; readonly serverSeconds: number };

async function exchangeOnce(runtime: Runtime, asked: TransferAsked, offsetSeconds: number): Promise<Attempt> {
  const { primary, from, limits, signal } = asked;
  signal?.throwIfAborted();
  const message = composeRequest(asked, runtime.random.uint32() & 0xffff);
  const signed =
    primary.key === undefined
      ? undefined
      : new SignedRequest(message, { key: primary.key, clock: runtime.clock, offsetSeconds });
  const watch = new Watch(runtime.clock, limits);
  const abort = (): void => watch.stop(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const sameFamily = from !== undefined && from.includes(":") === primary.address.includes(":");
  try {
    const options = {
      to: { address: primary.address, port: primary.port },
      ...(sameFamily ? { from } : {}),
      signal: watch.signal,
    };
    const { network } = runtime;
    const connection = await (primary.tls === undefined
      ? network.connectTcp(options)
      : network.connectTls({ ...options, tls: { ...primary.tls, protocols: ["dot"] } }));
    const onStop = (): void => connection.destroy();
    watch.signal.addEventListener("abort", onStop, { once: true });
    try {
      watch.signal.throwIfAborted();
      await connection.write(toFrame(signed?.message ?? message));
      return await receive(connection, { clock: runtime.clock, asked, message, signed, watch });
    } finally {
      watch.signal.removeEventListener("abort", onStop);
      await connection[Symbol.asyncDispose]();
    }
  } catch (error) {
    const reason = watch.signal.aborted ? watch.signal.reason : error;
    return { kind: "unreachable", reason: reason instanceof Error ? reason.message : String(reason) };
  } finally {
    watch.end();
    signal?.removeEventListener("abort", abort);
    signal?.throwIfAborted();
  }
}

async function receive(
  connection: TcpConnection,
  context: {
    readonly clock: Clock;
    readonly asked: TransferAsked;
    readonly message: Uint8Array;
    readonly signed: SignedRequest | undefined;
    readonly watch: Watch;
  },
): Promise<Attempt> {
  const { clock, asked, message, signed, watch } = context;
  const frames = new FrameReader({ octetsMin: headerOctets, octetsMax: 65_535 });
  const pool = new OctetPool();
  const slices = new WorkSlices(clock);
  const reader = new TransferReader({
    origin: nameFromText(asked.zone),
    haveSerial: asked.haveSerial,
    limits: asked.limits,
    startWhole: asked.startWhole,
  });
  try {
    for await (const chunk of connection.received) {
      watch.heard();
      for (const frame of frames.read(chunk)) {
        if (typeof frame === "string") return broken("a message has an impossible length");
        if (frame[0] !== message[0] || frame[1] !== message[1] || (frame[2]! & 0xf8) !== 0x80)
          return broken("a message is no reply to the request");
        const verdict = signed?.verifyNext(frame) ?? { kind: "verified" as const, message: frame };
        if (verdict.kind === "badTime") return verdict;
        if (verdict.kind === "unproved")
          return broken(
            verdict.error === undefined ? verdict.reason : `${verdict.reason} (${verdict.error})`,
          );
        const { rcode, truncated, records } = readTransferMessage(verdict.message, pool);
        if (rcode !== 0) return { kind: "refused", rcode: rcodeToText(rcode) };
        if (truncated) return broken("a message is truncated");
        const content = reader.read(records, frame.length);
        const pause = slices.pause();
        if (pause !== undefined) await pause;
        if (content === undefined) continue;
        if (signed?.complete === false) return broken("the last message is not signed");
        return { ...content, foreignRecords: reader.foreignRecords };
      }
    }
  } catch (error) {
    if (watch.signal.aborted) throw error;
    return broken(
      error instanceof Error && error.name === "NetworkError" ? error.message : dnsErrorText(error),
    );
  }
  return broken("the connection ended before the transfer did");
}

function broken(reason: string): TransferOutcome {
  return { kind: "broken", reason };
}

function composeRequest({ zone, haveSerial }: TransferAsked, id: number): Uint8Array {
  const isIncremental = haveSerial !== undefined;
  // Only the serial counts of the SOA that we have (RFC 1995 §3).
  const soa = { name: zone, type: "SOA", class: 1, ttl: 0, data: `. . ${haveSerial ?? 0} 0 0 0 0` };
  return composeMessage({
    id,
    questions: [{ name: zone, type: isIncremental ? "IXFR" : "AXFR", class: 1 }],
    authority: isIncremental ? [soa] : [],
  });
}

/** Stops an exchange that is silent or lasts too long. */
class Watch {
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #idleMs: number;
  #heardMs: number;
  #cancelIdle: () => void;
  readonly #cancelTotal: () => void;

  constructor(clock: Clock, { idleMs, totalMs }: { readonly idleMs: number; readonly totalMs: number }) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#heardMs = clock.monotonicMs();
    this.#cancelIdle = clock.after(idleMs, () => this.#checkIdle());
    this.#cancelTotal = clock.after(totalMs, () => this.stop(new Error("the transfer took too long")));
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  heard(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  end(): void {
    this.#cancelIdle();
    this.#cancelTotal();
  }

  #checkIdle(): void {
    const leftMs = this.#heardMs + this.#idleMs - this.#clock.monotonicMs();
    if (leftMs <= 0) this.stop(new Error("the primary fell silent"));
    else this.#cancelIdle = this.#clock.after(leftMs, () => this.#checkIdle());
  }
}
