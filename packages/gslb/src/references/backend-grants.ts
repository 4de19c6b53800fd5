import { labelSelectorFromSpec, objectKey } from "@meridian/kube";
import type { ReferenceProblem, ServiceRef } from "../decide/gslb-snapshot.ts";
import {
  gatewayGroup,
  referenceGrantObjects,
  type BackendReference,
  type ReferenceGrant,
  type Route,
} from "../resources/gateway-api.ts";
import { unreadKind, type Found } from "./find-object.ts";
import type { RecordedReads } from "./reference-source.ts";

/** The Services that a route sends anything to, and what is wrong with others. */
export interface RouteServices {
  readonly services: readonly ServiceRef[];
  readonly problems: readonly ReferenceProblem[];
}

/**
 * The Services that a route sends anything to. As with k8gb the kind of a backend is not looked at: a ServiceImport has the
 * name of its Service. One in another namespace needs a ReferenceGrant there. Where grants cannot be read, or the cluster
 * has no such kind, every backend counts.
 */
export function routeServices(kind: string, route: Route, reads: RecordedReads): Found<RouteServices> {
  const own = route.metadata.namespace ?? "";
  const backends = (route.spec?.rules ?? [])
    .flatMap(({ backendRefs = [] }) => backendRefs)
    .filter(({ name, weight }) => weight !== 0 && name !== "")
    .map((backend) => ({ ...backend, namespace: backend.namespace ?? own }));
  const services = (isRefused: (backend: (typeof backends)[number]) => boolean): readonly ServiceRef[] =>
    backends.map((backend) => ({
      ...{ namespace: backend.namespace, name: backend.name },
      ...(isRefused(backend) ? { isRefused: true } : {}),
    }));
  if (backends.every(({ namespace }) => namespace === own))
    return { is: "found", object: { services: services(() => false), problems: [] } };

  const unread = unreadKind(reads, referenceGrantObjects);
  if (unread?.is === "pending") return unread;
  if (unread !== undefined) {
    const { reason, message } = unread.why;
    const told = `${message}; backends in other namespaces are taken as granted`;
    const problems = reason === "KindUnreadable" ? [{ reason, message: told }] : [];
    return { is: "found", object: { services: services(() => false), problems } };
  }
  const isRefused = (backend: (typeof backends)[number]): boolean =>
    backend.namespace !== own &&
    !reads
      .select(referenceGrantObjects, everyGrant, backend.namespace)
      .some((grant) => grants(grant, { kind, namespace: own, backend }));
  const refused = new Set(
    backends.filter(isRefused).map((backend) => `${backend.namespace}/${backend.name}`),
  );
  const problems = [...refused].map((key) => ({
    reason: "RefNotPermitted" as const,
    message: `no ReferenceGrant in the namespace of ${key} lets ${kind} ${objectKey(route.metadata)} send requests to it; make one, or take the backend out`,
  }));
  return {
    is: "found",
    object: {
      services: services(({ namespace, name }) => refused.has(`${namespace}/${name}`)),
      problems,
    },
  };
}

const everyGrant = labelSelectorFromSpec({});

function grants(
  { spec }: ReferenceGrant,
  from: { readonly kind: string; readonly namespace: string; readonly backend: BackendReference },
): boolean {
  const { kind: backendKind = "Service", group: backendGroup = "", name: backendName } = from.backend;
  return (
    (spec?.from ?? []).some(
      ({ group, kind, namespace }) =>
        group === gatewayGroup && kind === from.kind && namespace === from.namespace,
    ) &&
    (spec?.to ?? []).some(
      ({ group, kind, name = "" }) =>
        group === backendGroup && kind === backendKind && (name === "" || name === backendName),
    )
  );
}
