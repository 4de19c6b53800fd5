import type { Endpoint, Runtime } from "@meridian/runtime";
import { rcodeToText } from "../message/codes.ts";
import { headerOctets } from "../message/header.ts";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import { foldNameText, nameFromText } from "../name/name.ts";
import type { ZoneSoa } from "../zone/zone.ts";
import { Inbox } from "./inbox.ts";
import { judgeReply } from "./reply.ts";
import { askOverTcp } from "./tcp-exchange.ts";
import { endpointKey, UdpExchanges } from "./udp-exchanges.ts";
import type { Answered, Verdict } from "./verdict.ts";

/** How questions leave. */
export interface DnsClientOptions {
  /** The own address that questions leave from; any when absent. */
  readonly from?: string;
  /** How many UDP sockets (so ports) the questions are spread over. Default 4. */
  readonly socketsMax?: number;
  /** Randomises the case of the question and expects it back. Default false: not every old server keeps it. */
  readonly randomCase?: boolean;
}

/** One question, whom to ask, and for how long. */
export interface DnsQuestion {
  readonly name: string;
  /** A mnemonic or `TYPE666`. */
  readonly type: string;
  /** Asked in this order, starting again while time remains. */
  readonly servers: readonly Endpoint[];
  /** For the whole question, retries and TCP included. */
  readonly deadlineMs: number;
  /** Sets RD. Default false. */
  readonly recursionDesired?: boolean;
  readonly signal?: AbortSignal;
}

/** Which zone has changed, and whom to tell (RFC 1996). */
export interface NotifyOptions {
  readonly zone: string;
  /** Put into the answer section as a hint (RFC 1996 §3.7): whose view it is and which serial it has. */
  readonly soa?: ZoneSoa;
  readonly servers: readonly Endpoint[];
  readonly signal?: AbortSignal;
}

/** What became of telling one server. */
export interface NotifyResult {
  readonly server: Endpoint;
  /** Whether the server replied at all; `rcode` tells what. */
  readonly acknowledged: boolean;
  readonly rcode?: string;
}

interface Reply {
  readonly server: Endpoint;
  readonly message: Message;
  readonly withEdns: boolean;
}

/** A question on its way. */
interface Asking {
  readonly question: DnsQuestion;
  readonly deadline: number;
  readonly inbox: Inbox<Reply>;
  readonly cancels: (() => void)[];
}

const payloadSize = 1232;
const firstTryMs = 400;
const shortestTryMs = 20;
const cnameStepsMax = 8;
/** How long a server that does not know EDNS is asked without it, and how many of them are remembered. */
const plainServerMs = 15 * 60_000;
const plainServersMax = 1_000;
const notifyWaitsMs = [1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * Asks name servers. Many questions share few sockets; ids and ports are random, and what was not asked for is ignored.
 */
export class DnsClient implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #from: string | undefined;
  readonly #randomCase: boolean;
  readonly #exchanges: UdpExchanges;
  /** Until when a server is asked without EDNS. */
  readonly #plainUntil = new Map<string, number>();

  constructor(runtime: Runtime, options: DnsClientOptions = {}) {
    this.#runtime = runtime;
    this.#from = options.from;
    this.#randomCase = options.randomCase ?? false;
    this.#exchanges = new UdpExchanges(runtime, { from: options.from, socketsMax: options.socketsMax ?? 4 });
  }

  /**
   * Asks one question.
   *
   * A server that does not reply in time is asked again after the others, and a late reply still counts. One that will
   * not answer is not asked again. CNAMEs that lead out of a reply are followed at the same servers.
   *
   * Never rejects but with `signal.reason`.
   *
   * @throws DnsError `BadName` or `BadRecord` for a question that cannot be written
   */
  async query(question: DnsQuestion): Promise<Verdict> {
    const deadline = this.#runtime.clock.monotonicMs() + question.deadlineMs;
    let name = question.name;
    const collected: Answered[] = [];
    const seen = new Set([foldNameText(name)]);
    for (let step = 0; step < cnameStepsMax; step++) {
      const result = await this.#askOne({ ...question, name }, deadline);
      if (result.state !== "answered") return result;
      collected.push(result);
      if (result.next === undefined || seen.has(result.next)) break;
      seen.add(result.next);
      name = result.next;
    }
    const { next: _next, ...last } = collected.at(-1)! as Answered & { next?: string };
    return { ...last, records: collected.flatMap((answered) => answered.records) };
  }

  /**
   * Tells each server, all at once, that the zone has changed (RFC 1996), and again after 1, 2, 4, 8 and 15 s until it
   * replies with whatever rcode. Rejects with `signal.reason` when aborted.
   */
  async notify(options: NotifyOptions): Promise<readonly NotifyResult[]> {
    options.signal?.throwIfAborted();
    return Promise.all(options.servers.map((server) => this.#notifyOne(server, options)));
  }

  /** Closes the sockets. Questions on their way end as unreachable at their deadline. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#exchanges[Symbol.asyncDispose]();
  }

  async #askOne(question: DnsQuestion, deadline: number): Promise<Verdict & { readonly next?: string }> {
    const { servers, signal } = question;
    const { clock } = this.#runtime;
    const asking: Asking = { question, deadline, inbox: new Inbox(clock), cancels: [] };
    const left = new Map(servers.map((server) => [endpointKey(server), server]));
    let refused: Verdict | undefined;
    let reason = servers.length === 0 ? "no server to ask" : "";
    let tryMs = Math.min(firstTryMs, Math.max(shortestTryMs, question.deadlineMs / (2 * servers.length + 2)));
    try {
      for (; left.size > 0 && clock.monotonicMs() < deadline; tryMs *= 2) {
        for (const server of [...left.values()]) {
          if (!left.has(endpointKey(server)) || clock.monotonicMs() >= deadline) continue;
          reason = await this.#send(server, asking, this.#usesEdns(server));
          const tryEnd = Math.min(deadline, clock.monotonicMs() + tryMs);
          // Replies of servers asked earlier count, too; only this one's refusal ends its turn.
          while (left.has(endpointKey(server))) {
            const reply = await asking.inbox.next(tryEnd - clock.monotonicMs(), signal);
            if (reply === undefined) break;
            const result = await this.#judge(reply, asking);
            if (result === "resent") continue;
            if (result !== "unusable" && result.state === "answered") return result;
            left.delete(endpointKey(reply.server));
            if (result === "unusable") reason = "the reply was truncated, and none came over TCP";
            else refused = result;
          }
        }
      }
    } finally {
      for (const cancel of asking.cancels) cancel();
    }
    signal?.throwIfAborted();
    return refused ?? { state: "unreachable", reason: reason === "" ? "no reply in time" : reason };
  }

  /** Sends the question to one server; what prevented it, or the empty text. */
  async #send(server: Endpoint, asking: Asking, withEdns: boolean): Promise<string> {
    const { message, questionLength } = this.#compose(asking.question, withEdns);
    try {
      const cancel = await this.#exchanges.send(message, server, {
        questionLength,
        exactCase: this.#randomCase,
        onReply: (octets) => {
          const parsed = tryParse(octets);
          if (parsed !== undefined) asking.inbox.push({ server, message: parsed, withEdns });
        },
      });
      asking.cancels.push(cancel);
      return "";
    } catch (error) {
      return `cannot send: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async #judge(
    reply: Reply,
    asking: Asking,
  ): Promise<(Verdict & { readonly next?: string }) | "resent" | "unusable"> {
    const { server, message, withEdns } = reply;
    const rcode = rcodeToText(message.rcode);
    if (withEdns && message.edns === undefined && (rcode === "FORMERR" || rcode === "NOTIMP")) {
      // A server from before EDNS (RFC 6891 §7). Silence is no such sign.
      this.#rememberPlain(server);
      return (await this.#send(server, asking, false)) === "" ? "resent" : "unusable";
    }
    const whole = message.truncated ? await this.#askOverTcp(server, asking, withEdns) : message;
    if (whole === undefined || whole.truncated) return "unusable";
    const meaning = judgeReply(whole, asking.question, server);
    return meaning.kind === "follow" ? { ...meaning.verdict, next: meaning.name } : meaning.verdict;
  }

  async #askOverTcp(server: Endpoint, asking: Asking, withEdns: boolean): Promise<Message | undefined> {
    const { message, questionLength } = this.#compose(asking.question, withEdns);
    const id = this.#runtime.random.uint32() & 0xffff;
    message[0] = id >>> 8;
    message[1] = id;
    const octets = await askOverTcp(this.#runtime, message, {
      server,
      from: this.#from,
      questionLength,
      timeoutMs: this.#tcpTimeoutMs(asking),
      signal: asking.question.signal,
    });
    return octets === undefined ? undefined : tryParse(octets);
  }

  /** All that is left, or half of it where another server may still be asked. */
  #tcpTimeoutMs({ question, deadline }: Asking): number {
    const leftMs = Math.max(0, deadline - this.#runtime.clock.monotonicMs());
    return question.servers.length > 1 ? leftMs / 2 : leftMs;
  }

  #compose(question: DnsQuestion, withEdns: boolean): { message: Uint8Array; questionLength: number } {
    const message = composeMessage({
      recursionDesired: question.recursionDesired ?? false,
      questions: [{ name: question.name, type: question.type, class: 1 }],
      ...(withEdns ? { edns: { payloadSize, version: 0, dnssecOk: false, options: [] } } : {}),
    });
    const nameLength = nameFromText(question.name).length;
    if (this.#randomCase) this.#mixCase(message.subarray(headerOctets, headerOctets + nameLength));
    return { message, questionLength: nameLength + 4 };
  }

  /** Flips letters at random, so that a forger has to guess them, too. */
  #mixCase(name: Uint8Array): void {
    const coins = this.#runtime.random.bytes(name.length);
    for (let index = 0; index < name.length; index++) {
      const letter = name[index]! | 0x20;
      // Length octets are below `A`; what looks like a letter is one.
      if (name[index]! >= 0x41 && letter >= 0x61 && letter <= 0x7a && (coins[index]! & 1) === 1)
        name[index]! ^= 0x20;
    }
  }

  async #notifyOne(server: Endpoint, { zone, soa, signal }: NotifyOptions): Promise<NotifyResult> {
    const { message, questionLength } = composeNotify(zone, soa);
    const inbox = new Inbox<string>(this.#runtime.clock);
    const cancels: (() => void)[] = [];
    const onReply = (octets: Uint8Array): void => inbox.push(rcodeToText(octets[3]! & 15));
    try {
      for (const waitMs of [...notifyWaitsMs, notifyWaitsMs[0]!]) {
        signal?.throwIfAborted();
        // A socket that cannot be had now may be had at the next try.
        const sent = this.#exchanges.send(message, server, { questionLength, onReply });
        cancels.push(await sent.catch(() => () => {}));
        const rcode = await inbox.next(waitMs, signal);
        if (rcode !== undefined) return { server, acknowledged: true, rcode };
      }
      return { server, acknowledged: false };
    } finally {
      for (const cancel of cancels) cancel();
    }
  }

  #usesEdns(server: Endpoint): boolean {
    const until = this.#plainUntil.get(endpointKey(server));
    return until === undefined || until < this.#runtime.clock.monotonicMs();
  }

  #rememberPlain(server: Endpoint): void {
    if (this.#plainUntil.size >= plainServersMax) this.#plainUntil.clear();
    this.#plainUntil.set(endpointKey(server), this.#runtime.clock.monotonicMs() + plainServerMs);
  }
}

function composeNotify(
  zone: string,
  soa: ZoneSoa | undefined,
): { message: Uint8Array; questionLength: number } {
  const answers =
    soa === undefined ? [] : [{ name: zone, type: "SOA", class: 1, ttl: soa.ttl, data: soaData(soa) }];
  const message = composeMessage({
    opcode: 4,
    authoritative: true,
    questions: [{ name: zone, type: "SOA", class: 1 }],
    answers,
  });
  return { message, questionLength: nameFromText(zone).length + 4 };
}

function soaData({ mname, rname, serial, refresh, retry, expire, minimum }: ZoneSoa): string {
  return `${mname} ${rname} ${serial} ${refresh} ${retry} ${expire} ${minimum}`;
}

function tryParse(octets: Uint8Array): Message | undefined {
  try {
    return parseMessage(octets);
  } catch {
    return undefined;
  }
}
