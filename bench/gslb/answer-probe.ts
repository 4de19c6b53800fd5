import { createSocket, type Socket } from "node:dgram";
import { composeRawQuestion } from "../dns/raw-question.ts";
import { machineMs } from "./cluster-protocol.ts";
import { dnsPort, hostName } from "./fleet-place.ts";

/** An answer that is waited for. */
export interface WantedAnswer {
  /** Of the DNS server. */
  readonly address: string;
  /** Of the application. */
  readonly index: number;
  /** The primary's address: to be answered alone, or to be missing among others. */
  readonly target: string;
  readonly isPrimaryReady: boolean;
}

/** How often and how long it is asked. */
export interface ProbeOptions {
  readonly everyMs: number;
  readonly withinMs: number;
}

interface Asked {
  readonly id: number;
  readonly question: Buffer;
  readonly address: string;
  isAsked: boolean;
}

/** So many are asked at a time, of many that are waited for: a flood would be the servers' only work. */
const askedAtOnce = 40;
const idsMax = 65_536;

/** Asks the DNS servers of a fleet, again and again, until they answer as wanted. */
export class AnswerProbe implements Disposable {
  readonly #socket: Socket = createSocket("udp4");
  readonly #waiting = new Map<number, { readonly wanted: WantedAnswer; readonly seen: () => void }>();
  #id = 0;

  constructor() {
    this.#socket.on("message", (message) => {
      const waited = this.#waiting.get(message.readUInt16BE(0));
      if (waited !== undefined && isAsWanted(message, waited.wanted)) waited.seen();
    });
  }

  /** @returns when each was answered first, in their order; rejects where one never is */
  async until(
    wanted: readonly WantedAnswer[],
    { everyMs, withinMs }: ProbeOptions,
  ): Promise<readonly number[]> {
    const endMs = machineMs() + withinMs;
    const seenMs = new Map<number, number>();
    const open = new Map<number, Asked>();
    const ask = (asked: Asked): void => {
      asked.isAsked = true;
      this.#socket.send(asked.question, dnsPort, asked.address);
    };
    const askNext = (): void => {
      // Those that were asked are the first.
      for (const each of open.values()) if (!each.isAsked) return ask(each);
    };
    for (const [at, each] of wanted.entries()) {
      const id = (this.#id = (this.#id + 1) % idsMax);
      const question = Buffer.from(composeRawQuestion({ id, name: hostName(each.index), type: "A" }));
      open.set(at, { id, question, address: each.address, isAsked: false });
      this.#waiting.set(id, {
        wanted: each,
        seen: () => {
          seenMs.set(at, machineMs());
          open.delete(at);
          this.#waiting.delete(id);
          askNext();
        },
      });
    }
    while (open.size > 0) {
      if (machineMs() > endMs) {
        const [[at] = [0]] = open;
        for (const { id } of open.values()) this.#waiting.delete(id);
        const { index, address, target, isPrimaryReady } = wanted[at]!;
        const what = `${isPrimaryReady ? "with" : "without"} ${target}`;
        throw new Error(
          `${address} did not answer ${hostName(index)} ${what} within ${withinMs} ms, nor did ${open.size - 1} more`,
        );
      }
      for (const each of [...open.values()].slice(0, askedAtOnce)) ask(each);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    return wanted.map((_, at) => seenMs.get(at)!);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

function isAsWanted(message: Buffer, { target, isPrimaryReady }: WantedAnswer): boolean {
  const octets = Buffer.from(target.split(".").map(Number));
  const answers = message.readUInt16BE(6);
  const holdsPrimary = message.indexOf(octets, 12) >= 0;
  return isPrimaryReady ? answers === 1 && holdsPrimary : answers > 0 && !holdsPrimary;
}
