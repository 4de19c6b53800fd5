/**
 * What networks and servers under stress do to clients, on request, on any runtime.
 *
 * @module @meridian/controller/faults
 */

export { FaultyHttp } from "./faulty-http.ts";
export type { FaultAim } from "./faulty-http.ts";
export type { BefallenEvent, FaultObserver } from "./fault-observer.ts";
export { refusals } from "./fault.ts";
export type { CutKind, EventFault, Refusal, RequestFault } from "./fault.ts";
