/** Whether any healthy service is enough for a host, or all must be. */
export type ServiceHealthPolicy = "Any" | "All";

/** What stands behind one Service: a ready endpoint, none, or not even the Service. */
export type BackendHealth = "healthy" | "unhealthy" | "notFound";

/** The verdict on a host, in the words of `status.serviceHealth`. */
export type HostHealth = "Healthy" | "Unhealthy" | "NotFound";

/**
 * Judges a host by its Services.
 *
 * `Any`: one healthy Service is enough, and one unhealthy hides missing ones. `All`: a missing Service counts before an
 * unhealthy one. A host without Services is `NotFound`.
 */
export function hostHealth(policy: ServiceHealthPolicy, backends: readonly BackendHealth[]): HostHealth {
  const has = (health: BackendHealth): boolean => backends.includes(health);
  if (policy === "All") {
    if (has("notFound") || backends.length === 0) return "NotFound";
    return has("unhealthy") ? "Unhealthy" : "Healthy";
  }
  if (has("healthy")) return "Healthy";
  return has("unhealthy") ? "Unhealthy" : "NotFound";
}

/** The part of an EndpointSlice that health depends on. */
export interface SliceEndpoints {
  readonly endpoints?:
    | readonly {
        readonly addresses?: readonly string[] | null;
        readonly conditions?: { readonly ready?: boolean | null };
        readonly nodeName?: string;
      }[]
    | null;
}

/** How many endpoints of a slice are ready: at least one address, and `ready` true or absent (which means true). */
export function readyEndpoints(slice: SliceEndpoints): number {
  return (slice.endpoints ?? []).filter(isReady).length;
}

/** The nodes on which a slice has ready endpoints, each once and in order. */
export function readyNodes(slice: SliceEndpoints): readonly string[] {
  const names = (slice.endpoints ?? []).filter(isReady).flatMap(({ nodeName }) => nodeName ?? []);
  return [...new Set(names)].sort();
}

function isReady({ addresses, conditions }: NonNullable<SliceEndpoints["endpoints"]>[number]): boolean {
  return (addresses ?? []).length > 0 && (conditions?.ready ?? true);
}
