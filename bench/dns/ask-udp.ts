import { createSocket } from "node:dgram";
import { composeRawQuestion, parseRawHeader } from "./raw-question.ts";
import type { RawHeader, RawQuestion } from "./raw-question.ts";

/** Asks a server on loopback once over UDP; `undefined` where no answer came within `timeoutMs`. */
export async function askUdp(
  port: number,
  question: Omit<RawQuestion, "id">,
  timeoutMs: number,
): Promise<{ readonly header: RawHeader; readonly message: Buffer } | undefined> {
  const socket = createSocket("udp4");
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutMs);
      socket.on("error", () => resolve(undefined));
      socket.on("message", (message) => resolve({ header: parseRawHeader(message), message }));
      socket.send(composeRawQuestion({ ...question, id: 1 }), port, "127.0.0.1");
    });
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
