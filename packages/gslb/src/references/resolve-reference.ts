import { matchesLabels, type KubeObject, type LoadBalancerIngress } from "@meridian/kube";
import type { ReferenceOutcome } from "../decide/gslb-snapshot.ts";
import type { Gslb } from "../resources/gslb.ts";
import { embeddedIngress } from "./embedded-ingress.ts";
import { serversOfIngress, type Extracted, type ReferenceKind } from "./reference-kinds.ts";
import { referenceTarget, type ReferenceTarget } from "./reference-target.ts";

/** Reads objects of the kinds that Gslbs refer to; from copies, never from the server. */
export interface ReferenceSource {
  get(kind: ReferenceKind, key: string): KubeObject | undefined;
  list(kind: ReferenceKind, namespace: string): readonly KubeObject[];
}

/** What a Gslb's reference leads to, and the addresses that the object found has. */
export interface ResolvedReference {
  readonly target: ReferenceTarget;
  readonly outcome: ReferenceOutcome;
  readonly addresses: readonly LoadBalancerIngress[];
}

/** Follows a Gslb's reference. Total: what cannot be found or used is an outcome. */
export function resolveReference(gslb: Gslb, source: ReferenceSource): ResolvedReference {
  const target = referenceTarget(gslb);
  switch (target.by) {
    case "nothing":
      return failed(target, { reason: target.reason, message: target.message, gone: false });
    case "embedded": {
      // The hosts are the Gslb's own, whether the Ingress is there yet or not.
      const stored = source.get(target.kind, target.key);
      const servers = serversOfIngress(embeddedIngress(gslb));
      return {
        target,
        outcome: { kind: "resolved", servers },
        addresses: stored === undefined ? [] : addressesOf(target.kind.extract(stored, gslb)),
      };
    }
    case "name": {
      const object = source.get(target.kind, target.key);
      if (object !== undefined) return extracted(target, target.kind.extract(object, gslb));
      const message = `${target.kind.kind} ${target.key}, which spec.resourceRef names, does not exist; create it or correct the reference`;
      return failed(target, { reason: "NotFound", message, gone: true });
    }
    case "selector": {
      const found = source
        .list(target.kind, target.namespace)
        .filter((object) => matchesLabels(target.selector, object.metadata.labels));
      if (found.length === 1) return extracted(target, target.kind.extract(found[0]!, gslb));
      const message = `exactly 1 ${target.kind.kind} resource expected but ${found.length} were found in namespace ${target.namespace}; correct the labels or the selector of spec.resourceRef`;
      const isNone = found.length === 0;
      return failed(target, { reason: isNone ? "NotFound" : "NotExactlyOne", message, gone: isNone });
    }
  }
}

function addressesOf(result: Extracted): readonly LoadBalancerIngress[] {
  return result.problem === undefined ? result.addresses : [];
}

function extracted(target: ReferenceTarget, result: Extracted): ResolvedReference {
  return result.problem === undefined
    ? { target, outcome: { kind: "resolved", servers: result.servers }, addresses: result.addresses }
    : failed(target, { reason: "InvalidReference", message: result.problem, gone: false });
}

function failed(
  target: ReferenceTarget,
  why: Omit<Extract<ReferenceOutcome, { kind: "failed" }>, "kind">,
): ResolvedReference {
  return { target, outcome: { kind: "failed", ...why }, addresses: [] };
}
