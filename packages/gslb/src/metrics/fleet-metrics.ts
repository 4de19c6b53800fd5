import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { BalancerReadings, PeerReading } from "./balancer-readings.ts";

const convergenceBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const modes: readonly PeerReading["mode"][] = ["copy", "questions", "nothing"];

/** Registers what k8gb does not tell of a fleet: how the peers are, and how fast changes are answered. */
export function registerFleetMetrics(registry: Registry, readings: BalancerReadings): void {
  const registers = [registry];
  const convergence = new Histogram({
    name: "meridian_gslb_convergence_seconds",
    help: "From a change that this cluster sees, of its endpoints or of what a peer says, to the answer of its DNS server.",
    labelNames: ["cause"],
    buckets: convergenceBuckets,
    registers,
  });
  for (const cause of ["endpoints", "peer"]) convergence.zero({ cause });
  readings.onConverged((cause, seconds) => convergence.observe({ cause }, seconds));
  registerPeers(registry, readings);
  registerDelegations(registry, readings);
  const flag = (name: string, help: string, read: () => boolean): void => {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read() ? 1 : 0);
      },
    });
  };
  flag(
    "meridian_operator_vouching",
    "1 while the operator vouches for what the DNS server says of this cluster; 0 when that is kept back.",
    () => readings.isVouching,
  );
  flag("meridian_operator_leading", "1 where this replica writes what is decided.", () => readings.isLeading);
}

function registerPeers(registry: Registry, readings: BalancerReadings): void {
  const gauge = (
    name: string,
    help: string,
    read: (
      peer: PeerReading,
    ) => readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[],
  ): void => {
    new Gauge({
      name: `meridian_peer_${name}`,
      help,
      labelNames: ["zone", "geotag", ...(name === "mode" ? ["mode"] : [])],
      registers: [registry],
      collect() {
        this.reset();
        for (const peer of readings.peers)
          for (const [labels, value] of read(peer))
            this.set({ zone: peer.zone, geotag: peer.geoTag, ...labels }, value);
      },
    });
  };
  gauge("up", "1 where a peer answered when it was last asked about a zone.", ({ isUp }) => [
    [{}, isUp ? 1 : 0],
  ]);
  gauge(
    "age_seconds",
    "How long ago a peer last answered about a zone; absent where it never did.",
    ({ ageSeconds }) => (ageSeconds === undefined ? [] : [[{}, ageSeconds]]),
  );
  gauge(
    "view_serial",
    "Serial of a peer's own view as last transferred; absent where it is asked for each host.",
    ({ serial }) => (serial === undefined ? [] : [[{}, serial]]),
  );
  gauge(
    "mode",
    "1 for how a peer is asked now: by copies of its view, by questions for each host, or nothing works.",
    (peer) => modes.map((mode) => [{ mode }, peer.mode === mode ? 1 : 0]),
  );
}

function registerDelegations(registry: Registry, readings: BalancerReadings): void {
  new Counter({
    name: "meridian_delegation_passes_total",
    help: "Passes over a zone's delegation in its parent, by what came of them.",
    labelNames: ["zone", "provider", "outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { zone, provider, ensured, failed, withdrawn } of readings.delegations)
        for (const [outcome, count] of Object.entries({ ensured, failed, withdrawn }))
          this.inc({ zone, provider, outcome }, count);
    },
  });
}
