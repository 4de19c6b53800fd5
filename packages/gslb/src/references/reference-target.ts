import { labelSelectorFromSpec, matchesLabels, type KubeObject, type LabelSelector } from "@meridian/kube";
import type { Gslb, ResourceReference } from "../resources/gslb.ts";
import { ingressKind, referenceKinds, type ReferenceKind } from "./reference-kinds.ts";

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
  | {
      readonly by: "nothing";
      readonly reason: "UnsupportedKind" | "InvalidReference";
      readonly message: string;
    };

/** Reads a Gslb's reference. One that has any field set wins over the embedded Ingress; a name wins over a selector. */
export function referenceTarget(gslb: Gslb): ReferenceTarget {
  const { name = "", namespace = "" } = gslb.metadata;
  const ref = gslb.spec?.resourceRef;
  if (ref === undefined || isEmpty(ref)) {
    return gslb.spec?.ingress === undefined
      ? nothing(
          "InvalidReference",
          "neither spec.resourceRef nor spec.ingress is set; refer to an Ingress or embed one",
        )
      : { by: "embedded", kind: ingressKind, key: `${namespace}/${name}` };
  }
  const kind = referenceKinds.find((each) => each.kind === ref.kind && each.apiVersion === ref.apiVersion);
  if (kind === undefined) {
    const supported = referenceKinds.map((each) => `${each.apiVersion} ${each.kind}`).join(", ");
    return nothing(
      "UnsupportedKind",
      `APIVersion:${ref.apiVersion ?? ""}, Kind:${ref.kind ?? ""} not supported; spec.resourceRef must be one of ${supported}`,
    );
  }
  if (ref.name !== undefined && ref.name !== "")
    return {
      by: "name",
      kind,
      key: `${ref.namespace === undefined || ref.namespace === "" ? namespace : ref.namespace}/${ref.name}`,
    };
  if (!hasSelector(ref))
    return nothing("InvalidReference", "neither name nor label selector specified in ResourceRef");
  try {
    return { by: "selector", kind, namespace, selector: labelSelectorFromSpec(selectorSpec(ref)) };
  } catch (error) {
    return nothing(
      "InvalidReference",
      `the label selector of spec.resourceRef is invalid: ${(error as Error).message}`,
    );
  }
}

/** Whether a target may lead to an object, so that a change of the object concerns the Gslb. */
export function leadsTo(target: ReferenceTarget, kind: ReferenceKind, object: KubeObject): boolean {
  const { namespace = "", name = "" } = object.metadata;
  switch (target.by) {
    case "embedded":
    case "name":
      return target.kind === kind && target.key === `${namespace}/${name}`;
    case "selector":
      return (
        target.kind === kind &&
        target.namespace === namespace &&
        matchesLabels(target.selector, object.metadata.labels)
      );
    case "nothing":
      return false;
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

function nothing(reason: "UnsupportedKind" | "InvalidReference", message: string): ReferenceTarget {
  return { by: "nothing", reason, message };
}
