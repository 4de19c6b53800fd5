import { isIPv6 } from "node:net";

import type { Endpoint } from "../network.ts";

/** `192.0.2.1:53` or `[2001:db8::1]:53`. */
export function formatEndpoint({ address, port }: Endpoint): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
