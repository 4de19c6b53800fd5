import type { AnswerDatagram, Clock, LogFields, Logger } from "@meridian/runtime";
import { headerOctets, opcode, rcode } from "../message/header.ts";
import { OctetReader } from "../message/octets.ts";
import { typeAxfr, typeIxfr } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import { foldName, nameToText } from "../name/name.ts";
import type { CookieSecrets } from "./cookie-secrets.ts";
import type { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { verifyRequest } from "../tsig/verify-request.ts";
import type { DnsRequest, RequestHandler, RequestPipeline, VerifiedRequest } from "./dns-request.ts";
import { extendedError } from "./opt-record.ts";
import { responseClass, type LimitedClient, type RateLimit } from "./rate-limit.ts";
import { RefusalLog, type Refusal } from "./refusal-log.ts";
import {
  addCookie,
  composeEmptyAnswer,
  datagramOctetsMax,
  readRequestHead,
  truncateAnswer,
  type RequestHead,
} from "./request-head.ts";
import { cookieOctets, ServerCookie } from "./server-cookie.ts";

/** Who answers which kind of request, and whose signatures count. */
export interface RequestPipelineOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly keyring: TsigKeyring;
  /** Answers signed questions and NOTIFY; an `Authority` is one. */
  readonly authority: {
    readonly answerExempt: AnswerDatagram;
    signedBy: string | undefined;
    /** Make the cookies of answers that are not its own (RFC 9018); absent: those have none. */
    readonly cookieSecrets?: CookieSecrets;
  };
  /** Answers UPDATE (RFC 2136); absent: REFUSED. */
  readonly update?: RequestHandler;
  /** Answers AXFR and IXFR; absent: REFUSED. */
  readonly transfer?: RequestHandler;
  /** Limits what nobody signed, over UDP: the authority's own. */
  readonly rateLimit?: RateLimit;
}

/** Why a kind of request is not taken. */
const extendedErrors = new Map<number, number>([
  [rcode.notImp, extendedError.notSupported],
  [rcode.refused, extendedError.prohibited],
]);
const messageOctetsMax = 65_535;

/**
 * The one way of all messages that need more than a lookup, the same for every transport: header, signature, then whoever
 * answers that kind, then the signature of the answer. No answer is ever larger with its signature than its client takes.
 */
export function createRequestPipeline(options: RequestPipelineOptions): RequestPipeline {
  const { clock } = options;
  const secrets = options.authority.cookieSecrets;
  const cookies = secrets === undefined ? undefined : new ServerCookie({ secrets, clock });
  // Apart, so that nobody without a key can crowd out what is told of those who have one.
  const refusals = { ofStrangers: new RefusalLog(options), ofKeyHolders: new RefusalLog(options) };
  const parts = { ...options, cookies, refusals };
  return { handle: (request) => answerRequest(request, parts) };
}

interface PipelineParts extends RequestPipelineOptions {
  readonly cookies: ServerCookie | undefined;
  readonly refusals: { readonly ofStrangers: RefusalLog; readonly ofKeyHolders: RefusalLog };
}

async function* answerRequest(
  request: DnsRequest,
  options: PipelineParts,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { message, client } = request;
  const head = readRequestHead(message);
  const limit = client.transport === "udp" ? datagramOctetsMax(head) : messageOctetsMax;
  const verdict = head.malformed ? ({ kind: "malformed" } as const) : verifyRequest(message, options);
  switch (verdict.kind) {
    case "malformed":
      yield* limited([composeEmptyAnswer(head, { rcode: rcode.formErr })], { request, head, options });
      return;
    case "failed": {
      const { error: reason, key } = verdict;
      noteRefusal({ what: "signature", reason, key }, { request, head, options });
      const answer = verdict.seal(composeEmptyAnswer(head, { rcode: rcode.notAuth }));
      yield* limited([answer], { request, head, options });
      return;
    }
    case "unsigned": {
      const onRefused = (reason: string, details?: LogFields): void =>
        noteRefusal({ what: kindOf(head), reason, key: undefined, details }, { request, head, options });
      const plain = { ...request, key: undefined, octetsMax: limit, onRefused };
      yield* limited(dispatch(plain, { head, options }), { request, head, options });
      return;
    }
    case "verified": {
      const { signer, key, signature, message: stripped } = verdict;
      const octetsMax = limit - signer.octets;
      const onRefused = (reason: string, details?: LogFields): void =>
        noteRefusal({ what: kindOf(head), reason, key, details }, { request, head, options });
      const plain = { ...request, message: stripped, key, signature, octetsMax, onRefused };
      for await (const answer of dispatch(plain, { head, options })) {
        // A client that takes 512 octets and signs with a long name may have no room for even the question.
        const fits = answer.length <= octetsMax || client.transport !== "udp";
        const whole = fits ? answer : truncateAnswer(answer, head);
        yield signer.sign(withCookie(whole, octetsMax, { request, head, options }));
      }
    }
  }
}

interface Context {
  readonly head: RequestHead;
  readonly options: PipelineParts;
}

/** For the log. Only a right MAC proves that somebody holds a key. */
function noteRefusal(
  { what, reason, key, details }: Omit<Refusal, "client" | "zone">,
  { request, head, options }: Context & { readonly request: DnsRequest },
): void {
  const { refusals, keyring } = options;
  const isKeyHolder = key !== undefined && reason !== "BADKEY" && reason !== "BADSIG";
  const { message, client } = request;
  const hasName = head.question.length > 0;
  const zone = hasName ? nameToText(foldName(readName(new OctetReader(message, headerOctets)))) : "";
  const refusal = { what, reason, client: client.address, key, zone, details };
  const knownKey = key !== undefined && keyring.get(key) !== undefined;
  (isKeyHolder ? refusals.ofKeyHolders : refusals.ofStrangers).note(refusal, knownKey);
}

function kindOf(head: RequestHead): "transfer" | "update" {
  return head.opcode === opcode.update ? "update" : "transfer";
}

/** The authority gives a cookie in its own answers, and this in those that have nothing but an rcode (RFC 7873 §5.2). */
function withCookie(
  answer: Uint8Array,
  octetsMax: number,
  { request, head, options: { cookies } }: Context & { readonly request: DnsRequest },
): Uint8Array {
  const input = head.edns?.cookie;
  if (input === undefined || cookies === undefined || (head.edns?.version ?? 0) > 0) return answer;
  const cookie = new Uint8Array(cookieOctets);
  cookies.reset();
  cookies.write(cookie, 0, { input, at: 0, client: request.client });
  return addCookie(answer, cookie, octetsMax);
}

/** Nobody proved who sent the request, and over UDP nobody proved whence: its answers count against the rate limit. */
async function* limited(
  answers: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { request, head, options }: Context & { readonly request: DnsRequest },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { client } = request;
  if (client.transport === "udp" && options.rateLimit !== undefined) {
    const verdict = checkLimit(options.rateLimit, client, options.clock);
    if (verdict === "drop") return;
    if (verdict === "slip") {
      yield composeEmptyAnswer(head, { rcode: 0, truncated: true });
      return;
    }
  }
  for await (const answer of answers) yield withCookie(answer, messageOctetsMax, { request, head, options });
}

function checkLimit(rateLimit: RateLimit, client: LimitedClient, clock: Clock): "pass" | "slip" | "drop" {
  return (["pass", "slip", "drop"] as const)[rateLimit.check(client, responseClass.error, 0, clock.now())];
}

async function* dispatch(
  request: VerifiedRequest,
  { head, options }: Context,
): AsyncGenerator<Uint8Array, void, undefined> {
  if ((head.edns?.version ?? 0) > 0) {
    yield composeEmptyAnswer(head, { rcode: rcode.badVers });
    return;
  }
  const handler = handlerFor(request, { head, options });
  if (typeof handler === "number") {
    if (handler === rcode.refused) request.onRefused?.("nothing here answers such requests");
    yield composeEmptyAnswer(head, { rcode: handler, extendedError: extendedErrors.get(handler) });
    return;
  }
  let answered = false;
  try {
    for await (const answer of handler(request)) {
      answered = true;
      yield answer;
    }
  } catch (error) {
    if (request.signal.aborted) return;
    // A transfer that was begun and cannot go on: only the end of the connection tells the client.
    if (answered) throw error;
    // A fault of ours, or of the disk: the client should hear of it, and whoever runs the server should see it.
    options.log.error("answering a DNS request failed", {
      error,
      opcode: head.opcode,
      client: request.client.address,
    });
    yield composeEmptyAnswer(head, { rcode: rcode.servFail });
  }
}

/** Who answers, or the rcode to refuse with. */
function handlerFor(request: VerifiedRequest, { head, options }: Context): RequestHandler | number {
  switch (head.opcode) {
    case opcode.update:
      // RFC 2136 §3.1.1: exactly one zone.
      if (head.questionCount !== 1) return rcode.formErr;
      return options.update ?? rcode.refused;
    case opcode.notify:
      return (plain) => lookUp(plain, options);
    case opcode.query:
      if (head.type !== typeAxfr && head.type !== typeIxfr) return (plain) => lookUp(plain, options);
      // A datagram cannot hold a zone (RFC 5936 §4.2).
      if (head.type === typeAxfr && request.client.transport === "udp") return rcode.notImp;
      return options.transfer ?? rcode.refused;
    default:
      return rcode.notImp;
  }
}

/** The authority's own answer, in the same turn. */
async function* lookUp(
  { message, client, octetsMax, key }: VerifiedRequest,
  { authority }: RequestPipelineOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Datagrams are cut to size behind the signature's room is known; frames must leave that room by themselves.
  const output = new Uint8Array(client.transport === "udp" ? messageOctetsMax : octetsMax);
  authority.signedBy = key;
  const length = authority.answerExempt(message, 0, message.length, client, output);
  authority.signedBy = undefined;
  if (length > 0) yield output.slice(0, length);
}
