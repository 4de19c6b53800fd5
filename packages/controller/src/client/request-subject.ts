import type { ResourceType } from "@meridian/kube";

/** What a request does to what: how errors and logs name it. */
export interface RequestSubject {
  readonly verb: string;
  /** The collection with its group, `gslbs.k8gb.io`, or a path. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Where a request goes within a type. */
export interface SubjectPlace {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The subject of a request to a type. */
export function subjectOf(verb: string, type: ResourceType, place: SubjectPlace = {}): RequestSubject {
  const { namespace, name, subresource } = place;
  return {
    verb,
    resource: resourceName(type),
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined || namespace === "" ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

/** `get configmaps default/web`, `update gslbs.k8gb.io/status default/web`, `list services`. */
export function describeSubject({ verb, resource, subresource, namespace, name }: RequestSubject): string {
  const path = [namespace, name].filter((part) => part !== undefined && part !== "").join("/");
  const collection = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${collection}${path === "" ? "" : ` ${path}`}`;
}

/** A collection with its group: `services`, `gslbs.k8gb.io`. */
export function resourceName(type: { readonly group: string; readonly plural: string }): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}
