import { objectKey, type KubeObject } from "@meridian/kube";
import type { ReferenceFailure, ReferenceOutcome } from "../decide/gslb-snapshot.ts";
import type { Gslb } from "../resources/gslb.ts";
import { embeddedIngress } from "./embedded-ingress.ts";
import { findObject, unreadKind, type Found } from "./find-object.ts";
import { serversOfIngress } from "./ingress-kind.ts";
import {
  reachedBy,
  reachedNowhere,
  unread,
  unusable,
  type NamedServers,
  type ReachedAt,
} from "./reference-kind.ts";
import { RecordedReads, type ReferenceSource } from "./reference-source.ts";
import { referenceTarget, type ReferenceTarget } from "./reference-target.ts";

/** What a Gslb's reference leads to, and at which addresses the object found is reached. */
export interface ResolvedReference {
  readonly target: ReferenceTarget;
  /** Pending: a copy that has to be read is not complete yet, and nothing can be told. */
  readonly outcome: ReferenceOutcome | { readonly kind: "pending" };
  /** Read when it is asked for, since nobody asks where the addresses are given otherwise. */
  readonly reachedAt: () => ReachedAt;
  /** Everything that was read so far. */
  readonly reads: RecordedReads;
}

/** Follows a Gslb's reference. Total: what cannot be found or used is an outcome. */
export function resolveReference(gslb: Gslb, source: ReferenceSource): ResolvedReference {
  const reads = new RecordedReads(source);
  const target = referenceTarget(gslb);
  if (target.by === "nothing") return failed({ target, reads }, target.why);
  if (target.by === "embedded") {
    // The hosts are the Gslb's own, whether the Ingress is there yet or not.
    const stored = reads.get(target.kind.objects, target.key);
    return {
      ...{ target, reads },
      outcome: { kind: "resolved", servers: serversOfIngress(embeddedIngress(gslb)) },
      reachedAt: () => (stored === undefined ? reachedBy([]) : target.kind.reachedAt(stored, reads)),
    };
  }
  const found = target.by === "name" ? byName(target, reads) : bySelector(target, reads);
  if (found.is === "pending")
    return { target, reads, outcome: { kind: "pending" }, reachedAt: () => unread(found) };
  if (found.is === "missing") return failed({ target, reads }, found.why);

  const { object } = found;
  const oddity = (error: unknown): string =>
    `${target.kind.objects.kind} ${objectKey(object.metadata)} is not as its kind should be: ${(error as Error).message}; correct it, or its CustomResourceDefinition`;
  const reachedAt = (): ReachedAt => {
    try {
      return target.kind.reachedAt(object, reads);
    } catch (error) {
      return { ...reachedNowhere(oddity(error)), isUnknown: true };
    }
  };
  return {
    target,
    reads,
    outcome: outcomeOf(() => target.kind.servers(object, gslb, reads), oddity),
    reachedAt,
  };
}

/** A definition may let objects through that are made of anything; such a one must not stop the other Gslbs. */
function outcomeOf(
  read: () => NamedServers,
  oddity: (error: unknown) => string,
): ResolvedReference["outcome"] {
  const attempt = (): NamedServers => {
    try {
      return read();
    } catch (error) {
      return unusable(oddity(error));
    }
  };
  const found = attempt();
  switch (found.is) {
    case "named": {
      const { servers, problems } = found;
      return { kind: "resolved", servers, ...(problems.length === 0 ? {} : { problems }) };
    }
    case "pending":
      return { kind: "pending" };
    case "missing":
      return { kind: "failed", ...found.why };
  }
}

function byName(
  { kind, key }: Extract<ReferenceTarget, { by: "name" }>,
  reads: RecordedReads,
): Found<KubeObject> {
  return findObject(reads, kind.objects, { key, namedBy: "spec.resourceRef" });
}

function bySelector(
  { kind: { objects }, namespace, selector }: Extract<ReferenceTarget, { by: "selector" }>,
  reads: RecordedReads,
): Found<KubeObject> {
  const found = reads.select(objects, selector, namespace);
  if (found.length === 1) return { is: "found", object: found[0]! };
  const unread = unreadKind(reads, objects);
  if (unread !== undefined) return unread;
  const message = `exactly 1 ${objects.kind} resource expected but ${found.length} were found in namespace ${namespace}; correct the labels or the selector of spec.resourceRef`;
  const isNone = found.length === 0;
  return { is: "missing", why: { reason: isNone ? "NotFound" : "NotExactlyOne", message, gone: isNone } };
}

/** Where the object cannot be found, nothing is known of its addresses; where it is gone, none is used. */
function failed(at: Pick<ResolvedReference, "target" | "reads">, why: ReferenceFailure): ResolvedReference {
  return {
    ...at,
    outcome: { kind: "failed", ...why },
    reachedAt: () => ({ entries: [], isUnknown: !why.gone, problems: [] }),
  };
}
