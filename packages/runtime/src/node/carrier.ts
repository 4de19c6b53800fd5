import type { HttpClientRequest, HttpClientResponse } from "../network.ts";

/** What carries exchanges to the origin. */
export interface Carrier {
  readonly usable: boolean;
  /** `declined` when the server surely did not look at the request, so that it may be sent again. */
  exchange(request: HttpClientRequest): Promise<HttpClientResponse | "declined">;
  close(): Promise<void>;
}
