import type { Endpoint, Runtime, TcpConnection, TlsClientOptions } from "@meridian/runtime";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";
import type { Sealer, SealedReply } from "./sealing.ts";
import { endpointKey, repeatsQuestion } from "./udp-exchanges.ts";

/** Whom a DoT server must prove to be (RFC 8310 §5); `insecureSkipVerify` is the opportunistic profile (RFC 7858 §4.1). */
export type DnsTlsOptions = Omit<TlsClientOptions, "protocols">;

interface Waiting {
  readonly question: Uint8Array;
  readonly opcode: number;
  readonly accept: (reply: Uint8Array) => SealedReply;
  readonly settle: (reply: SealedReply | "broken") => void;
}

interface Stream {
  readonly connection: TcpConnection;
  readonly waiting: Map<number, Waiting>;
  /** Frames received. */
  replies: number;
  stopIdle: (() => void) | undefined;
  closed: boolean;
}

/** One message to ask over a stream. */
export interface StreamQuestion {
  readonly server: Endpoint;
  /** DNS over TLS (RFC 7858) in place of TCP. */
  readonly tls?: DnsTlsOptions | undefined;
  readonly questionLength: number;
  readonly seal: Sealer;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const connectMs = 10_000;
/** A connection without questions is kept this long for the next one: servers want theirs back. */
const idleMs = 2_000;
const streamsMax = 100;
const waitingMax = 1_000;

/**
 * Asks over TCP and TLS, many questions at once over one connection to each server (RFC 7766 §6.2.1), which replies in
 * whichever order it likes.
 */
export class StreamExchanges implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #from: string | undefined;
  readonly #closing = new AbortController();
  readonly #streams = new Map<string, Promise<Stream>>();

  constructor(runtime: Runtime, options: { readonly from: string | undefined }) {
    this.#runtime = runtime;
    this.#from = options.from;
  }

  /**
   * Asks one question, whose id is set here; `undefined` when no reply has come within `timeoutMs`. Rejects with
   * `signal.reason` only.
   */
  async ask(message: Uint8Array, question: StreamQuestion): Promise<SealedReply | undefined> {
    const { server, tls, signal } = question;
    signal?.throwIfAborted();
    const deadline = this.#runtime.clock.monotonicMs() + question.timeoutMs;
    const key = `${endpointKey(server)} ${tls === undefined ? "" : JSON.stringify(tls)}`;
    for (let tries = 0; ; tries++) {
      const known = this.#streams.get(key);
      const opening = known ?? this.#open(key, question);
      const stream = await this.#within<Stream>(deadline, signal, (settle) =>
        opening.then(settle, () => settle(undefined)),
      );
      signal?.throwIfAborted();
      if (stream === undefined) {
        // Whoever asks next should dial anew, and not wait for this one.
        if (this.#streams.get(key) === opening) this.#streams.delete(key);
        return undefined;
      }
      const reply = await this.#exchange(stream, message, { ...question, deadline });
      signal?.throwIfAborted();
      if (reply === "broken" && known !== undefined && tries === 0) {
        // A server may close a silent connection in the moment in which we write: no reason to give it up.
        if (stream.closed && this.#streams.get(key) === opening) this.#streams.delete(key);
        continue;
      }
      return reply === "broken" ? undefined : reply;
    }
  }

  /** Breaks all connections; what is asked over them has no reply. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the DNS client is closed"));
    for (const opening of this.#streams.values()) {
      const stream = await opening.catch(() => undefined);
      if (stream !== undefined) this.#close(stream);
    }
    this.#streams.clear();
  }

  async #exchange(
    stream: Stream,
    message: Uint8Array,
    question: StreamQuestion & { readonly deadline: number },
  ): Promise<SealedReply | "broken" | undefined> {
    if (stream.closed || stream.waiting.size >= waitingMax) return "broken";
    stream.stopIdle?.();
    let id: number;
    do id = this.#runtime.random.uint32() & 0xffff;
    while (stream.waiting.has(id));
    message[0] = id >>> 8;
    message[1] = id;
    const sealed = question.seal(message);
    const { replies } = stream;
    try {
      const reply = await this.#within<SealedReply | "broken">(
        question.deadline,
        question.signal,
        (settle) => {
          stream.waiting.set(id, {
            question: message.slice(headerOctets, headerOctets + question.questionLength),
            opcode: message[2]! & 0x78,
            accept: sealed.accept,
            settle,
          });
          stream.connection.write(toFrame(sealed.octets)).catch(() => settle("broken"));
        },
      );
      // Silence since then, to everybody: this connection will bring no more.
      if (reply === undefined && stream.replies === replies) this.#close(stream);
      return reply;
    } finally {
      stream.waiting.delete(id);
      if (stream.waiting.size === 0 && !stream.closed) this.#closeWhenIdle(stream);
    }
  }

  #open(key: string, { server, tls }: StreamQuestion): Promise<Stream> {
    this.#makeRoom();
    const opening = this.#connect(server, tls);
    this.#streams.set(key, opening);
    const forget = (): void => {
      if (this.#streams.get(key) === opening) this.#streams.delete(key);
    };
    opening.then((stream) => void this.#read(stream).then(forget), forget);
    return opening;
  }

  async #connect(server: Endpoint, tls: DnsTlsOptions | undefined): Promise<Stream> {
    const stop = new AbortController();
    const cancel = this.#runtime.clock.after(connectMs, () => stop.abort(new Error("no connection in time")));
    const sameFamily = this.#from !== undefined && this.#from.includes(":") === server.address.includes(":");
    const options = {
      to: server,
      ...(sameFamily ? { from: this.#from } : {}),
      signal: AbortSignal.any([stop.signal, this.#closing.signal]),
    };
    try {
      const { network } = this.#runtime;
      const connection = await (tls === undefined
        ? network.connectTcp(options)
        : network.connectTls({ ...options, tls: { ...tls, protocols: ["dot"] } }));
      const stream: Stream = {
        connection,
        waiting: new Map(),
        replies: 0,
        stopIdle: undefined,
        closed: false,
      };
      // Whoever wanted it may be gone by now.
      this.#closeWhenIdle(stream);
      return stream;
    } finally {
      cancel();
    }
  }

  /** Hands each reply to whom it is for, until the connection ends. */
  async #read(stream: Stream): Promise<void> {
    const frames = new FrameReader({ octetsMin: headerOctets, octetsMax: 65_535 });
    try {
      for await (const chunk of stream.connection.received) {
        for (const frame of frames.read(chunk)) {
          if (typeof frame === "string") return;
          stream.replies++;
          deliver(stream, frame);
        }
      }
    } catch {
      // Whoever waits is told below.
    } finally {
      this.#close(stream);
    }
  }

  #closeWhenIdle(stream: Stream): void {
    stream.stopIdle?.();
    stream.stopIdle = this.#runtime.clock.after(idleMs, () => this.#close(stream));
  }

  #close(stream: Stream): void {
    if (stream.closed) return;
    stream.closed = true;
    stream.stopIdle?.();
    stream.connection.destroy();
    for (const { settle } of stream.waiting.values()) settle("broken");
  }

  /** The connection that was opened first goes. */
  #makeRoom(): void {
    if (this.#streams.size < streamsMax) return;
    const [key, opening] = this.#streams.entries().next().value!;
    this.#streams.delete(key);
    opening.then((stream) => this.#close(stream)).catch(() => {});
  }

  /** What `start` settles with, or `undefined` at the deadline or when the signal aborts. */
  async #within<Result>(
    deadline: number,
    signal: AbortSignal | undefined,
    start: (settle: (result: Result | undefined) => void) => unknown,
  ): Promise<Result | undefined> {
    return new Promise((resolve) => {
      const settle = (result: Result | undefined): void => {
        cancel();
        signal?.removeEventListener("abort", onAbort);
        resolve(result);
      };
      const onAbort = (): void => settle(undefined);
      const leftMs = Math.max(0, deadline - this.#runtime.clock.monotonicMs());
      const cancel = this.#runtime.clock.after(leftMs, () => settle(undefined));
      signal?.addEventListener("abort", onAbort, { once: true });
      start(settle);
    });
  }
}

function deliver(stream: Stream, frame: Uint8Array): void {
  const waiting = stream.waiting.get((frame[0]! << 8) | frame[1]!);
  if (waiting === undefined || (frame[2]! & 0x80) === 0 || waiting.opcode !== (frame[2]! & 0x78)) return;
  if (!repeatsQuestion(frame, waiting.question)) return;
  waiting.settle(waiting.accept(frame.slice()));
}
