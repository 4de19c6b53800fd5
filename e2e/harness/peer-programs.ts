import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installed, output } from "./command.ts";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");

/** A program that tests and benches meet, built from a Go module of its own in `e2e/peers`. */
export type PeerName =
  "client-go-informer" | "coredns" | "etcd" | "external-dns" | "kube-apiserver" | "protobuf-schema";

const kubernetesVersion = "k8s.io/component-base/version";

/** The package to build, and what the linker is told: without a version kube-apiserver has none to serve. */
const peers: Readonly<Record<PeerName, { readonly package: string; readonly linker: string }>> = {
  "client-go-informer": { package: ".", linker: "-s -w" },
  coredns: { package: ".", linker: "" },
  etcd: { package: "go.etcd.io/etcd/server/v3", linker: "-s -w" },
  "external-dns": { package: ".", linker: "-s -w" },
  "kube-apiserver": {
    package: "k8s.io/kubernetes/cmd/kube-apiserver",
    linker: [
      "-s -w",
      `-X ${kubernetesVersion}.gitVersion=v1.36.3`,
      `-X ${kubernetesVersion}.gitMajor=1`,
      `-X ${kubernetesVersion}.gitMinor=36`,
    ].join(" "),
  },
  "protobuf-schema": { package: ".", linker: "-s -w" },
};

/** All of them. */
export const peerNames: readonly PeerName[] = Object.keys(peers) as PeerName[];

// A cold build of the largest on a busy machine of two cores.
const buildMinutesMax = 45;

/**
 * Why the peer cannot be had here, or `undefined` where it can: built already, or Go is there to build it. In CI that
 * Go is missing is no excuse, and building will say so.
 */
export async function peerAbsence(name: PeerName): Promise<string | undefined> {
  if (process.env["CI"] === "true" || existsSync(await placeOf(name)) || (await installed("go")))
    return undefined;
  return `neither a built ${name} in .cache/peers nor Go to build it`;
}

/**
 * The path of a peer's program, built first where these sources and flags have not been built yet, at the lowest
 * priority: minutes with empty caches of Go.
 */
export async function peerProgram(name: PeerName): Promise<string> {
  const program = await placeOf(name);
  if (existsSync(program)) return program;
  if (!(await installed("go"))) throw new Error(`${name} is not built, and there is no Go to build it`);
  const startedMs = performance.now();
  console.error(`building ${name}: minutes with empty caches of Go`);
  await mkdir(path.dirname(program), { recursive: true });
  // Two may build at once; a program appears whole.
  const partial = `${program}.${process.pid}`;
  await output("nice", ["-n", "19", "go", "build", ...flagsOf(name), "-o", partial, peers[name].package], {
    timeoutMs: buildMinutesMax * 60_000,
    cwd: sourcesOf(name),
  });
  await rename(partial, program);
  console.error(`built ${name} in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
  return program;
}

/** Named by all that it is made from, so that no stale build is ever used. */
async function placeOf(name: PeerName): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(flagsOf(name)));
  for (const file of (await readdir(sourcesOf(name))).toSorted())
    hash.update(file).update(await readFile(path.join(sourcesOf(name), file)));
  return path.join(root, ".cache/peers", hash.digest("hex").slice(0, 16), name);
}

/** Always the same: Go's cache misses with others. */
function flagsOf(name: PeerName): readonly string[] {
  return ["-buildvcs=false", `-ldflags=${peers[name].linker}`];
}

function sourcesOf(name: PeerName): string {
  return path.join(root, "e2e/peers", name);
}
