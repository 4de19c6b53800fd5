import { lookup } from "node:dns/promises";

/** The addresses of a host name as the system's own resolver knows them, those of IPv4 first. */
export async function resolveHost(name: string, signal: AbortSignal): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, order: "ipv4first" });
  signal.throwIfAborted();
  return found.map(({ address }) => address);
}
