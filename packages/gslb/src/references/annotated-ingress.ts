import {
  apiVersionOf,
  controllerOf,
  deepEqual,
  ingressType,
  ownerReferenceTo,
  type Ingress,
} from "@meridian/kube";
import {
  exposedAddressesAnnotation,
  primaryAnnotation,
  strategyAnnotation,
  ttlAnnotation,
} from "../resources/gslb-annotations.ts";
import type { Gslb } from "../resources/gslb.ts";
import { isGslbReference } from "../resources/owner.ts";
import { gslbType } from "../resources/resource-types.ts";

/** As k8gb has it. */
const defaultTtlSeconds = 30;

/** What an Ingress' annotations ask for. */
export type AnnotatedIngress =
  | { readonly asks: "nothing" }
  /** Exactly the fields that the annotations stand for; everything else of the Gslb is its user's. */
  | { readonly asks: "gslb"; readonly gslb: Gslb }
  | { readonly asks: "refused"; readonly problem: string };

/** Reads the annotations from which a Gslb is made. An Ingress that is itself made from a Gslb asks for nothing. */
export function annotatedIngress(ingress: Ingress): AnnotatedIngress {
  const { name = "", namespace = "", annotations = {}, ownerReferences = [] } = ingress.metadata;
  const type = annotations[strategyAnnotation];
  if (type === undefined || ownerReferences.some(isGslbReference)) return { asks: "nothing" };
  const primaryGeoTag = annotations[primaryAnnotation] ?? "";
  const problems: string[] = [];
  if (type === "failover" && primaryGeoTag === "")
    problems.push(
      `annotation ${strategyAnnotation} is failover, which needs ${primaryAnnotation}; set it, for example to eu`,
    );
  const ttl = annotations[ttlAnnotation] ?? String(defaultTtlSeconds);
  if (!/^\d{1,10}$/.test(ttl.trim()))
    problems.push(
      `annotation ${ttlAnnotation} is ${JSON.stringify(ttl)}; it must be a whole number of seconds, for example 30`,
    );
  if (problems.length > 0) return { asks: "refused", problem: problems.join("; ") };
  const exposed = annotations[exposedAddressesAnnotation];
  return {
    asks: "gslb",
    gslb: {
      apiVersion: apiVersionOf(gslbType),
      kind: gslbType.kind,
      metadata: {
        ...{ name, namespace },
        ...(exposed === undefined ? {} : { annotations: { [exposedAddressesAnnotation]: exposed } }),
        ownerReferences: [ownerReferenceTo(ingress, ingressType)],
      },
      spec: {
        resourceRef: { apiVersion: apiVersionOf(ingressType), kind: ingressType.kind, name },
        strategy: {
          type,
          dnsTtlSeconds: Number(ttl),
          ...(primaryGeoTag === "" ? {} : { primaryGeoTag }),
        },
      },
    },
  };
}

/** Whether a Gslb says all that is asked for. */
export function saysWhatIsAsked(gslb: Gslb, asked: Gslb): boolean {
  const { type, dnsTtlSeconds, primaryGeoTag } = asked.spec?.strategy ?? {};
  const exposed = asked.metadata.annotations?.[exposedAddressesAnnotation];
  return (
    controllerOf(gslb)?.uid === controllerOf(asked)?.uid &&
    deepEqual(gslb.spec?.resourceRef, asked.spec?.resourceRef) &&
    gslb.spec?.strategy?.type === type &&
    gslb.spec?.strategy?.dnsTtlSeconds === dnsTtlSeconds &&
    (primaryGeoTag === undefined || gslb.spec?.strategy?.primaryGeoTag === primaryGeoTag) &&
    (exposed === undefined || gslb.metadata.annotations?.[exposedAddressesAnnotation] === exposed)
  );
}

/** Whether a Gslb says what the annotations could have said and do not say: it may be from before. */
export function saysMoreThanAsked(gslb: Gslb, asked: Gslb): boolean {
  const isLeft = (now: unknown, then: unknown): boolean => then === undefined && now !== undefined;
  return (
    isLeft(gslb.spec?.strategy?.primaryGeoTag, asked.spec?.strategy?.primaryGeoTag) ||
    isLeft(
      gslb.metadata.annotations?.[exposedAddressesAnnotation],
      asked.metadata.annotations?.[exposedAddressesAnnotation],
    )
  );
}
