import { apiVersionOf } from "@meridian/kube";
import type { GroupEntry, ResourceEntry } from "./resource-entries.ts";

/** `/api`: the versions of the core group. */
export function apiVersions(): unknown {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
}

/** `/apis`: all groups but the core group. */
export function apiGroupList(groups: readonly GroupEntry[]): unknown {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.filter(({ name }) => name !== "").map((group) => groupBody(group)),
  };
}

/** `/apis/GROUP`. */
export function apiGroup(group: GroupEntry): unknown {
  return { kind: "APIGroup", apiVersion: "v1", ...groupBody(group) };
}

function groupBody({ name, versions }: GroupEntry): Readonly<Record<string, unknown>> {
  const all = versions.map((version) => ({
    groupVersion: apiVersionOf({ group: name, version: version.name }),
    version: version.name,
  }));
  return { name, versions: all, preferredVersion: all[0] };
}

/** `/api/v1` and `/apis/GROUP/VERSION`. */
export function apiResourceList(groupVersion: string, resources: readonly ResourceEntry[]): unknown {
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: resources.flatMap(linesOf) };
}

/** Subresources are lines of their own; the group and version stand there only where they are others. */
function linesOf(entry: ResourceEntry): readonly unknown[] {
  const { categories, kind, namespaced, plural, shortNames, singular, subresources, verbs } = entry;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: kind.kind,
      verbs,
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    },
    ...subresources.map((sub) => ({
      name: `${plural}/${sub.name}`,
      singularName: "",
      namespaced,
      ...(sub.kind.group !== kind.group && { group: sub.kind.group, version: sub.kind.version }),
      kind: sub.kind.kind,
      verbs: sub.verbs,
    })),
  ];
}
