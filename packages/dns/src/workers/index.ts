export { UdpWorkers } from "./udp-workers.ts";
export type { SharingAuthority, UdpWorkersOptions } from "./udp-workers.ts";
export type { WorkerCounters } from "./worker-control.ts";
