import { ipv4ToText, ipv6ToText, type AnswerDatagram, type Runtime } from "@meridian/runtime";
import { rcodeToText, typeToText } from "../message/codes.ts";
import { nameToAbsoluteText } from "../name/name.ts";
import { QueryLogRing, type QueryNote } from "./query-log-ring.ts";

/** What to log of each question, and how. */
export interface QueryLogOptions {
  /** Takes whole lines. While it is busy, notes wait in a ring of 4,096; what does not fit is lost and counted. */
  readonly write: (lines: string) => Promise<void>;
  /** `json`: one object a line; `text`: time, transport, client, question, response code, flags, octets. Default `json`. */
  readonly format?: "json" | "text";
  /** The share of answers that is logged, above 0 and up to 1: every so-manieth. Default 1. */
  readonly rate?: number;
}

/** Numbers of the log; they only rise. */
export interface QueryLogCounters {
  readonly written: number;
  /** Not written, since the ring was full or writing failed. */
  readonly lost: number;
}

const drainMs = 100;
const linesMax = 1_000;

/**
 * Logs questions and what became of them. Answering never waits for it, and without a log nothing of it runs. Logs no
 * client subnet, cookie, signature or content of an answer.
 */
export class QueryLog implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #options: QueryLogOptions;
  readonly #every: number;
  readonly #rings: QueryLogRing[] = [];
  #written = 0;
  #failed = 0;
  #stop: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #idle = true;

  constructor(runtime: Runtime, options: QueryLogOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#every = Math.max(1, Math.round(1 / (options.rate ?? 1)));
    this.#schedule();
  }

  get counters(): QueryLogCounters {
    const lost = this.#rings.reduce((sum, ring) => sum + ring.lost, this.#failed);
    return { written: this.#written, lost };
  }

  /** A ring of one more thread that answers. It stays with the log, so that a restarted thread goes on with it. */
  addRing(): QueryLogRing {
    const ring = QueryLogRing.create({ every: this.#every });
    this.#rings.push(ring);
    return ring;
  }

  /** Wraps this thread's answering function. */
  noting(answer: AnswerDatagram): AnswerDatagram {
    return this.addRing().noting(answer, { nowMs: () => this.#runtime.clock.now() });
  }

  /** Writes what is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop?.();
    await this.#writing;
    while (await this.#writeOnce());
  }

  #schedule(): void {
    this.#stop = this.#runtime.clock.after(drainMs, () => {
      // One write at a time: a slow sink must not gather them.
      if (this.#idle) this.#writing = this.#writeAll();
      this.#schedule();
    });
  }

  async #writeAll(): Promise<void> {
    this.#idle = false;
    while (await this.#writeOnce());
    this.#idle = true;
  }

  /** Writes up to `linesMax` lines; false when there was less. */
  async #writeOnce(): Promise<boolean> {
    const lines: string[] = [];
    for (const ring of this.#rings) {
      while (lines.length < linesMax) {
        const note = ring.take();
        if (note === undefined) break;
        lines.push(this.#options.format === "text" ? noteToText(note) : noteToJson(note));
      }
    }
    if (lines.length === 0) return false;
    try {
      await this.#options.write(`${lines.join("\n")}\n`);
      this.#written += lines.length;
    } catch (error) {
      this.#failed += lines.length;
      this.#runtime.log.warn("writing the query log failed", { error, lines: lines.length });
      return false;
    }
    return lines.length >= linesMax;
  }
}

interface NoteFields {
  readonly time: string;
  readonly client: string;
  readonly name: string;
  readonly type: string;
  readonly class: string;
  readonly outcome: string;
  readonly flags: readonly string[];
}

const classNames = new Map([
  [1, "IN"],
  [3, "CH"],
  [4, "HS"],
  [254, "NONE"],
  [255, "ANY"],
]);
const opcodeNames = ["QUERY", "IQUERY", "STATUS", "OPCODE3", "NOTIFY", "UPDATE"];

function noteToJson(note: QueryNote): string {
  const { time, client, name, type, class: className, outcome, flags } = fieldsOf(note);
  return JSON.stringify({
    time,
    transport: note.transport,
    client,
    port: note.port,
    opcode: opcodeOf(note),
    name,
    type,
    class: className,
    rcode: outcome,
    flags,
    octets: Math.max(0, note.answerOctets),
  });
}

function noteToText(note: QueryNote): string {
  const fields = fieldsOf(note);
  const who = `${note.transport} ${fields.client}#${note.port} ${opcodeOf(note)}`;
  const what = `${fields.name} ${fields.class} ${fields.type}`;
  return `${fields.time} ${who} ${what} ${fields.outcome} ${fields.flags.join(",") || "-"} ${Math.max(0, note.answerOctets)}`;
}

function opcodeOf({ asked }: QueryNote): string {
  const opcode = (asked[2]! >>> 3) & 15;
  return opcodeNames[opcode] ?? `OPCODE${opcode}`;
}

function fieldsOf(note: QueryNote): NoteFields {
  const { flags, rcode, answerOctets, client } = note;
  const asked = questionOf(note.question);
  return {
    time: new Date(note.timeMs).toISOString(),
    client: client.length === 4 ? ipv4ToText(client) : ipv6ToText(client),
    ...asked,
    outcome: answerOctets > 0 ? rcodeToText(rcode) : answerOctets === 0 ? "SILENCE" : "DEFERRED",
    flags: [
      ...((flags & 0x0400) === 0 ? [] : ["aa"]),
      ...((flags & 0x0200) === 0 ? [] : ["tc"]),
      ...((note.asked[2]! & 1) === 0 ? [] : ["rd"]),
    ],
  };
}

function questionOf(question: Uint8Array): { name: string; type: string; class: string } {
  const nameEnd = question.length - 4;
  if (nameEnd < 1) return { name: "-", type: "-", class: "-" };
  const classNumber = (question[nameEnd + 2]! << 8) | question[nameEnd + 3]!;
  return {
    name: nameToAbsoluteText(question.subarray(0, nameEnd)),
    type: typeToText((question[nameEnd]! << 8) | question[nameEnd + 1]!),
    class: classNames.get(classNumber) ?? `CLASS${classNumber}`,
  };
}
