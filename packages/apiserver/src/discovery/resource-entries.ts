import { reviews } from "../auth/reviews.ts";
import type { ServedResource, Verb } from "../resource/definition.ts";
import type { ApiGroup, ResourceRegistry } from "../resource/registry.ts";

/** One line of discovery: a resource, or a subresource of one. */
export interface ResourceEntry {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceEntry[];
}

/** A subresource in discovery; its kind may be of another group, as `Scale` is. */
export interface SubresourceEntry {
  readonly name: string;
  readonly kind: ResourceEntry["kind"];
  readonly verbs: readonly Verb[];
}

/** A group with its versions, as discovery shows it; the first version is the preferred one. */
export interface GroupEntry {
  readonly name: string;
  readonly versions: readonly { readonly name: string; readonly resources: readonly ResourceEntry[] }[];
}

/** Everything that is served, in the order of discovery: core, built-in groups, custom groups. */
export function groupEntries(registry: ResourceRegistry): readonly GroupEntry[] {
  const served = registry.groups();
  return [
    ...served.filter(({ custom }) => !custom).map((group) => entryOf(group)),
    ...reviewGroups(),
    ...served.filter(({ custom }) => custom).map((group) => entryOf(group)),
  ];
}

function entryOf(group: ApiGroup): GroupEntry {
  return {
    name: group.name,
    versions: group.versions.map(({ name, resources }) => ({
      name,
      resources: resources.map(resourceEntry),
    })),
  };
}

function resourceEntry(resource: ServedResource): ResourceEntry {
  const { definition, version } = resource;
  const kind = { group: definition.group, version: version.name, kind: definition.kind };
  const verbs: readonly Verb[] = ["get", "patch", "update"];
  return {
    plural: definition.plural,
    singular: definition.singular,
    namespaced: definition.namespaced,
    kind,
    verbs: definition.rules.verbs,
    shortNames: definition.shortNames,
    categories: definition.categories,
    subresources: [
      ...(definition.rules.holdsDeletion === undefined
        ? []
        : [{ name: "finalize", kind, verbs: ["update"] as const }]),
      ...(version.scale === undefined
        ? []
        : [{ name: "scale", kind: { group: "autoscaling", version: "v1", kind: "Scale" }, verbs }]),
      ...(version.hasStatus ? [{ name: "status", kind, verbs }] : []),
    ],
  };
}

function reviewGroups(): readonly GroupEntry[] {
  const groups = [...new Set(reviews.map(({ group }) => group))];
  return groups.map((name) => ({
    name,
    versions: [
      {
        name: "v1",
        resources: reviews
          .filter(({ group }) => group === name)
          .map(({ group, kind, namespaced, plural, singular, version }) => ({
            plural,
            singular,
            namespaced,
            kind: { group, version, kind },
            verbs: ["create"],
            shortNames: [],
            categories: [],
            subresources: [],
          })),
      },
    ],
  }));
}
