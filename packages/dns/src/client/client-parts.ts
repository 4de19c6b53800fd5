import type { Runtime } from "@meridian/runtime";
import type { ServerMemory } from "./server-memory.ts";
import type { StreamExchanges } from "./stream-exchanges.ts";
import type { UdpExchanges } from "./udp-exchanges.ts";

/** What all questions of one client share. */
export interface ClientParts {
  readonly runtime: Runtime;
  readonly randomCase: boolean;
  readonly udp: UdpExchanges;
  readonly streams: StreamExchanges;
  readonly memory: ServerMemory;
}
