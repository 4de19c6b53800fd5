import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

import { plainOctets } from "./octets.ts";

/** A request, seen through the interface that Node gives to both protocols. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** The body of a request, or why it was not taken. */
export type RequestBody =
  | { readonly kind: "whole"; readonly octets: Uint8Array }
  /** `unread`: more of it may come, so that the connection (or the stream) has to be ended. */
  | { readonly kind: "too large"; readonly unread: boolean };

/**
 * How much of an oversized body is read and thrown away over HTTP/1.1. Many clients read no answer before they have
 * sent all, and a connection closed with octets unread is reset, which takes the answer away from its reader.
 */
const discardBytesMax = 16 * 1024 * 1024;

/** Reads a request's body up to a limit. Rejects when the client breaks off, or takes longer than `requestMs`. */
export function readRequestBody(
  request: NodeRequest,
  { bodyBytesMax, requestMs }: { readonly bodyBytesMax: number; readonly requestMs: number },
): Promise<RequestBody> {
  const readBytesMax = request.httpVersionMajor === 2 ? bodyBytesMax : bodyBytesMax + discardBytesMax;
  const tooLarge: RequestBody = { kind: "too large", unread: true };
  if (Number(request.headers["content-length"] ?? 0) > readBytesMax) return Promise.resolve(tooLarge);
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= bodyBytesMax) chunks.push(chunk);
      else chunks = [];
      if (sizeBytes > readBytesMax) {
        request.pause();
        resolve(tooLarge);
      }
    });
    request.once("end", () => {
      if (sizeBytes > bodyBytesMax) return resolve({ kind: "too large", unread: false });
      const [only] = chunks;
      const octets = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, sizeBytes);
      return resolve({ kind: "whole", octets: plainOctets(octets) });
    });
    request.once("error", reject);
    request.once("close", () => reject(new Error("the client went away within its request")));
    // HTTP/2 knows no such limit of its own.
    const timer = setTimeout(() => reject(new Error("the request did not arrive in time")), requestMs);
    timer.unref();
    const cancel = (): void => clearTimeout(timer);
    request.once("end", cancel).once("close", cancel);
  });
}
