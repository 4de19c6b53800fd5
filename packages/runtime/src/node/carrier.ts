import type { HttpClientRequest, HttpClientResponse } from "../network.ts";

/** What carries exchanges to the origin. */
export interface Carrier {
  /** Takes requests. */
  readonly usable: boolean;
  /** Takes one more than it has, without letting it wait. */
  readonly hasRoom: boolean;
  /** Has neither connection nor exchanges any more. */
  readonly gone: boolean;
  /** `declined` when the request may be sent again: the server did not look at it, or it does no harm. */
  exchange(request: HttpClientRequest): Promise<HttpClientResponse | "declined">;
  close(): Promise<void>;
}

/** Whether a request may be sent twice without doing more than once. */
export function isRepeatable(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
