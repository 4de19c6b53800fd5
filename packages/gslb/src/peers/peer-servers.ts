import type { Endpoint } from "@meridian/runtime";

/**
 * Where a peer's DNS server is asked: every address on the first edge server's port, then on every other edge server's
 * port that is not 53, then on 53. So a fleet on another port needs no setting of its own, as in k8gb.
 *
 * All addresses of a port come before the next port, since a peer listens on one port at all of its addresses.
 */
export function peerServers(addresses: readonly string[], edgePorts: readonly number[]): readonly Endpoint[] {
  const first = edgePorts[0] ?? 53;
  const ports = new Set([first, ...edgePorts.filter((port) => port !== 53), 53]);
  return [...ports].flatMap((port) => addresses.map((address) => ({ address, port })));
}
