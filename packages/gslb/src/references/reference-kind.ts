import type { KubeObject, LoadBalancerIngress } from "@meridian/kube";
import type { ReferenceProblem, Server } from "../decide/gslb-snapshot.ts";
import type { Gslb } from "../resources/gslb.ts";
import type { ObjectKind } from "../resources/object-kind.ts";
import type { NotFound } from "./find-object.ts";
import type { RecordedReads } from "./reference-source.ts";

/** Which hosts an object serves, and by which Services. */
export type NamedServers =
  | {
      readonly is: "named";
      readonly servers: readonly Server[];
      /** Why a part of it serves nothing. */
      readonly problems: readonly ReferenceProblem[];
    }
  | NotFound;

/** At which addresses an object is reached from outside. */
export interface ReachedAt {
  readonly entries: readonly LoadBalancerIngress[];
  /** Somebody who gives addresses cannot be read now, so that the last known ones stand in. */
  readonly isUnknown: boolean;
  /** What is wrong and what to do about it; what else gives addresses counts nevertheless. */
  readonly problems: readonly string[];
  /** Why somebody gives no address, where that may be for a moment only. */
  readonly lacking?: string;
}

/** A kind that a Gslb may refer to. */
export interface ReferenceKind {
  readonly objects: ObjectKind;
  /** What is read beyond the object is read from `reads`. */
  servers(object: KubeObject, gslb: Gslb, reads: RecordedReads): NamedServers;
  /** Asked only where neither the Gslb nor the configuration says where this cluster is reached. */
  reachedAt(object: KubeObject, reads: RecordedReads): ReachedAt;
}

/** All that an object serves. */
export function named(servers: readonly Server[], problems: readonly ReferenceProblem[] = []): NamedServers {
  return { is: "named", servers, problems };
}

/** Nothing that can be used, until its user corrects it. */
export function unusable(message: string): NamedServers {
  return { is: "missing", why: { reason: "InvalidReference", message, gone: false } };
}

/** Addresses that an object has in its status. */
export function reachedBy(entries: readonly LoadBalancerIngress[] | undefined): ReachedAt {
  return { entries: entries ?? [], isUnknown: false, problems: [] };
}

/** No address at all, and why. */
export function reachedNowhere(problem: string): ReachedAt {
  return { entries: [], isUnknown: false, problems: [problem] };
}

/** Who would give addresses was not found: where it is gone there are none, else they are not known. */
export function unread(found: NotFound): ReachedAt {
  if (found.is === "pending") return { entries: [], isUnknown: true, problems: [] };
  return { entries: [], isUnknown: !found.why.gone, problems: [found.why.message] };
}

/** What several that serve the same give together. */
export function reachedByAll(parts: readonly ReachedAt[]): ReachedAt {
  const lacking = parts.flatMap((part) => part.lacking ?? []);
  return {
    ...(lacking.length === 0 ? {} : { lacking: lacking.join("; ") }),
    entries: parts.flatMap(({ entries }) => entries),
    isUnknown: parts.some(({ isUnknown }) => isUnknown),
    problems: parts.flatMap(({ problems }) => problems),
  };
}
