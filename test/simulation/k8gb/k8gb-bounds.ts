import { tags } from "../fleet/fleet-map.ts";
import type { FleetSettings } from "../fleet/fleet-settings.ts";
import type { Bounds } from "../observation/world.ts";
import { k8gbServers } from "./ask-as-k8gb.ts";

const secondsPerServer = 2;

/**
 * What k8gb can be held to: one worker asks every peer about every host in turn, and a silent one costs 2 s for each port.
 * A change may just miss one pass and wait for the next; a new address of an Ingress waits for the period before.
 */
export function k8gbBounds(settings: FleetSettings, hosts: number): Bounds {
  const ports = k8gbServers("", [settings.edgePort]).length;
  const passMs = 1000 * secondsPerServer * ports * hosts * (tags.length - 1);
  const localMs = settings.periodMs + 2 * passMs + 1_000;
  return { localMs, seenMs: localMs };
}
