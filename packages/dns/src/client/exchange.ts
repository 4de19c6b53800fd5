import type { Endpoint } from "@meridian/runtime";
import type { TsigKey } from "../tsig/tsig-key.ts";
import type { ClientParts } from "./client-parts.ts";
import { Inbox } from "./inbox.ts";
import { sealerFor, type SealedReply, type Sealer } from "./sealing.ts";

/** A message that is no question, and how long to wait for its reply. */
export interface ExchangeOptions {
  readonly server: Endpoint;
  readonly key: TsigKey | undefined;
  /** Octets of the question section, which the reply must repeat. */
  readonly questionLength: number;
  /** How long to wait after each datagram; empty sends none. */
  readonly waitsMs: readonly number[];
  /** How long to wait for a reply over TCP, asked after the datagrams or for a truncated one; 0 never asks. */
  readonly streamMs: number;
  readonly signal: AbortSignal | undefined;
}

/** What sending a message to one server came to. */
export type ExchangeResult =
  | {
      readonly kind: "replied";
      /** Verified, where it was signed. */
      readonly message: Uint8Array;
      /** How often the message was sent; an earlier copy may have been acted on. */
      readonly sent: number;
    }
  /** There were replies, but none to be believed. */
  | { readonly kind: "unproved"; readonly reason: string; readonly error?: string }
  | { readonly kind: "silent" };

/** Sends one message until it has a reply. Rejects with `signal.reason` only. */
export async function exchange(
  parts: ClientParts,
  message: Uint8Array,
  options: ExchangeOptions,
): Promise<ExchangeResult> {
  return new Exchange(parts, message, options).run();
}

class Exchange {
  readonly #parts: ClientParts;
  readonly #message: Uint8Array;
  readonly #options: ExchangeOptions;
  readonly #inbox: Inbox<SealedReply>;
  readonly #cancels: (() => void)[] = [];
  #result: ExchangeResult = { kind: "silent" };
  #resynced = false;
  #sent = 0;

  constructor(parts: ClientParts, message: Uint8Array, options: ExchangeOptions) {
    this.#parts = parts;
    this.#message = message;
    this.#options = options;
    this.#inbox = new Inbox(parts.runtime.clock);
  }

  async run(): Promise<ExchangeResult> {
    const { waitsMs, streamMs, signal } = this.#options;
    try {
      for (const waitMs of waitsMs) {
        signal?.throwIfAborted();
        const reply = await this.#overUdp(waitMs);
        if (reply === "truncated") break;
        if (reply !== undefined) return reply;
      }
      return streamMs > 0 ? await this.#overStream() : this.#result;
    } finally {
      for (const cancel of this.#cancels) cancel();
    }
  }

  async #overUdp(waitMs: number): Promise<ExchangeResult | "truncated" | undefined> {
    const { clock } = this.#parts.runtime;
    await this.#send();
    let end = clock.monotonicMs() + waitMs;
    for (;;) {
      const reply = await this.#inbox.next(end - clock.monotonicMs(), this.#options.signal);
      if (reply === undefined) return undefined;
      const judged = this.#judge(reply);
      if (judged === "resync") {
        await this.#send();
        end = clock.monotonicMs() + waitMs;
      } else if (judged !== undefined) {
        return (judged.message[2]! & 2) !== 0 && this.#options.streamMs > 0
          ? "truncated"
          : { ...judged, sent: this.#sent };
      }
    }
  }

  async #send(): Promise<void> {
    const { server, questionLength } = this.#options;
    this.#sent++;
    const sending = this.#parts.udp.send(this.#message.slice(), server, {
      questionLength,
      seal: this.#sealer(),
      onReply: (reply) => this.#inbox.push(reply),
    });
    // A socket that cannot be had now may be had at the next try.
    this.#cancels.push(await sending.catch(() => () => {}));
  }

  async #overStream(): Promise<ExchangeResult> {
    const { server, questionLength, streamMs, signal } = this.#options;
    for (;;) {
      this.#sent++;
      const reply = await this.#parts.streams.ask(this.#message.slice(), {
        server,
        questionLength,
        seal: this.#sealer(),
        timeoutMs: streamMs,
        signal,
      });
      if (reply === undefined) return this.#result;
      const judged = this.#judge(reply);
      if (judged === undefined) return this.#result;
      if (judged !== "resync") return { ...judged, sent: this.#sent };
    }
  }

  /** `resync`: the server told its time, and that is worth one more try. */
  #judge(reply: SealedReply): { kind: "replied"; message: Uint8Array } | "resync" | undefined {
    switch (reply.kind) {
      case "verified":
        return { kind: "replied", message: reply.message };
      case "unproved":
        this.#result = reply;
        return undefined;
      case "badTime":
        this.#result = {
          kind: "unproved",
          reason: "the server's clock and ours differ",
          error: "BADTIME",
        };
        if (this.#resynced) return undefined;
        this.#resynced = true;
        this.#parts.memory.takeTime(this.#options.server, reply.serverSeconds);
        return "resync";
    }
  }

  #sealer(): Sealer {
    const { key, server } = this.#options;
    const { runtime, memory } = this.#parts;
    return sealerFor({ key, clock: runtime.clock, offsetSeconds: memory.offsetSeconds(server) });
  }
}
