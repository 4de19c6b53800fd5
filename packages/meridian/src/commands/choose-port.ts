import { join } from "node:path";
import type { Runtime } from "@meridian/runtime";
import { portOfKubeconfig } from "../fleet/kubeconfig.ts";
import { readTextIfPresent } from "../fleet/private-file.ts";

/** A port to listen on, and what became of the one that the folder's last run had. */
export interface ChosenPort {
  readonly port: number;
  /** "kept": it is that one. "lost": that one is not to be had. Absent: there was none. */
  readonly last?: { readonly port: number; readonly outcome: "kept" | "lost" };
}

/**
 * The port for a server that may listen on any: that of the folder's last run where it is free, so that kubeconfigs that
 * were handed out stay right, also after a crash; else one that the system picks.
 *
 * It is free when this returns; who listens at once has it.
 */
export async function choosePort(
  { network }: Pick<Runtime, "network">,
  { folder, address }: { readonly folder: string; readonly address: string },
): Promise<ChosenPort> {
  // The kubeconfig must name the port before the server exists, so one is found first.
  const take = async (port: number): Promise<number> => {
    const onConnection = (found: { destroy(): void }): void => found.destroy();
    await using listener = await network.listenTcp({ address, port, onConnection });
    return listener.local.port;
  };
  const kubeconfig = await readTextIfPresent(join(folder, "kubeconfig"));
  const last = kubeconfig === undefined ? undefined : portOfKubeconfig(kubeconfig);
  if (last === undefined) return { port: await take(0) };
  const kept = await take(last).catch(() => undefined);
  if (kept !== undefined) return { port: kept, last: { port: last, outcome: "kept" } };
  return { port: await take(0), last: { port: last, outcome: "lost" } };
}
