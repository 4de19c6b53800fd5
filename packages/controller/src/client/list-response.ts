import { apiVersionOf } from "@meridian/kube";
import type { KubeList, KubeObject, ResourceType } from "@meridian/kube";

/**
 * A list as callers may rely on it: built-in lists leave `apiVersion` and `kind` of their items out, and some servers send
 * `null` for no items. `undefined` where the answer is no list.
 */
export function completeList<T extends KubeObject>(
  type: ResourceType,
  answer: object,
): KubeList<T> | undefined {
  const { items, metadata, apiVersion, kind } = answer as Partial<KubeList<T>> & {
    readonly items?: T[] | null;
  };
  if (metadata === undefined || (items !== null && !Array.isArray(items))) return undefined;
  const itemVersion = apiVersionOf(type);
  return {
    apiVersion: apiVersion ?? itemVersion,
    kind: kind ?? `${type.kind}List`,
    metadata,
    items: (items ?? []).map((item: T) =>
      item.kind === undefined || item.apiVersion === undefined
        ? { ...item, apiVersion: itemVersion, kind: type.kind }
        : item,
    ),
  };
}
