import type { Endpoint } from "./network.ts";

/** `192.0.2.1:53` or `[2001:db8::1]:53`, as URLs and people write it. */
export function formatEndpoint({ address, port }: Endpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
