import type { Http2Session } from "node:http2";

import { NetworkError } from "../network.ts";

/** When an HTTP/2 connection is taken for dead: no answer within `answerMs` to a PING sent after `silenceMs`. */
export interface PingTimes {
  readonly silenceMs: number;
  readonly answerMs: number;
}

/** A half-open connection is noticed within 25 s. (The HTTP/2 client of client-go asks after 30 s and waits for 15.) */
export const defaultPingTimes: PingTimes = { silenceMs: 15_000, answerMs: 10_000 };

/**
 * Asks the peer for a sign of life when nothing was heard for a while, and destroys the session when none comes: its
 * streams then fail. The returned function notes that something was heard.
 */
export function watchSession(session: Http2Session, times: PingTimes = defaultPingTimes): () => void {
  let heardMs = performance.now();
  let timer: ReturnType<typeof setTimeout>;

  const wait = (ms: number): void => {
    timer = setTimeout(check, ms);
    timer.unref();
  };
  const heard = (): void => {
    heardMs = performance.now();
  };
  const check = (): void => {
    if (session.destroyed) return; // its "close" is still to come
    const restMs = heardMs + times.silenceMs - performance.now();
    if (restMs > 1) return wait(restMs);
    const deadline = setTimeout(() => {
      session.destroy(
        new NetworkError(
          "Timeout",
          `the peer did not answer a PING within ${times.answerMs} ms; connect again`,
        ),
      );
    }, times.answerMs);
    deadline.unref();
    const sent = session.ping((error) => {
      clearTimeout(deadline);
      if (error !== null || session.destroyed) return;
      heard();
      wait(times.silenceMs);
    });
    if (!sent) {
      clearTimeout(deadline);
      session.destroy(new NetworkError("Broken", "the connection takes no PING any more; connect again"));
    }
  };

  wait(times.silenceMs);
  session.once("close", () => clearTimeout(timer));
  return heard;
}
