/**
 * What tests of controllers need: a clock that stands still, an API in memory, a network that fails, random programs.
 *
 * @module @meridian/controller/testing
 */

export { testApi } from "./test-api.ts";
export type { TestApi, TestApiOptions } from "./test-api.ts";
export { FakeClock, testRuntime } from "./test-runtime.ts";
export type { TestRuntime, TestRuntimeOptions } from "./test-runtime.ts";
export { ApiTruth } from "./truth/api-truth.ts";
export type { ApiTruthOptions, TruthCounts } from "./truth/api-truth.ts";
export type { TruthChange } from "./truth/truth-history.ts";
export { FaultyHttp } from "./faults/faulty-http.ts";
export type { FaultAim } from "./faults/faulty-http.ts";
export type { BefallenEvent, FaultObserver } from "./faults/fault-observer.ts";
export { refusals } from "./faults/fault.ts";
export type { CutKind, EventFault, Refusal, RequestFault } from "./faults/fault.ts";
export { httpTo } from "./faults/http-to.ts";
export { checkCopies } from "./programs/check-copies.ts";
export type { CheckOptions } from "./programs/check-copies.ts";
export { playProgram } from "./programs/play-program.ts";
export type { ModelObject, ModelOptions, ModelSubject, ModelWorld } from "./programs/play-program.ts";
export { randomProgram } from "./programs/program.ts";
export type { Act, Program } from "./programs/program.ts";
export { HandlerHistory } from "./programs/handler-history.ts";
