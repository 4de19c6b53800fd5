import { deepEqual, findCondition, type Ingress, type KubeObject, type Service } from "@meridian/kube";
import { ingressObjects, serviceObjects } from "../resources/core-kinds.ts";
import { parentsOf, refusalOf } from "../references/route-parents.ts";
import { gatewayGroup, gatewayObjects, type Gateway, type Route } from "../resources/gateway-api.ts";
import { managedByLabel } from "../resources/gslb-annotations.ts";
import { excludedLabel, nodeObjects, type Node } from "../resources/node.ts";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";

/**
 * Whether two states of an object say the same to a Gslb that has found it. What others write into it all the time (how many
 * routes a listener has, who wrote which field) is no news.
 */
export function saySame(kind: ObjectKind, old: KubeObject, now: KubeObject): boolean {
  return old.metadata.uid === now.metadata.uid && deepEqual(saidBy(kind, old), saidBy(kind, now));
}

function saidBy(kind: ObjectKind, object: KubeObject): unknown {
  switch (kindName(kind)) {
    case kindName(ingressObjects): {
      const { metadata, spec, status } = object as Ingress;
      // Whose an embedded one is.
      return [
        spec,
        status?.loadBalancer?.ingress,
        metadata.ownerReferences,
        metadata.labels?.[managedByLabel],
      ];
    }
    case kindName(serviceObjects): {
      const { spec, status } = object as Service;
      return [spec?.type, status?.loadBalancer?.ingress, spec?.externalTrafficPolicy, spec?.ipFamilies];
    }
    case kindName(nodeObjects): {
      const { metadata, status } = object as Node;
      return [status, metadata.labels?.[excludedLabel]];
    }
    case kindName(gatewayObjects): {
      const { spec, status } = object as Gateway;
      const programmed = findCondition(status?.conditions, "Programmed")?.status;
      return [spec?.listeners, status?.addresses, programmed];
    }
    default: {
      const { spec } = object as { readonly spec?: unknown };
      return kind.group === gatewayGroup ? [spec, refusals(object)] : spec;
    }
  }
}

/** Of a route's status only who does not accept it; all of one that is not as its kind should be. */
function refusals(route: Route): unknown {
  try {
    return parentsOf(route).map((parent) => refusalOf(parent, route));
  } catch {
    return route.status;
  }
}
