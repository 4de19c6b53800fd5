import { createSocket } from "node:dgram";
import { addressesOf, origin } from "./bench-zone.ts";
import { composeRawQuestion, parseRawHeader } from "./raw-question.ts";

/**
 * Asks a server that starts every few milliseconds until it answers rightly: both addresses of `host1`. Earlier answers, such as
 * SERVFAIL while it loads, do not count.
 *
 * @returns whether it did before `signal` was aborted
 */
export function firstAnswer(port: number, signal: AbortSignal): Promise<boolean> {
  const question = composeRawQuestion({ id: 1, name: `host1.${origin}`, type: "A" });
  const address = Buffer.from(addressesOf(1)[0].split(".").map(Number));
  const socket = createSocket("udp4");
  return new Promise((resolve) => {
    const ask = setInterval(() => socket.send(question, port, "127.0.0.1", () => undefined), 2);
    const end = (answered: boolean): void => {
      clearInterval(ask);
      signal.removeEventListener("abort", give);
      socket.close();
      resolve(answered);
    };
    const give = (): void => end(false);
    signal.addEventListener("abort", give, { once: true });
    socket.on("message", (message) => {
      const { rcode, answers } = parseRawHeader(message);
      if (rcode === 0 && answers === 2 && message.includes(address)) end(true);
    });
  });
}
