import type { GroupEntry, ResourceEntry } from "./resource-entries.ts";

/** Everything at once: `/api` and `/apis` for clients that ask for it (apidiscovery.k8s.io APIGroupDiscoveryList). */
export function aggregatedDiscovery(groups: readonly GroupEntry[], version: "v2" | "v2beta1"): unknown {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: { name, creationTimestamp: null },
      versions: versions.map((of) => ({
        version: of.name,
        freshness: "Current",
        resources: of.resources.map(discoveryOf),
      })),
    })),
  };
}

function discoveryOf(entry: ResourceEntry): unknown {
  const { categories, kind, namespaced, plural, shortNames, singular, subresources, verbs } = entry;
  return {
    resource: plural,
    responseKind: kind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((sub) => ({
        subresource: sub.name,
        responseKind: sub.kind,
        verbs: sub.verbs,
      })),
    }),
  };
}
