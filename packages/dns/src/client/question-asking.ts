import { ipv4FromText, ipv6FromText, type Endpoint } from "@meridian/runtime";
import { rcodeToText } from "../message/codes.ts";
import { headerOctets } from "../message/header.ts";
import { composeMessage, parseMessage, type Edns, type Message } from "../message/message.ts";
import { nameFromText } from "../name/name.ts";
import type { TsigKey } from "../tsig/tsig-key.ts";
import type { ClientParts } from "./client-parts.ts";
import { Inbox } from "./inbox.ts";
import { judgeReply } from "./reply.ts";
import { sealerFor, unprovedText, type SealedReply, type Sealer } from "./sealing.ts";
import { cookieOption } from "./server-memory.ts";
import type { DnsTlsOptions } from "./stream-exchanges.ts";
import { endpointKey } from "./udp-exchanges.ts";
import type { Verdict } from "./verdict.ts";

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
  /** The address of whom it is asked for, told as a whole (RFC 7871): servers that go by places answer for there. */
  readonly clientAddress?: string;
  /** Signs the question (RFC 8945); then only signed replies are believed. */
  readonly key?: TsigKey;
  /** `udp` goes over to TCP for what does not fit; `tls` is DNS over TLS (RFC 7858). Default `udp`. */
  readonly transport?: "udp" | "tcp" | "tls";
  /** For `tls`: whom the server must prove to be. */
  readonly tls?: DnsTlsOptions;
  readonly signal?: AbortSignal;
}

/** A verdict, and the name to ask for next where CNAMEs led out of the reply. */
export type AskedVerdict = Verdict & { readonly next?: string };

interface Reply {
  readonly server: Endpoint;
  readonly withEdns: boolean;
  readonly sealed: SealedReply;
}

/** `ignored`: not for us, wait on. `resent`: asked anew, wait on. `unusable`: this server is of no use. */
type Judged = AskedVerdict | "ignored" | "resent" | "unusable";

const payloadSize = 1232;
/** Encrypted questions have a multiple of this many octets, so that their length tells little (RFC 8467 §4.1). */
const paddingOctets = 128;
const paddingOption = 12;
const clientSubnetOption = 8;
const optionHeadOctets = 4;
const firstTryMs = 400;
const shortestTryMs = 20;

/** One question on its way to its servers. */
export class QuestionAsking {
  readonly #parts: ClientParts;
  readonly #question: DnsQuestion;
  readonly #deadline: number;
  readonly #inbox: Inbox<Reply>;
  readonly #cancels: (() => void)[] = [];
  /** Servers whose time or cookie was taken and that were asked anew for it. */
  readonly #resynced = new Set<string>();
  #isUnproved = false;
  #reason: string;

  constructor(parts: ClientParts, question: DnsQuestion, deadline: number) {
    this.#parts = parts;
    this.#question = question;
    this.#deadline = deadline;
    this.#inbox = new Inbox(parts.runtime.clock);
    this.#reason = question.servers.length === 0 ? "no server to ask" : "no reply in time";
  }

  /** Rejects only with the reason of the question's signal. */
  async run(): Promise<AskedVerdict> {
    const { servers, signal, deadlineMs } = this.#question;
    const left = new Map(servers.map((server) => [endpointKey(server), server]));
    let refused: Verdict | undefined;
    let tryMs = Math.min(firstTryMs, Math.max(shortestTryMs, deadlineMs / (2 * servers.length + 2)));
    try {
      for (; left.size > 0 && this.#leftMs() > 0; tryMs *= 2) {
        for (const server of [...left.values()]) {
          if (!left.has(endpointKey(server)) || this.#leftMs() <= 0) continue;
          await this.#ask(server);
          let tryEnd = this.#endOf(tryMs);
          // Replies of servers asked earlier count, too; only this one's refusal ends its turn.
          while (left.has(endpointKey(server))) {
            const reply = await this.#inbox.next(tryEnd - this.#now(), signal);
            if (reply === undefined) break;
            const result = await this.#judge(reply);
            if (result === "ignored") continue;
            if (result === "resent") {
              tryEnd = this.#endOf(tryMs);
              continue;
            }
            if (result !== "unusable" && result.state === "answered") return result;
            left.delete(endpointKey(reply.server));
            if (result !== "unusable") refused = result;
          }
        }
      }
    } finally {
      for (const cancel of this.#cancels) cancel();
    }
    signal?.throwIfAborted();
    const unproved = this.#isUnproved ? { unproved: true } : {};
    return refused ?? { state: "unreachable", reason: this.#reason, ...unproved };
  }

  async #ask(server: Endpoint): Promise<void> {
    if ((this.#question.transport ?? "udp") === "udp") {
      await this.#send(server, this.#parts.memory.usesEdns(server));
      return;
    }
    const reply = await this.#askOverStream(server);
    if (reply !== undefined) this.#inbox.push(reply);
  }

  /** Sends the question in a datagram; false when that cannot be. */
  async #send(server: Endpoint, withEdns: boolean): Promise<boolean> {
    const { message, questionLength } = this.#compose(server, withEdns);
    try {
      const cancel = await this.#parts.udp.send(message, server, {
        questionLength,
        exactCase: this.#parts.randomCase,
        seal: this.#sealer(server),
        onReply: (sealed) => this.#inbox.push({ server, withEdns, sealed }),
      });
      this.#cancels.push(cancel);
      return true;
    } catch (error) {
      this.#reason = `cannot send: ${error instanceof Error ? error.message : String(error)}`;
      return false;
    }
  }

  async #askOverStream(server: Endpoint): Promise<Reply | undefined> {
    const { transport, tls = {}, signal, servers } = this.#question;
    const withEdns = this.#parts.memory.usesEdns(server);
    const { message, questionLength } = this.#compose(server, withEdns);
    const leftMs = this.#leftMs();
    const sealed = await this.#parts.streams.ask(message, {
      server,
      tls: transport === "tls" ? tls : undefined,
      questionLength,
      seal: this.#sealer(server),
      // Half of it where another server may still be asked.
      timeoutMs: servers.length > 1 ? leftMs / 2 : leftMs,
      signal,
    });
    return sealed === undefined ? undefined : { server, withEdns, sealed };
  }

  async #judge(reply: Reply): Promise<Judged> {
    const message = this.#read(reply);
    if (typeof message === "string") return message === "clock" ? this.#resend(reply) : "ignored";
    const { server, withEdns } = reply;
    if (this.#lacksCookie(reply, message)) {
      // TCP shows who is there; a server that has changed its ways for good is believed without from then on.
      this.#parts.memory.forgetCookie(server);
      return this.#fetchWhole(server, "the reply lacked the server's cookie");
    }
    const rcode = rcodeToText(message.rcode);
    if (rcode === "BADCOOKIE" && withEdns) {
      // RFC 7873 §5.3: once more with the cookie that came along, and then over TCP.
      return this.#resynced.has(endpointKey(server)) ? this.#fetchWhole(server) : this.#resend(reply);
    }
    if (withEdns && message.edns === undefined && (rcode === "FORMERR" || rcode === "NOTIMP")) {
      // A server from before EDNS (RFC 6891 §7). Silence is no such sign.
      this.#parts.memory.rememberPlain(server);
      return (await this.#send(server, false)) ? "resent" : "unusable";
    }
    return message.truncated ? this.#fetchWhole(server) : this.#conclude(message, server);
  }

  /** RFC 7873 §5.3: a reply over UDP is not believed without a cookie where the server gave one before. */
  #lacksCookie({ server, withEdns }: Reply, message: Message): boolean {
    if ((this.#question.transport ?? "udp") !== "udp" || !withEdns || this.#question.key !== undefined)
      return false;
    return cookieOf(message) === undefined && this.#parts.memory.givesCookies(server);
  }

  /** What a reply says, or why it says nothing: `clock` when it told the server's time. */
  #read({ server, withEdns, sealed }: Reply): Message | "clock" | "nothing" {
    switch (sealed.kind) {
      case "unproved":
        this.#isUnproved = true;
        this.#reason = unprovedText(sealed);
        return "nothing";
      case "badTime":
        this.#parts.memory.takeTime(server, sealed.serverSeconds);
        this.#reason = "the server's clock and ours differ";
        return "clock";
      case "verified": {
        const message = tryParse(sealed.message);
        const cookie = message === undefined ? undefined : cookieOf(message);
        const foreign =
          withEdns && cookie !== undefined && !this.#parts.memory.takeCookie(server, cookie.octets);
        return message === undefined || foreign ? "nothing" : message;
      }
    }
  }

  /** Asks the same server anew, now that its time or its cookie is known; once. */
  async #resend({ server, withEdns }: Reply): Promise<Judged> {
    if (this.#resynced.has(endpointKey(server))) return "unusable";
    this.#resynced.add(endpointKey(server));
    if ((this.#question.transport ?? "udp") !== "udp") return this.#fetchWhole(server);
    return (await this.#send(server, withEdns)) ? "resent" : "unusable";
  }

  /** Asks over TCP, where nothing is cut; what came in a cut reply is not used. */
  async #fetchWhole(server: Endpoint, why = "the reply was truncated"): Promise<Judged> {
    const reply = await this.#askOverStream(server);
    const message = reply === undefined ? undefined : this.#read(reply);
    if (message === undefined || typeof message === "string" || message.truncated) {
      if (message !== "nothing") this.#reason = `${why}, and none came over TCP`;
      return "unusable";
    }
    return this.#conclude(message, server);
  }

  #conclude(message: Message, server: Endpoint): AskedVerdict {
    const meaning = judgeReply(message, this.#question, server);
    return meaning.kind === "follow" ? { ...meaning.verdict, next: meaning.name } : meaning.verdict;
  }

  #compose(server: Endpoint, withEdns: boolean): { message: Uint8Array; questionLength: number } {
    const { name, type, transport, recursionDesired = false } = this.#question;
    const options = [
      { code: cookieOption, octets: this.#parts.memory.cookie(server) },
      ...clientSubnet(this.#question.clientAddress),
    ];
    const compose = (): Uint8Array =>
      composeMessage({
        recursionDesired,
        questions: [{ name, type, class: 1 }],
        ...(withEdns ? { edns: { payloadSize, version: 0, dnssecOk: false, options } } : {}),
      });
    let message = compose();
    if (withEdns && transport === "tls") {
      const over = (message.length + optionHeadOctets) % paddingOctets;
      options.push({ code: paddingOption, octets: new Uint8Array(over === 0 ? 0 : paddingOctets - over) });
      message = compose();
    }
    const nameLength = nameFromText(name).length;
    if (this.#parts.randomCase) this.#mixCase(message.subarray(headerOctets, headerOctets + nameLength));
    return { message, questionLength: nameLength + 4 };
  }

  /** Flips letters at random, so that a forger has to guess them, too. */
  #mixCase(name: Uint8Array): void {
    const coins = this.#parts.runtime.random.bytes(name.length);
    for (let index = 0; index < name.length; index++) {
      const letter = name[index]! | 0x20;
      // Length octets are below `A`; what looks like a letter is one.
      if (name[index]! >= 0x41 && letter >= 0x61 && letter <= 0x7a && (coins[index]! & 1) === 1)
        name[index]! ^= 0x20;
    }
  }

  #sealer(server: Endpoint): Sealer {
    return sealerFor({
      key: this.#question.key,
      clock: this.#parts.runtime.clock,
      offsetSeconds: this.#parts.memory.offsetSeconds(server),
    });
  }

  #now(): number {
    return this.#parts.runtime.clock.monotonicMs();
  }

  #leftMs(): number {
    return this.#deadline - this.#now();
  }

  #endOf(tryMs: number): number {
    return Math.min(this.#deadline, this.#now() + tryMs);
  }
}

/** The whole address as the option of RFC 7871 §6; none where it is no address. */
function clientSubnet(address = ""): Edns["options"] {
  const octets = ipv4FromText(address) ?? ipv6FromText(address);
  if (octets === undefined) return [];
  const family = octets.length === 4 ? 1 : 2;
  return [{ code: clientSubnetOption, octets: Uint8Array.of(0, family, 8 * octets.length, 0, ...octets) }];
}

function cookieOf(message: Message): Edns["options"][number] | undefined {
  return message.edns?.options.find(({ code }) => code === cookieOption);
}

function tryParse(octets: Uint8Array): Message | undefined {
  try {
    return parseMessage(octets);
  } catch {
    return undefined;
  }
}
