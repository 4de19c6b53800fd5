import type { Condition, KubeObject } from "@meridian/kube";

/** A zone that the clusters answer for, and its parent (`zonedelegations.k8gb.io`, cluster-scoped). */
export interface ZoneDelegation extends KubeObject {
  readonly spec?: ZoneDelegationSpec;
  readonly status?: ZoneDelegationStatus;
}

/** The zone, its parent, and how long a negative answer may be kept, in seconds. */
export interface ZoneDelegationSpec {
  readonly loadBalancedZone: string;
  readonly parentZone: string;
  readonly dnsZoneNegTTL: number;
  readonly doFinalize?: boolean;
}

/** Where the clusters' DNS servers were found. */
export interface ZoneDelegationStatus {
  /** Every address of every cluster's DNS server, one entry per address, sorted by name, then address. */
  readonly dnsServers?: readonly DnsServerEntry[];
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/** One address of one cluster's DNS server. */
export interface DnsServerEntry {
  readonly name: string;
  readonly address: string;
}

/** Keeps a ZoneDelegation until its delegation was withdrawn. */
export const zoneDelegationFinalizer = "k8gb.io/finalizer";
