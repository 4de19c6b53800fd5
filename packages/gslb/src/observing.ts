import type { Runtime } from "@meridian/runtime";
import { deepEqual } from "@meridian/kube";
import type { OperatorConfig } from "./config/operator-config.ts";
import { serviceKeyOf, type ClusterCopies } from "./controllers/cluster-copies.ts";
import type { GslbController } from "./controllers/gslb-controller.ts";
import { GslbLog } from "./controllers/gslb-log.ts";
import { GslbTally, type GslbObserver } from "./controllers/gslb-observer.ts";
import type { GslbPlan } from "./decide/plan-gslb.ts";
import { readyEndpoints } from "./decide/health.ts";
import type { WapiCall } from "./delegation/wapi-client.ts";
import type { BalancerReadings, PeerReading } from "./metrics/balancer-readings.ts";
import { ConvergenceTimer } from "./metrics/convergence-timer.ts";
import { DelegationTally } from "./metrics/delegation-tally.ts";
import type { Peers } from "./peers/peers.ts";
import type { Replica } from "./replica.ts";

/** What is read when metrics are scraped. */
export interface ObservedParts {
  readonly config: Pick<OperatorConfig, "geoTag" | "podNamespace">;
  readonly gslbs: Pick<GslbController, "plans">;
  readonly peers: Peers;
  readonly zones: () => readonly string[];
  readonly replica: Pick<Replica, "lease" | "leading">;
}

/** The parts of an operator that watch the others, for metrics and logs. */
export class Observing implements GslbObserver {
  readonly delegations: DelegationTally;
  readonly convergence: ConvergenceTimer;
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #tally = new GslbTally();
  readonly #log: GslbLog;
  #onWapiCall: (call: WapiCall) => void = () => {};

  constructor(runtime: Pick<Runtime, "clock" | "log">, { geoTag }: Pick<OperatorConfig, "geoTag">) {
    this.#runtime = runtime;
    this.delegations = new DelegationTally(runtime.log);
    this.convergence = new ConvergenceTimer(runtime.clock);
    this.#log = new GslbLog(runtime.log, geoTag);
  }

  onPass(key: string, before: GslbPlan | undefined, after: GslbPlan): void {
    this.#tally.onPass(key, before, after);
    this.#log.onPass(key, before, after);
    this.convergence.decided(key, !deepEqual(before?.records, after.records));
  }

  onFailure(key: string): void {
    this.#tally.onFailure(key);
  }

  onGone(key: string): void {
    this.#tally.onGone(key);
    this.convergence.forget(key);
  }

  readonly onWapiCall = (call: WapiCall): void => this.#onWapiCall(call);

  /** Times changes of endpoints from now on, for the Gslbs that depend on them. */
  watch(copies: Pick<ClusterCopies, "slices">, gslbs: Pick<GslbController, "index">): void {
    copies.slices.addHandler({
      onUpdate: (old, slice) => {
        const service = serviceKeyOf(slice)?.[0];
        if (service === undefined || readyEndpoints(old) === readyEndpoints(slice)) return;
        for (const key of gslbs.index.ofService(service)) this.convergence.begin(key, "endpoints");
      },
    });
  }

  /** What can be read at any time. */
  readings({ config, gslbs, peers, zones, replica }: ObservedParts): BalancerReadings {
    const { clock } = this.#runtime;
    const tally = this.#tally;
    const { delegations, convergence } = this;
    return {
      geoTag: config.geoTag,
      namespace: config.podNamespace,
      get plans() {
        return gslbs.plans;
      },
      get counts() {
        return tally.counts;
      },
      get delegations() {
        return delegations.of(zones());
      },
      get peers() {
        const nowMs = clock.monotonicMs();
        return zones().flatMap((zone) => peers.sessions(zone).map((session) => readingOf(session, nowMs)));
      },
      get isVouching() {
        return !replica.lease.isWithheld;
      },
      get isLeading() {
        return replica.leading.isLeading;
      },
      pause: () => clock.sleep(0),
      onConverged: (listener) => (convergence.listener = listener),
      onWapiCall: (listener) => (this.#onWapiCall = listener),
    };
  }
}

function readingOf(session: ReturnType<Peers["sessions"]>[number], nowMs: number): PeerReading {
  const { isUp, heardAtMs, mode } = session.contact;
  return {
    ...{ zone: session.zone, geoTag: session.geoTag, isUp, mode, serial: session.copy.serial },
    ageSeconds: heardAtMs === undefined ? undefined : (nowMs - heardAtMs) / 1000,
  };
}
