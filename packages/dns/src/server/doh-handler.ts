import {
  deferred,
  ReusedClient,
  type AnswerDatagram,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
} from "@meridian/runtime";
import { headerOctets } from "../message/header.ts";
import type { RequestPipeline } from "./dns-request.ts";
import { cacheControlOf } from "./doh-cache-control.ts";

/** Questions over HTTP are refused above this size before anything is decoded. */
export const dohQuestionOctetsMax: number = 16 * 1024;

const mediaType = "application/dns-message";
const answerOctetsMax = 65_535;
/** Deferred requests answered at once; more are told to come again. */
const requestsMax = 256;

/** What answers DNS over HTTPS. */
export interface DohHandlerOptions {
  readonly answer: AnswerDatagram;
  /** Answers what `answer` defers. */
  readonly requests: () => RequestPipeline | undefined;
  /** Such as `/dns-query`. */
  readonly path: string;
  /** A request carried a message. */
  readonly onQuestion: () => void;
}

/**
 * Answers DNS over HTTPS (RFC 8484): GET with `?dns=` and POST. Messages pass the same function as those of all other
 * transports, so what is refused there is refused here.
 */
export function dohHandler({ answer, requests, path, onQuestion }: DohHandlerOptions): HttpHandler {
  const output = new Uint8Array(answerOctetsMax);
  let pending = 0;

  const answerDeferred = async (message: Uint8Array, request: HttpRequest): Promise<HttpResponse> => {
    const pipeline = requests();
    if (pipeline === undefined) return failure(400, "this is no question");
    if (pending >= requestsMax)
      return failure(503, "too many requests at once; come again", { "retry-after": "1" });
    pending++;
    try {
      const client = new ReusedClient("https", request.client);
      let only: Uint8Array | undefined;
      for await (const part of pipeline.handle({ message, client, signal: request.signal })) {
        if (only !== undefined)
          return failure(400, "an answer of several messages has no form in HTTP; use TLS");
        only = part;
      }
      return only === undefined ? failure(400, "this is no question") : dnsResponse(only);
    } finally {
      pending--;
    }
  };

  return async (request) => {
    const message = messageOf(request, path);
    if (!(message instanceof Uint8Array)) return message;
    onQuestion();
    const client = new ReusedClient("https", request.client);
    const length = answer(message, 0, message.length, client, output);
    if (length === deferred) return answerDeferred(message, request);
    // What gets silence over UDP gets an answer that HTTP needs: nobody may wait for ever.
    if (length === 0) return failure(400, "this is no question");
    return dnsResponse(output.slice(0, length));
  };
}

/** The message that a request carries, or how to refuse it. */
function messageOf(request: HttpRequest, path: string): Uint8Array | HttpResponse {
  const { method, target, headers, body } = request;
  const mark = target.indexOf("?");
  if ((mark < 0 ? target : target.slice(0, mark)) !== path) return failure(404, "nothing is here");
  if (method === "GET") return messageOfQuery(mark < 0 ? "" : target.slice(mark + 1));
  if (method !== "POST") return failure(405, "use GET or POST", { allow: "GET, POST" });
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== mediaType) return failure(415, `send ${mediaType}`, { accept: mediaType });
  if (body.length > dohQuestionOctetsMax) return failure(413, "the question is too long");
  return body.length < headerOctets ? failure(400, "the message is shorter than its header") : body;
}

function messageOfQuery(query: string): Uint8Array | HttpResponse {
  const found = query.split("&", 16).find((part) => part.startsWith("dns="));
  if (found === undefined) return failure(400, "the parameter dns is missing");
  const text = found.slice(4);
  if (text.length > Math.ceil((dohQuestionOctetsMax * 4) / 3))
    return failure(414, "the question is too long");
  // Base64url without padding (RFC 8484 §6); one letter more than whole groups is half an octet.
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return failure(400, "dns is not base64url");
  const message = new Uint8Array(Buffer.from(text, "base64url"));
  return message.length < headerOctets ? failure(400, "the message is shorter than its header") : message;
}

function dnsResponse(message: Uint8Array): HttpResponse {
  return {
    status: 200,
    headers: {
      "content-type": mediaType,
      "content-length": String(message.length),
      "cache-control": cacheControlOf(message),
    },
    body: message,
  };
}

function failure(status: number, reason: string, headers: Record<string, string> = {}): HttpResponse {
  const body = new TextEncoder().encode(`${reason}\n`);
  return {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(body.length),
      ...headers,
    },
    body,
  };
}
