import type { KubeObject, LoadBalancerIngress } from "@meridian/kube";
import type { Server } from "../decide/gslb-snapshot.ts";
import type { Gslb } from "../resources/gslb.ts";
import type { ObjectKind } from "../resources/object-kind.ts";
import type { RecordedReads } from "./reference-source.ts";

/** Which hosts an object serves, and by which Services. */
export type NamedServers =
  { readonly servers: readonly Server[]; readonly problem?: undefined } | { readonly problem: string };

/** At which addresses an object is reached from outside. */
export interface ReachedAt {
  readonly entries: readonly LoadBalancerIngress[];
  /** Somebody who gives addresses cannot be read now, so that the last known ones stand in. */
  readonly isUnknown: boolean;
  /** What is wrong and what to do about it; what else gives addresses counts nevertheless. */
  readonly problems: readonly string[];
}

/** A kind that a Gslb may refer to. */
export interface ReferenceKind {
  readonly objects: ObjectKind;
  /** What is read beyond the object is read from `reads`. */
  servers(object: KubeObject, gslb: Gslb, reads: RecordedReads): NamedServers;
  /** Asked only where neither the Gslb nor the configuration says where this cluster is reached. */
  reachedAt(object: KubeObject, reads: RecordedReads): ReachedAt;
}

/** Addresses that an object has in its status. */
export function reachedBy(entries: readonly LoadBalancerIngress[] | undefined): ReachedAt {
  return { entries: entries ?? [], isUnknown: false, problems: [] };
}

/** No address at all, and why. */
export function reachedNowhere(problem: string): ReachedAt {
  return { entries: [], isUnknown: false, problems: [problem] };
}

/** What several that serve the same give together. */
export function reachedByAll(parts: readonly ReachedAt[]): ReachedAt {
  return {
    entries: parts.flatMap(({ entries }) => entries),
    isUnknown: parts.some(({ isUnknown }) => isUnknown),
    problems: parts.flatMap(({ problems }) => problems),
  };
}
