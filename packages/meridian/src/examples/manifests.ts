import { objectKey, type KubeObject } from "@meridian/kube";
import { parseAllDocuments } from "yaml";
import { MeridianError } from "../meridian-error.ts";

/** A file with manifests, as it stands in the examples' folder. */
export interface ManifestFile {
  /** Path within the folder, for messages. */
  readonly path: string;
  readonly text: string;
}

/** An object of a manifest, with the status that only the playground sets. */
export interface Manifest extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** Reads the objects of a file, in their order. @throws MeridianError `BadFile` with file and line */
export function parseManifests(file: ManifestFile): readonly Manifest[] {
  const manifests: Manifest[] = [];
  for (const document of parseAllDocuments(file.text)) {
    if ("errors" in document && document.errors.length > 0) {
      const at = document.errors[0];
      throw new MeridianError("BadFile", `${file.path}: ${at?.message.replaceAll("\n", " ") ?? "not YAML"}`);
    }
    const value: unknown = document.toJS();
    if (value === null) continue;
    if (!isManifest(value)) {
      throw new MeridianError("BadFile", `${file.path}: a document lacks apiVersion, kind or metadata.name`);
    }
    manifests.push(value);
  }
  return manifests;
}

/** Names an object as kubectl's users do: `Gslb demo/failover`. */
export function describeManifest(manifest: KubeObject): string {
  return `${manifest.kind} ${objectKey(manifest.metadata)}`;
}

/** The objects of one cluster: what all clusters have, with the status that this one adds. */
export function withStatus(shared: readonly Manifest[], own: readonly Manifest[]): readonly Manifest[] {
  const statusOf = new Map(own.map((manifest) => [identity(manifest), manifest.status]));
  const known = new Set(shared.map(identity));
  const more = own.filter((manifest) => !known.has(identity(manifest)));
  return [
    ...shared.map((manifest) => {
      const status = statusOf.get(identity(manifest));
      return status === undefined ? manifest : { ...manifest, status };
    }),
    ...more,
  ];
}

/** What an ingress controller would report in a cluster that the examples have no file for. */
export function generatedStatus(shared: readonly Manifest[], clusterIndex: number): readonly Manifest[] {
  // 198.18.0.0/15 is for tests between networks (RFC 2544), so nothing real has these addresses.
  const ingress = [1, 2].map((host) => ({ ip: `198.18.${clusterIndex}.${host}` }));
  return shared
    .filter((manifest) => manifest.kind === "Ingress")
    .map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      metadata,
      status: { loadBalancer: { ingress } },
    }));
}

/** The clusters that a file's objects name by geo tag and that a fleet does not have. */
export function missingClusters(
  manifests: readonly Manifest[],
  geoTags: readonly string[],
): readonly string[] {
  const named = manifests.flatMap((manifest) => {
    const spec = manifest.spec as {
      readonly strategy?: { readonly weight?: object; readonly primaryGeoTag?: string };
    };
    const { weight = {}, primaryGeoTag } = spec?.strategy ?? {};
    return [...Object.keys(weight), ...(primaryGeoTag === undefined ? [] : [primaryGeoTag])];
  });
  return [...new Set(named)].filter((tag) => !geoTags.includes(tag));
}

function identity(manifest: KubeObject): string {
  return `${manifest.apiVersion} ${manifest.kind} ${objectKey(manifest.metadata)}`;
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  return typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string";
}
