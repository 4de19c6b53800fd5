import { findCondition, objectKey } from "@meridian/kube";
import {
  gatewayGroup,
  gatewayObjects,
  listenerSetObjects,
  type Gateway,
  type Listener,
  type ListenerSet,
  type ParentReference,
  type Route,
} from "../resources/gateway-api.ts";
import { findObject, type Found } from "./find-object.ts";
import type { RecordedReads } from "./reference-source.ts";

/** What a route attaches to that has addresses; a Service, for a mesh, has none. */
export function parentsOf(route: Route): readonly ParentReference[] {
  return (route.spec?.parentRefs ?? []).filter(
    ({ group = gatewayGroup, kind = "Gateway" }) =>
      group === gatewayGroup && ["Gateway", "ListenerSet"].includes(kind),
  );
}

/** Why a parent does not serve a route, as its controller says in the route's status; `undefined` where it does not say so. */
export function refusalOf(parent: ParentReference, route: Route): string | undefined {
  const accepted = (route.status?.parents ?? [])
    .filter(({ parentRef }) => parentRef !== undefined && isSameParent(parentRef, parent, route))
    .flatMap(({ conditions }) => findCondition(conditions, "Accepted") ?? []);
  const refused = accepted.find(({ status }) => status === "False");
  if (refused === undefined || accepted.some(({ status }) => status === "True")) return undefined;
  return `${parentName(parent, route)} does not accept it: ${refused.reason}${refused.message === "" ? "" : `, ${refused.message}`}`;
}

/** `Gateway demo/edge` */
export function parentName(parent: ParentReference, route: Route): string {
  return `${parent.kind ?? "Gateway"} ${keyOf(parent, route)}`;
}

/** The Gateway that a parent is or belongs to. */
export function gatewayOf(parent: ParentReference, route: Route, reads: RecordedReads): Found<Gateway> {
  const namedBy = objectKey(route.metadata);
  if (parent.kind !== "ListenerSet")
    return findObject(reads, gatewayObjects, { key: keyOf(parent, route), namedBy });
  const set = listenerSetOf(parent, route, reads);
  if (set.is !== "found") return set;
  const { metadata, spec } = set.object;
  const { namespace = metadata.namespace ?? "", name = "" } = spec?.parentRef ?? {};
  return findObject(reads, gatewayObjects, { key: `${namespace}/${name}`, namedBy: objectKey(metadata) });
}

/** The listeners of a parent, all of them. */
export function listenersOf(
  parent: ParentReference,
  route: Route,
  reads: RecordedReads,
): Found<readonly Listener[]> {
  const at = { key: keyOf(parent, route), namedBy: objectKey(route.metadata), part: "spec" } as const;
  const found =
    parent.kind === "ListenerSet"
      ? listenerSetOf(parent, route, reads)
      : findObject(reads, gatewayObjects, at);
  return found.is === "found" ? { is: "found", object: found.object.spec?.listeners ?? [] } : found;
}

function listenerSetOf(parent: ParentReference, route: Route, reads: RecordedReads): Found<ListenerSet> {
  const at = { key: keyOf(parent, route), namedBy: objectKey(route.metadata) };
  return findObject(reads, listenerSetObjects, at);
}

function keyOf({ namespace, name }: ParentReference, { metadata }: Route): string {
  return `${namespace ?? metadata.namespace ?? ""}/${name}`;
}

function isSameParent(one: ParentReference, other: ParentReference, route: Route): boolean {
  return (
    (one.group ?? gatewayGroup) === (other.group ?? gatewayGroup) &&
    parentName(one, route) === parentName(other, route) &&
    one.sectionName === other.sectionName &&
    one.port === other.port
  );
}
