import type { HttpHeaders } from "../network.ts";
import type { WireMessage } from "./wire.ts";

/** What a simulated HTTP connection carries: streams of one exchange each, as HTTP/2 has them. */
export type HttpFrame = WireMessage &
  (
    | {
        readonly kind: "request";
        readonly stream: number;
        readonly method: string;
        readonly target: string;
        readonly headers: HttpHeaders;
        readonly octets: Uint8Array;
      }
    | {
        readonly kind: "head";
        readonly stream: number;
        readonly status: number;
        readonly headers: HttpHeaders;
      }
    | { readonly kind: "chunk"; readonly stream: number; readonly octets: Uint8Array }
    | { readonly kind: "end"; readonly stream: number }
    /** The client no longer wants the stream. */
    | { readonly kind: "cancel"; readonly stream: number }
    /** The server broke the stream off in the middle. */
    | { readonly kind: "failed"; readonly stream: number }
    /** The server did not look at the request, since it is closing; another connection may be tried. */
    | { readonly kind: "declined"; readonly stream: number }
    /** The client has read so many octets of the body. */
    | { readonly kind: "credit"; readonly stream: number; readonly bytes: number }
    /** The server closes: no new streams on this connection. */
    | { readonly kind: "goaway" }
  );

/** How many octets of one body may be under way or unread. */
export const streamWindowBytes: number = 256 * 1024;

/** Header names are carried in lower case, as on the wire of HTTP/2. */
export function lowerCased(headers: HttpHeaders): HttpHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
