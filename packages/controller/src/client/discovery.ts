import type { ResourceType } from "@meridian/kube";
import { parseApiVersion } from "@meridian/kube";
import type { ApiError } from "./api-error.ts";
import { isApiError } from "./api-error.ts";
import type { KubeClient } from "./kube-client.ts";
import type { RequestOptions } from "./requests.ts";

/** A subresource of a resource: `status`, `scale`, `eviction`. */
export interface ApiSubresource {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** A resource that a server serves, in one of the versions in which it serves it. */
export interface ApiResource extends ResourceType {
  /** What kubectl prints for one of them: `deployment`. */
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ApiSubresource[];
}

/** What a server serves: groups in its order, versions of a group by its preference, resources in its order. */
export interface ApiDiscovery {
  readonly resources: readonly ApiResource[];
  /** Group versions of which the server could not say what is in them: those of aggregated servers that are away. */
  readonly failures: readonly { readonly groupVersion: string; readonly error?: ApiError }[];
}

/** Group versions of which an old server is asked at the same time. */
const requestsMax = 8;

const aggregated = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const accept = [aggregated("v2"), aggregated("v2beta1"), "application/json"].join(",");

/**
 * Asks a server what it serves: with two requests where it gives aggregated discovery (Kubernetes 1.30), else with one for
 * each version of each group. Group versions that fail are left out and named.
 *
 * @throws ApiError where the server does not tell its groups
 */
export async function discover(client: KubeClient, options: RequestOptions = {}): Promise<ApiDiscovery> {
  const ask = (path: string): Promise<unknown> => client.getRaw(path, { ...options, accept });
  const [core, groups] = await Promise.all([ask("/api").catch(absentIfMissing), ask("/apis")]);
  if (isAggregated(core) && isAggregated(groups)) {
    return joined([...core.items, ...groups.items].flatMap((group) => fromAggregatedGroup(group)));
  }
  const paths = [
    ...((core as ApiVersions | undefined)?.versions ?? ["v1"]).map((version) => `/api/${version}`),
    ...((groups as ApiGroupList).groups ?? []).flatMap(({ versions = [], preferredVersion }) =>
      preferredFirst(versions, preferredVersion).map(({ groupVersion }) => `/apis/${groupVersion}`),
    ),
  ];
  const parts: ApiDiscovery[] = [];
  for (let start = 0; start < paths.length; start += requestsMax) {
    const some = paths.slice(start, start + requestsMax);
    parts.push(...(await Promise.all(some.map((path) => groupVersion(client, path, options)))));
  }
  return joined(parts);
}

interface ApiVersions {
  readonly versions?: readonly string[];
}

interface ApiGroupList {
  readonly groups?: readonly {
    readonly versions?: readonly { readonly groupVersion: string }[];
    readonly preferredVersion?: { readonly groupVersion: string };
  }[];
}

interface ApiResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced?: boolean;
    readonly kind: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly AggregatedResource[];
  }[];
}

interface AggregatedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly singularResource?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string; readonly verbs?: readonly string[] }[];
}

function isAggregated(answer: unknown): answer is { readonly items: readonly AggregatedGroup[] } {
  const { kind, items } = (answer ?? {}) as { readonly kind?: unknown; readonly items?: unknown };
  return kind === "APIGroupDiscoveryList" && Array.isArray(items);
}

function fromAggregatedGroup({ metadata, versions = [] }: AggregatedGroup): readonly ApiDiscovery[] {
  const group = metadata?.name ?? "";
  return versions.map(({ version, freshness, resources = [] }) => ({
    // What an aggregated server said before it went away is old, and better than nothing.
    failures: freshness === "Stale" ? [{ groupVersion: group === "" ? version : `${group}/${version}` }] : [],
    resources: resources
      .filter(({ responseKind }) => responseKind?.kind !== undefined && responseKind.kind !== "")
      .map((resource) => ({
        group,
        version,
        plural: resource.resource,
        kind: resource.responseKind?.kind ?? "",
        namespaced: resource.scope === "Namespaced",
        singular: resource.singularResource ?? "",
        verbs: resource.verbs ?? [],
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        subresources: (resource.subresources ?? []).map(({ subresource, verbs = [] }) => ({
          name: subresource,
          verbs,
        })),
      })),
  }));
}

async function groupVersion(
  client: KubeClient,
  path: string,
  options: RequestOptions,
): Promise<ApiDiscovery> {
  const apiVersion = path.replace(/^\/apis?\//, "");
  try {
    const { resources = [] } = (await client.getRaw(path, options)) as ApiResourceList;
    return { resources: fromLegacyList(apiVersion, resources), failures: [] };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { resources: [], failures: [{ groupVersion: apiVersion, error }] };
  }
}

function fromLegacyList(
  apiVersion: string,
  entries: NonNullable<ApiResourceList["resources"]>,
): readonly ApiResource[] {
  return entries
    .filter(({ name }) => !name.includes("/"))
    .map((entry) => ({
      ...parseApiVersion(apiVersion),
      plural: entry.name,
      kind: entry.kind,
      namespaced: entry.namespaced === true,
      singular: entry.singularName ?? "",
      verbs: entry.verbs ?? [],
      shortNames: entry.shortNames ?? [],
      categories: entry.categories ?? [],
      subresources: entries
        .filter(({ name }) => name.startsWith(`${entry.name}/`))
        .map(({ name, verbs = [] }) => ({ name: name.slice(entry.name.length + 1), verbs })),
    }));
}

function preferredFirst<V extends { readonly groupVersion: string }>(
  versions: readonly V[],
  preferred: { readonly groupVersion: string } | undefined,
): readonly V[] {
  const isPreferred = (version: V): boolean => version.groupVersion === preferred?.groupVersion;
  return [...versions.filter(isPreferred), ...versions.filter((version) => !isPreferred(version))];
}

function joined(parts: readonly ApiDiscovery[]): ApiDiscovery {
  return {
    resources: parts.flatMap(({ resources }) => resources),
    failures: parts.flatMap(({ failures }) => failures),
  };
}

/** A server without the core group is one, too. */
function absentIfMissing(error: unknown): undefined {
  if (isApiError(error) && error.code === 404) return undefined;
  throw error;
}
