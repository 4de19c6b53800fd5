import { join } from "node:path";
import type { Clock } from "@meridian/runtime";
import { decodeFleetFile, fleetFileName } from "./fleet-file.ts";
import { isAlive } from "./folder-lock.ts";
import { readTextIfPresent, removeFile } from "./private-file.ts";

const withinMs = 10_000;
const pollMs = 50;

/**
 * Clears what a `meridian up` that was killed has left in its folder: its processes are about to end and still hold ports
 * and data, and its `fleet.json` would tell scripts of a fleet that is not there. Call it with the folder locked.
 */
export async function clearLeftovers(clock: Clock, folder: string): Promise<void> {
  const path = join(folder, fleetFileName);
  const text = await readTextIfPresent(path);
  if (text === undefined) return;
  const deadline = clock.monotonicMs() + withinMs;
  for (const pid of pidsIn(text, path)) {
    // A number that was given to another process since is waited for in vain, but not for ever.
    while ((await isAlive({ pid })) && clock.monotonicMs() < deadline) await clock.sleep(pollMs);
  }
  await removeFile(path);
}

function pidsIn(text: string, path: string): readonly number[] {
  try {
    const fleet = decodeFleetFile(new TextEncoder().encode(text), path);
    return [fleet.parent.pid, ...fleet.clusters.map((cluster) => cluster.pid)].filter((pid) => pid > 0);
  } catch {
    return [];
  }
}
