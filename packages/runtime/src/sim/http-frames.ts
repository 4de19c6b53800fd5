import type { HttpHeaders } from "../network.ts";
import type { WireMessage } from "./wire.ts";

/*
 * A simulated HTTP connection carries streams of one exchange each, as HTTP/2 has them.
 */

/** What a client sends. */
export type ClientFrame = WireMessage &
  (
    | {
        readonly kind: "request";
        readonly stream: number;
        readonly method: string;
        readonly target: string;
        readonly headers: HttpHeaders;
        readonly octets: Uint8Array;
      }
    /** The stream is no longer wanted. */
    | { readonly kind: "cancel"; readonly stream: number }
    /** So many octets of the body were read. */
    | { readonly kind: "credit"; readonly stream: number; readonly bytes: number }
  );

/** What a server sends about one stream. */
export type StreamFrame = WireMessage &
  (
    | {
        readonly kind: "head";
        readonly stream: number;
        readonly status: number;
        readonly headers: HttpHeaders;
      }
    | { readonly kind: "chunk"; readonly stream: number; readonly octets: Uint8Array }
    | { readonly kind: "end"; readonly stream: number }
    /** The answer was broken off in the middle. */
    | { readonly kind: "failed"; readonly stream: number }
    /** Nobody looked at the request, since the server is closing; another connection may be tried. */
    | { readonly kind: "declined"; readonly stream: number }
  );

/** What a server sends: frames of streams, and that it closes and wants no new streams on this connection. */
export type ServerFrame = StreamFrame | (WireMessage & { readonly kind: "goaway" });

/** How many octets of one body may be under way or unread. */
export const streamWindowBytes: number = 256 * 1024;

/** Header names are carried in lower case, as on the wire of HTTP/2; the values of one name arrive as one. */
export function lowerCased(headers: Readonly<Record<string, string | readonly string[]>>): HttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === "string" ? value : value.join(", "),
    ]),
  );
}
