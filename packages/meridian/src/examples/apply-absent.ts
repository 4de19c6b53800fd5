import type { KubeClient } from "@meridian/controller";
import { parseApiVersion, type KubeObject, type ResourceType } from "@meridian/kube";
import { MeridianError } from "../meridian-error.ts";
import { describeManifest, type Manifest } from "./manifests.ts";

/** What `kubectl apply` sent last, to tell what the next manifest leaves out; it warns where there is none. */
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** What was done with one object. */
export type ApplyOutcome = "created" | "kept";

/**
 * Creates the objects that are not there yet, in their order, and leaves the others as their owner made them: a second
 * start does not undo what a person changed. A status goes to the status subresource, where there is none yet.
 *
 * @throws MeridianError `BadFile` for a kind that the server does not serve; StatusError for an object it refuses
 */
export async function applyAbsent(
  client: KubeClient,
  manifests: readonly Manifest[],
  options: { readonly signal: AbortSignal },
): Promise<readonly ApplyOutcome[]> {
  const types = new Map<string, Promise<readonly ServedResource[]>>();
  const outcomes: ApplyOutcome[] = [];
  for (const { status, ...object } of manifests) {
    const served = types.get(object.apiVersion) ?? servedResources(client, object.apiVersion);
    types.set(object.apiVersion, served);
    const type = resourceType(object, await served);
    const ref = type.namespaced ? { namespace: "default", ...object.metadata } : object.metadata;
    const { name = "", namespace } = ref;
    const place = namespace === undefined ? { name } : { name, namespace };

    // Created first and read only then: the operator may make the same ZoneDelegation between a read and a create.
    const created = (await unless(409, client.create(type, asApplied(object), options))) !== undefined;
    const existing = created ? undefined : await client.get<Manifest>(type, place, options);
    outcomes.push(created ? "created" : "kept");
    if (status !== undefined && !hasStatus(existing)) {
      await client.patch(type, place, { type: "merge", subresource: "status", body: { status }, ...options });
    }
  }
  return outcomes;
}

/** As `kubectl apply` would have created it. */
function asApplied(object: KubeObject): KubeObject {
  const annotations = {
    ...object.metadata.annotations,
    [lastAppliedAnnotation]: `${JSON.stringify(object)}\n`,
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

interface ServedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

async function servedResources(client: KubeClient, apiVersion: string): Promise<readonly ServedResource[]> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const found = (await unless(404, client.getRaw(path))) as
    { resources?: readonly ServedResource[] } | undefined;
  return found?.resources ?? [];
}

function resourceType(object: KubeObject, served: readonly ServedResource[]): ResourceType {
  const resource = served.find(({ name, kind }) => kind === object.kind && !name.includes("/"));
  if (resource === undefined) {
    throw new MeridianError(
      "BadFile",
      `cannot apply ${describeManifest(object)}: the server has no ${object.kind} in ${object.apiVersion}`,
    );
  }
  const { kind, namespaced, name: plural } = resource;
  return { ...parseApiVersion(object.apiVersion), kind, namespaced, plural };
}

/** An Ingress that was just made has an empty load balancer in its status. */
function hasStatus(existing: Manifest | undefined): boolean {
  const status = existing?.status as
    { readonly loadBalancer?: { readonly ingress?: readonly unknown[] } } | undefined;
  return (status?.loadBalancer?.ingress?.length ?? 0) > 0;
}

/** The answer, or `undefined` where the server refuses with this code. */
async function unless<T>(code: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === code) return undefined;
    throw error;
  }
}
