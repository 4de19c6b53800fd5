/**
 * A simulated outside world: many nodes in one process, on virtual time, under one seed.
 *
 * @module @meridian/runtime/sim
 */

export { Simulation } from "./simulation.ts";
export type { NodeOptions, RunOptions, SimLogLine, SimulationOptions } from "./simulation.ts";
export type { CrashKind, PauseKind, SimNode } from "./sim-node.ts";
export type { LinkConditions } from "./links.ts";
export type { TcpConditions } from "./fabric.ts";
export type { DiskConditions, Platter } from "./platter.ts";
