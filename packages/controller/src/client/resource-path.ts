import type { ResourceType } from "@meridian/kube";

/** One object of a known type. `namespace` is absent for cluster-scoped types. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** The path of a collection; without a namespace, that of all namespaces. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const base = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope =
    namespace === undefined || namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${base}${scope}/${type.plural}`;
}

/** The path of one object, or of one of its subresources. */
export function objectPath(type: ResourceType, ref: ObjectRef, subresource?: string): string {
  const path = `${collectionPath(type, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** A path with its query; parameters that are `undefined` are left out. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join("&");
  return query === "" ? path : `${path}?${query}`;
}

/** How errors and logs name what was asked for: `services default/web`, `gslbs.k8gb.io`. */
export function describeTarget(
  type: ResourceType,
  ref?: { readonly namespace?: string | undefined; readonly name?: string },
): string {
  const collection = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
  const name = [ref?.namespace, ref?.name].filter((part) => part !== undefined && part !== "").join("/");
  return name === "" ? collection : `${collection} ${name}`;
}
