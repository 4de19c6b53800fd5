import type { Endpoint, Logger } from "@meridian/runtime";
import type { ServerAddress } from "../config/environment-reader.ts";
import { familyOf } from "../decide/address-family.ts";

/** The edge servers that can be asked: those given by address. One given by name is left out, and said so once. */
export function edgeEndpoints(servers: readonly ServerAddress[], log: Logger): readonly Endpoint[] {
  return servers.flatMap(({ host, port }) => {
    if (familyOf(host) !== undefined) return [{ address: host, port }];
    log.warn(
      "an edge DNS server is given by name, and only addresses are used; put its address into EDGE_DNS_SERVERS",
      { host },
    );
    return [];
  });
}
