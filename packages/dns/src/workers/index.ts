/**
 * Threads that answer DNS over UDP.
 *
 * @module @meridian/dns/workers
 */

export { UdpWorkers } from "./udp-workers.ts";
export type { SharingAuthority, UdpWorkersOptions } from "./udp-workers.ts";
export type { WorkerCounters } from "./worker-control.ts";
