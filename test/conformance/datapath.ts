import type { Authority, ServeDnsOptions } from "@meridian/dns";
import { UdpWorkers } from "@meridian/dns/workers";
import type { Runtime } from "@meridian/runtime";
import { mmsgAvailability } from "@meridian/runtime/node";

/** How datagrams are answered: by threads with `recvmmsg`, or by the main thread. */
export type Datapath = "mmsg" | "dgram";

/** Those that work on this machine: all on Linux. */
export const datapaths: readonly Datapath[] = mmsgAvailability().available ? ["mmsg", "dgram"] : ["dgram"];

/** The threads that answer datagrams in that way; none where the main thread does. */
export function threadsFor(
  datapath: Datapath,
  runtime: Runtime,
  authority: Authority,
): UdpWorkers | undefined {
  return datapath === "dgram" ? undefined : new UdpWorkers(runtime, { authority, threads: 2 });
}

/** What makes `serveDns` answer datagrams in that way. */
export function servedBy(
  datapath: Datapath,
  runtime: Runtime,
  authority: Authority,
): Pick<ServeDnsOptions, "serveUdp"> {
  const threads = threadsFor(datapath, runtime, authority);
  return threads === undefined ? {} : { serveUdp: threads.serveUdp };
}
