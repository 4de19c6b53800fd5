import { findCondition } from "@meridian/kube";
import type { GslbSnapshot, Server } from "../decide/gslb-snapshot.ts";
import type { BackendHealth } from "../decide/health.ts";
import type { PeerState, PeerView } from "../decide/peer-view.ts";
import { planGslb, type GslbPlan } from "../decide/plan-gslb.ts";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { Gslb, GslbStatus, GslbStrategy } from "../resources/gslb.ts";

/** The moment of every plan, wall-clock milliseconds. */
export const now = 1_767_225_600_000;
/** The host of a plan that names no other. */
export const host = "app.cloud.example.com";

/** A peer's view of IPv4 targets; silent since 10 s where it is unreachable. */
export function view(geoTag: string, state: PeerState, ...targets: readonly string[]): PeerView {
  const since = state === "unreachable" ? { unreachableSince: now - 10_000 } : {};
  return { geoTag, family: "A", state, targets, verdict: state, ...since };
}

/** What is not as in a healthy primary with one healthy peer and one that serves nothing. */
export interface Given {
  readonly strategy?: GslbStrategy;
  readonly servers?: readonly Server[];
  readonly health?: BackendHealth;
  readonly exposed?: GslbSnapshot["exposed"];
  readonly views?: readonly PeerView[];
  readonly stored?: readonly DnsEndpointRecord[];
  readonly status?: GslbStatus;
  readonly reference?: GslbSnapshot["reference"];
  readonly holder?: string;
  readonly zones?: readonly string[];
  readonly endpointProblem?: GslbSnapshot["endpointProblem"];
  readonly onBackend?: () => void;
  readonly geo?: GslbSnapshot["geo"];
  /** When the Gslb was made. */
  readonly madeAtMs?: number;
}

/** Plans the Gslb `demo/app` in cluster `eu`. */
export function plan(given: Given = {}): GslbPlan {
  const gslb: Gslb = {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: {
      ...{ name: "app", namespace: "demo", generation: 3 },
      ...(given.madeAtMs === undefined ? {} : { creationTimestamp: new Date(given.madeAtMs).toISOString() }),
    },
    spec: { strategy: given.strategy ?? { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 5 } },
    ...(given.status === undefined ? {} : { status: given.status }),
  };
  return planGslb({
    gslb,
    geoTag: "eu",
    geoTags: ["eu", "us", "za"],
    reference: given.reference ?? { kind: "resolved", servers: given.servers ?? [server(host)] },
    exposed: given.exposed ?? { targets: { A: ["192.0.2.2", "192.0.2.1"], AAAA: [] }, source: "test" },
    zones: given.zones ?? ["cloud.example.com"],
    otherHolder: () => given.holder,
    backend: () => {
      given.onBackend?.();
      return { state: given.health ?? "healthy", readyEndpoints: given.health === undefined ? 1 : 0 };
    },
    views: () => given.views ?? [view("us", "fresh", "198.51.100.1"), view("za", "empty")],
    stored: given.stored,
    ...(given.endpointProblem === undefined ? {} : { endpointProblem: given.endpointProblem }),
    ...(given.geo === undefined ? {} : { geo: given.geo }),
    now,
  });
}

/** A host with one Service behind it. */
export function server(name: string): Server {
  return { host: name, services: [{ namespace: "demo", name: "app" }] };
}

/** A record of type A with the TTL of the Gslb. */
export function record(
  dnsName: string,
  targets: readonly string[],
  labels?: Readonly<Record<string, string>>,
): DnsEndpointRecord {
  return { dnsName, recordType: "A", recordTTL: 5, targets, ...(labels === undefined ? {} : { labels }) };
}

/** The labels of an answer by failover. */
export const failover = { strategy: "failover" };
/** A condition as `status reason`, or `absent`. */
export const isTrue = (result: GslbPlan, type: string): string => {
  const condition = findCondition(result.status.conditions, type);
  return condition === undefined ? "absent" : `${condition.status} ${condition.reason}`;
};
