import type { Server } from "node:net";

import type { Logger } from "../logger.ts";
import type { Endpoint } from "../network.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import { networkFailure } from "./network-failure.ts";

/**
 * Binds a server to its port and returns where it listens. An IPv6 wildcard does not take the IPv4 port: who wants
 * both listens on both.
 */
export async function listenOn(
  server: Server,
  asked: Endpoint,
  options: { readonly attempt: string; readonly log: Logger },
): Promise<Endpoint> {
  const { address, port } = asked;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(networkFailure(`cannot ${options.attempt} on ${formatEndpoint(asked)}`, error));
    });
    server.listen({ host: address, port, ipv6Only: true }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
  // Accepting can fail for want of file descriptors; the listener stays and accepts again later.
  server.on("error", (error) => options.log.warn("accepting a connection failed", { error }));
  const bound = server.address();
  return { address, port: bound !== null && typeof bound === "object" ? bound.port : port };
}
