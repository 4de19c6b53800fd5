import type { Endpoint, Runtime } from "@meridian/runtime";
import { rcodeToText } from "../message/codes.ts";
import { composeMessage } from "../message/message.ts";
import { foldNameText, nameFromText } from "../name/name.ts";
import type { TsigKey } from "../tsig/tsig-key.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";
import type { ClientParts } from "./client-parts.ts";
import { exchange } from "./exchange.ts";
import { QuestionAsking, type DnsQuestion } from "./question-asking.ts";
import { ServerMemory } from "./server-memory.ts";
import { StreamExchanges } from "./stream-exchanges.ts";
import { UdpExchanges } from "./udp-exchanges.ts";
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

/** Which zone has changed, and whom to tell (RFC 1996). */
export interface NotifyOptions {
  readonly zone: string;
  /** Put into the answer section as a hint (RFC 1996 §3.7): whose view it is and which serial it has. */
  readonly soa?: ZoneSoa;
  readonly servers: readonly Endpoint[];
  /** Signs it; then only a signed reply counts. */
  readonly key?: TsigKey;
  readonly signal?: AbortSignal;
}

/** What became of telling one server. */
export interface NotifyResult {
  readonly server: Endpoint;
  /** Whether the server replied at all; `rcode` tells what. */
  readonly acknowledged: boolean;
  readonly rcode?: string;
}

const cnameStepsMax = 8;
const notifyWaitsMs = [1_000, 2_000, 4_000, 8_000, 15_000, 1_000];

/**
 * Asks name servers. Many questions share few sockets and connections; ids and ports are random, cookies are used from the
 * first question on, and what was not asked for is ignored.
 */
export class DnsClient implements AsyncDisposable {
  /** For what else this package sends. */
  readonly parts: ClientParts;

  constructor(runtime: Runtime, options: DnsClientOptions = {}) {
    const { from, socketsMax = 4, randomCase = false } = options;
    this.parts = {
      runtime,
      randomCase,
      udp: new UdpExchanges(runtime, { from, socketsMax }),
      streams: new StreamExchanges(runtime, { from }),
      memory: new ServerMemory(runtime),
    };
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
    const deadline = this.parts.runtime.clock.monotonicMs() + question.deadlineMs;
    let name = question.name;
    const collected: Answered[] = [];
    const seen = new Set([foldNameText(name)]);
    for (let step = 0; step < cnameStepsMax; step++) {
      const result = await new QuestionAsking(this.parts, { ...question, name }, deadline).run();
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
    await Promise.all([this.parts.udp[Symbol.asyncDispose](), this.parts.streams[Symbol.asyncDispose]()]);
  }

  async #notifyOne(server: Endpoint, { zone, soa, key, signal }: NotifyOptions): Promise<NotifyResult> {
    const { message, questionLength } = composeNotify(zone, soa);
    const result = await exchange(this.parts, message, {
      server,
      key,
      questionLength,
      waitsMs: notifyWaitsMs,
      streamMs: 0,
      signal,
    });
    if (result.kind !== "replied") return { server, acknowledged: false };
    return { server, acknowledged: true, rcode: rcodeToText(result.message[3]! & 15) };
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
