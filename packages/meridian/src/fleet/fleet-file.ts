import type { Endpoint } from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";
import type { Addressing } from "./fleet-layout.ts";

/** What a script needs to know of a running cluster. */
export interface FleetFileCluster {
  readonly name: string;
  readonly geoTag: string;
  readonly pid: number;
  /** Absolute path. */
  readonly kubeconfig: string;
  /** `https://address:port` */
  readonly apiServer: string;
  /** `https://address:port` of the operator's own endpoint; it takes the bearer token of the kubeconfig. */
  readonly operator: string;
  readonly dns: Endpoint;
  /** `http://address:port/metrics` */
  readonly metrics: string;
}

/** `fleet.json`: written when everything answers, rewritten when a process was replaced, removed at the end. */
export interface FleetFile {
  /** The process of `meridian up`. */
  readonly pid: number;
  readonly zone: string;
  readonly addressing: Addressing["kind"];
  readonly clusters: readonly FleetFileCluster[];
  readonly parent: { readonly pid: number; readonly dns: Endpoint };
}

/** Name of the file within the data folder. */
export const fleetFileName = "fleet.json";

/** The file's content; `decodeFleetFile` reads it. */
export function encodeFleetFile(fleet: FleetFile): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(fleet, undefined, 2)}\n`);
}

/** @throws MeridianError `BadFile` */
export function decodeFleetFile(content: Uint8Array, path: string): FleetFile {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(content));
    if (typeof value === "object" && value !== null && "clusters" in value && "parent" in value) {
      return value as FleetFile; // written by ourselves, whole or not at all
    }
  } catch (error) {
    throw new MeridianError(
      "BadFile",
      `cannot read ${path}: ${String(error)}; stop the fleet and remove the file`,
      {
        cause: error,
      },
    );
  }
  throw new MeridianError("BadFile", `${path} describes no fleet; stop the fleet and remove the file`);
}
