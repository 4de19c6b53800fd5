import type { Endpoint, Runtime } from "@meridian/runtime";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";
import { repeatsQuestion } from "./udp-exchanges.ts";

/** Asks one question over a TCP connection of its own. `undefined` when no usable reply has come within `timeoutMs`. */
export async function askOverTcp(
  runtime: Runtime,
  message: Uint8Array,
  options: {
    readonly server: Endpoint;
    readonly from: string | undefined;
    readonly questionLength: number;
    readonly timeoutMs: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<Uint8Array | undefined> {
  const { server, from, questionLength, signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const cancel = runtime.clock.after(options.timeoutMs, () =>
    stop.abort(new Error("no reply over TCP in time")),
  );
  const sameFamily = from !== undefined && from.includes(":") === server.address.includes(":");
  try {
    const connection = await runtime.network.connectTcp({
      to: server,
      ...(sameFamily ? { from } : {}),
      signal: stop.signal,
    });
    const onAbort = (): void => connection.destroy();
    stop.signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (stop.signal.aborted) return undefined;
      await connection.write(toFrame(message));
      const question = message.subarray(headerOctets, headerOctets + questionLength);
      const frames = new FrameReader({ octetsMin: headerOctets, octetsMax: 65_535 });
      for await (const chunk of connection.received) {
        for (const frame of frames.read(chunk)) {
          if (typeof frame === "string") return undefined;
          const matches =
            frame[0] === message[0] &&
            frame[1] === message[1] &&
            (frame[2]! & 0x80) !== 0 &&
            repeatsQuestion(frame, question);
          if (matches) return frame.slice();
        }
      }
      return undefined;
    } finally {
      stop.signal.removeEventListener("abort", onAbort);
      await connection[Symbol.asyncDispose]();
    }
  } catch {
    return undefined;
  } finally {
    cancel();
    signal?.removeEventListener("abort", abort);
    signal?.throwIfAborted();
  }
}
