import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { KubeClient, clientFromKubeconfig, connectionFromKubeconfig } from "@meridian/controller";
import type { HttpClient, Runtime } from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";
import { decodeFleetFile, fleetFileName, type FleetFile, type FleetFileCluster } from "./fleet-file.ts";
import { lockHolder } from "./folder-lock.ts";
import { readTextIfPresent } from "./private-file.ts";

/** Reads `fleet.json` of a running fleet. @throws MeridianError `NotRunning` where there is none */
export async function openFleet(folder: string): Promise<FleetFile> {
  const path = join(resolve(folder), fleetFileName);
  const text = await readTextIfPresent(path);
  if (text !== undefined) return decodeFleetFile(new TextEncoder().encode(text), path);
  const holder = await lockHolder(resolve(folder));
  throw new MeridianError(
    "NotRunning",
    holder === undefined
      ? `no fleet runs in ${folder}; start one with "npx meridian up", or name its folder with --data`
      : `the fleet in ${folder} is still starting (process ${holder.pid}); try again in a moment`,
  );
}

/** A client of a cluster's API server. */
export async function clusterClient(runtime: Runtime, cluster: FleetFileCluster): Promise<KubeClient> {
  return clientFromKubeconfig(runtime, await readFile(cluster.kubeconfig, "utf8"));
}

/** A client of the operator's own endpoint, and the token that it asks for. */
export async function operatorClient(
  runtime: Runtime,
  cluster: FleetFileCluster,
): Promise<{ readonly http: HttpClient; readonly token: string }> {
  const { tls, token = "" } = connectionFromKubeconfig(runtime, await readFile(cluster.kubeconfig, "utf8"));
  const settings = tls !== undefined && "current" in tls ? await tls.current() : tls;
  const http = runtime.network.httpClient({
    origin: cluster.operator,
    ...(settings === undefined ? {} : { tls: settings }),
  });
  return { http, token };
}
