import { apiVersionOf, objectKey, type EndpointSlice, type KubeObject } from "@meridian/kube";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";
import type { CopyState, ReferenceSource } from "../references/reference-source.ts";

/** Complete copies of some objects; kinds that `states` names stand otherwise. */
export function fakeSource(
  objects: readonly KubeObject[],
  states: Readonly<Record<string, CopyState>> = {},
): ReferenceSource {
  const ofKind = <T extends KubeObject>({ group, kind, versions }: ObjectKind<T>): readonly T[] =>
    objects.filter(
      (object) =>
        object.kind === kind &&
        versions.some((version) => apiVersionOf({ group, version }) === object.apiVersion),
    ) as T[];
  return {
    state: (kind) => states[kindName(kind)] ?? { is: "complete" },
    get: (kind, key) =>
      ofKind(kind).find(({ metadata }) => objectKey(metadata) === key),
    slicesOf: (serviceKey) => objects.filter(
        ({ kind, metadata }) =>
          kind === "EndpointSlice" &&
          `${metadata.namespace}/${metadata.labels?.["kubernetes.io/service-name"]}` === serviceKey,
      ) as readonly KubeObject[] as readonly EndpointSlice[],
    list: (kind, namespace) =>
      ofKind(kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  };
}
