import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  generatedStatus,
  missingClusters,
  parseManifests,
  withStatus,
  type Manifest,
  type ManifestFile,
} from "./manifests.ts";

/** The examples of a fleet. */
export interface ExampleObjects {
  /** The objects of each cluster, by its name. */
  readonly ofCluster: ReadonlyMap<string, readonly Manifest[]>;
  /** Files that name clusters which this fleet does not have. */
  readonly leftOut: readonly { readonly path: string; readonly missing: readonly string[] }[];
}

/** The folder `examples/` of the repository. */
export const examplesFolder: string = fileURLToPath(new URL("../../../../examples", import.meta.url));

/** Reads the examples for the given clusters. @throws MeridianError `BadFile` */
export async function readExampleObjects(
  folder: string,
  clusters: readonly string[],
): Promise<ExampleObjects> {
  const files = (await manifestFiles(folder, "every-cluster")).map((file) => ({
    ...file,
    manifests: parseManifests(file),
  }));
  const fitting = files.filter((file) => missingClusters(file.manifests, clusters).length === 0);
  const shared = fitting.flatMap((file) => file.manifests);
  const perCluster = new Map((await manifestFiles(folder, "per-cluster")).map((file) => [file.path, file]));

  const ofCluster = new Map<string, readonly Manifest[]>();
  for (const [index, name] of clusters.entries()) {
    const file = perCluster.get(`per-cluster/${name}.yaml`);
    const own = file === undefined ? generatedStatus(shared, index) : parseManifests(file);
    const names = new Set(shared.map((manifest) => manifest.metadata.name));
    ofCluster.set(
      name,
      withStatus(
        shared,
        own.filter((manifest) => names.has(manifest.metadata.name)),
      ),
    );
  }
  return {
    ofCluster,
    leftOut: files
      .filter((file) => !fitting.includes(file))
      .map(({ path, manifests }) => ({ path, missing: missingClusters(manifests, clusters) })),
  };
}

async function manifestFiles(folder: string, part: string): Promise<readonly ManifestFile[]> {
  const names = (await readdir(join(folder, part))).filter((name) => name.endsWith(".yaml")).sort();
  return Promise.all(
    names.map(async (name) => ({
      path: `${part}/${name}`,
      text: await readFile(join(folder, part, name), "utf8"),
    })),
  );
}
