import type { Authority } from "@meridian/dns";
import { UdpWorkers, type UdpWorkersOptions } from "@meridian/dns/workers";
import type { Runtime } from "@meridian/runtime";
import { mmsgAvailability } from "@meridian/runtime/node";
import type { Datapath } from "../fleet/child-protocol.ts";
import { MeridianError } from "../meridian-error.ts";

/** How datagrams are answered, and what the threads that do it need. */
export interface DatapathOptions extends Pick<UdpWorkersOptions, "proxies" | "queryLog"> {
  readonly datapath: Datapath;
  /** Threads for each address that is listened on. */
  readonly workers: number;
}

/**
 * The threads that serve datagrams for `serveDns`; `undefined` where the runtime's own network does. Logs which it is,
 * and why.
 *
 * @throws MeridianError `StartFailed` where `mmsg` was asked for and does not work here
 */
export function openDatapath(
  runtime: Runtime,
  authority: Authority,
  { datapath, workers, ...options }: DatapathOptions,
): UdpWorkers | undefined {
  const { log } = runtime;
  if (datapath === "dgram") {
    log.info("datagrams are answered by the main thread", { datapath: "dgram", reason: "asked for" });
    return undefined;
  }
  const availability = mmsgAvailability();
  if (availability.available) return new UdpWorkers(runtime, { ...options, authority, threads: workers });
  const { reason } = availability;
  if (datapath === "mmsg") {
    throw new MeridianError(
      "StartFailed",
      `--datapath mmsg does not work here: ${reason}; leave it out, or use --datapath dgram`,
    );
  }
  log.warn("datagrams are answered by the main thread, several times slower", { datapath: "dgram", reason });
  return undefined;
}
