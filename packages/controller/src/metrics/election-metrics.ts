import { Counter, Gauge, type Registry } from "prom-client";
import type { LeaderElector } from "../leader/leader-elector.ts";

/** Registers what an election tells, under the names of client-go. */
export function registerElectionMetrics(
  registry: Registry,
  election: Pick<LeaderElector, "name" | "status">,
): void {
  const registers = [registry];
  const labelNames = ["name"] as const;
  const { name } = election;
  new Gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    labelNames,
    registers,
    collect() {
      this.set({ name }, election.status.leading ? 1 : 0);
    },
  });
  new Counter({
    name: "leader_election_slowpath_total",
    help: "Total number of slow path exercised in renewing leader leases.",
    labelNames,
    registers,
    collect() {
      this.reset();
      this.inc({ name }, election.status.slowPaths);
    },
  });
}
