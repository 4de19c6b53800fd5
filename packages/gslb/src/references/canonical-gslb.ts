import { apiVersionOf, deepEqual, ingressType } from "@meridian/kube";
import type { Gslb, GslbSpec } from "../resources/gslb.ts";
import { gslbType } from "../resources/resource-types.ts";
import { referenceTarget } from "./reference-target.ts";

const ttlSecondsDefault = 30;

/**
 * The Gslb of the present group that follows a legacy one: all that it asks for, and its annotations; its labels are about the
 * move. The Ingress of an embedded spec becomes an object of its own, which the new Gslb refers to.
 */
export function canonicalGslb(legacy: Gslb): Gslb {
  const { name = "", namespace = "", annotations } = legacy.metadata;
  return {
    apiVersion: apiVersionOf(gslbType),
    kind: gslbType.kind,
    metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations: { ...annotations } }) },
    ...(legacy.spec === undefined ? {} : { spec: canonicalSpec(legacy, legacy.spec) }),
  };
}

function canonicalSpec(legacy: Gslb, { strategy, resourceRef, ingress }: GslbSpec): GslbSpec {
  const { name = "", namespace = "" } = legacy.metadata;
  const reference = isEmbedding(legacy)
    ? { resourceRef: { apiVersion: apiVersionOf(ingressType), kind: ingressType.kind, name, namespace } }
    : {
        ...(resourceRef === undefined ? {} : { resourceRef }),
        ...(ingress === undefined ? {} : { ingress }),
      };
  return { ...(strategy === undefined ? {} : { strategy }), ...reference };
}

/** Whether the Ingress of its name was made from it. */
export function isEmbedding(gslb: Gslb): boolean {
  return referenceTarget(gslb).by === "embedded" && Object.keys(gslb.spec?.ingress ?? {}).length > 0;
}

/** In which fields a Gslb asks for something else than the one that would be made of a legacy one. */
export function specDifferences(legacy: Gslb, canonical: Gslb): readonly string[] {
  const asked = comparable(canonicalGslb(legacy).spec);
  const found = comparable(canonical.spec);
  return Object.keys(found)
    .filter((field) => !deepEqual(asked[field], found[field]))
    .map((field) => `spec.${field}`);
}

/** With what an absent or empty field stands for, as k8gb may have filled it in. */
function comparable(spec: GslbSpec = {}): Readonly<Record<string, unknown>> {
  const { strategy = {}, serviceHealthPolicy = "Any", resourceRef = {}, ingress = {} } = spec;
  const ttl = strategy.dnsTtlSeconds ?? 0;
  return {
    strategy: { ...strategy, dnsTtlSeconds: ttl === 0 ? ttlSecondsDefault : ttl },
    serviceHealthPolicy,
    resourceRef,
    ingress,
  };
}
