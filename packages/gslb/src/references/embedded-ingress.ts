import { deepEqual, ownerReferenceTo, type Ingress, type IngressRule } from "@meridian/kube";
import { managedByLabel } from "../resources/gslb-annotations.ts";
import type { Gslb } from "../resources/gslb.ts";
import { typeOfGslb } from "../resources/legacy-gslb.ts";

/** The Ingress that a Gslb's embedded spec asks for. No annotations are copied. */
export function embeddedIngress(gslb: Gslb): Ingress {
  const { name = "", namespace = "" } = gslb.metadata;
  const given = gslb.spec?.ingress ?? {};
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name,
      namespace,
      labels: { [managedByLabel]: "gslb" },
      ownerReferences: [ownerReferenceTo(gslb, typeOfGslb(gslb))],
    },
    spec: {
      ...(given.ingressClassName === undefined ? {} : { ingressClassName: given.ingressClassName }),
      ...(given.backend === undefined ? {} : { defaultBackend: given.backend }),
      ...(given.rules === undefined ? {} : { rules: given.rules satisfies readonly IngressRule[] }),
      ...(given.tls === undefined ? {} : { tls: given.tls }),
    },
  };
}

/**
 * The stored Ingress with the embedded spec in it, or the stored one itself where nothing differs. A class that the
 * embedded spec does not name is kept, since admission may have set it.
 */
export function withEmbeddedSpec(stored: Ingress, desired: Ingress): Ingress {
  const ingressClassName = desired.spec?.ingressClassName ?? stored.spec?.ingressClassName;
  const spec = { ...desired.spec, ...(ingressClassName === undefined ? {} : { ingressClassName }) };
  const isLabelled = stored.metadata.labels?.[managedByLabel] === "gslb";
  if (isLabelled && deepEqual(stored.spec ?? {}, spec)) return stored;
  const labels = { ...stored.metadata.labels, [managedByLabel]: "gslb" };
  return { ...stored, metadata: { ...stored.metadata, labels }, spec };
}
