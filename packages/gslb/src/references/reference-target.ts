import { labelSelectorFromSpec, type LabelSelector } from "@meridian/kube";
import type { ReferenceFailure } from "../decide/gslb-snapshot.ts";
import type { Gslb, ResourceReference } from "../resources/gslb.ts";
import { ingressKind } from "./ingress-kind.ts";
import type { ReferenceKind } from "./reference-kind.ts";
import { referenceKindOf, supportedText } from "./reference-kinds.ts";

/** Which object a Gslb refers to. */
export type ReferenceTarget =
  /** The Ingress made from the Gslb's own spec, of its name. */
  | { readonly by: "embedded"; readonly kind: ReferenceKind; readonly key: string }
  | { readonly by: "name"; readonly kind: ReferenceKind; readonly key: string }
  /** The one object in the namespace that the selector matches. */
  | {
      readonly by: "selector";
      readonly kind: ReferenceKind;
      readonly namespace: string;
      readonly selector: LabelSelector;
    }
  | { readonly by: "nothing"; readonly why: ReferenceFailure };

/**
 * Reads a Gslb's reference. One that has any field set wins over the embedded Ingress; a name wins over a selector. Both look
 * in the namespace that the reference names, or else in the Gslb's.
 */
export function referenceTarget(gslb: Gslb): ReferenceTarget {
  const { name = "", namespace: ownNamespace = "" } = gslb.metadata;
  const ref = gslb.spec?.resourceRef;
  if (ref === undefined || isEmpty(ref)) {
    return gslb.spec?.ingress === undefined
      ? nothing(
          "InvalidReference",
          "neither spec.resourceRef nor spec.ingress is set; refer to an object or embed an Ingress",
        )
      : { by: "embedded", kind: ingressKind, key: `${ownNamespace}/${name}` };
  }
  const kind = referenceKindOf(ref);
  if (kind === undefined)
    return nothing(
      "UnsupportedKind",
      `APIVersion:${ref.apiVersion ?? ""}, Kind:${ref.kind ?? ""} not supported; ${supportedText(ref)}`,
    );
  const namespace = ref.namespace === undefined || ref.namespace === "" ? ownNamespace : ref.namespace;
  if (ref.name !== undefined && ref.name !== "") return { by: "name", kind, key: `${namespace}/${ref.name}` };
  if (!hasSelector(ref))
    return nothing(
      "InvalidReference",
      "neither name nor label selector specified in ResourceRef; set spec.resourceRef.name or spec.resourceRef.matchLabels",
    );
  try {
    return { by: "selector", kind, namespace, selector: labelSelectorFromSpec(selectorSpec(ref)) };
  } catch (error) {
    return nothing(
      "InvalidReference",
      `the label selector of spec.resourceRef is invalid: ${(error as Error).message}`,
    );
  }
}

function isEmpty(ref: ResourceReference): boolean {
  return Object.values(ref).every(
    (value) =>
      value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0),
  );
}

function hasSelector(ref: ResourceReference): boolean {
  return Object.keys(ref.matchLabels ?? {}).length > 0 || (ref.matchExpressions ?? []).length > 0;
}

function selectorSpec(ref: ResourceReference): Parameters<typeof labelSelectorFromSpec>[0] {
  return {
    ...(ref.matchLabels === undefined ? {} : { matchLabels: ref.matchLabels }),
    ...(ref.matchExpressions === undefined ? {} : { matchExpressions: ref.matchExpressions }),
  };
}

function nothing(reason: ReferenceFailure["reason"], message: string): ReferenceTarget {
  return { by: "nothing", why: { reason, message, gone: false } };
}
