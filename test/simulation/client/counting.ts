import { KubeClient } from "@meridian/controller";
import { isStatusError, type ConfigMap, type KubeObject } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { namespaceName, types } from "../fleet/application.ts";
import { between, chance } from "../fleet/draws.ts";
import { placeOf, tokenOf, type Tag } from "../fleet/fleet-map.ts";

export const counterName = "counter";

/** What the writers were told, and what they do not know the outcome of. */
export interface CountingLedger {
  /** Increments that were acknowledged. */
  acknowledged: number;
  /** Increments that were sent, whatever came back. */
  sent: number;
  /** Versions at which increments were acknowledged, with the value. */
  readonly versions: { readonly version: string; readonly value: number }[];
  /** Names of objects whose creation was acknowledged, with their versions. */
  readonly created: { readonly name: string; readonly version: string }[];
}

export interface CountingOptions {
  readonly tag: Tag;
  readonly writer: number;
  readonly ledger: CountingLedger;
  readonly onWrong: (seen: string) => void;
}

/** Counts up a number in a ConfigMap, each time from what was read, and creates objects now and then. For ever. */
export async function count(runtime: Runtime, options: CountingOptions): Promise<void> {
  const { tag } = options;
  const { address, port } = placeOf(tag).apiServer;
  const client = new KubeClient(runtime, {
    origin: `http://${address}:${port}`,
    token: tokenOf(tag),
    userAgent: "counting",
    deadlineMs: 4_000,
  });
  for (let round = 0; ; round++) {
    await runtime.clock.sleep(between(runtime.random, 200, 7_000));
    try {
      await increment(runtime, client, options);
      if (chance(runtime.random, 0.3)) await createOne(client, options, round);
    } catch (error) {
      // A lost race, or no answer: the ledger says what is known.
      if (!(error instanceof Error)) throw error;
    }
  }
}

async function increment(
  { clock, random }: Runtime,
  client: KubeClient,
  { tag, ledger, onWrong }: CountingOptions,
): Promise<void> {
  const known = ledger.acknowledged;
  const current = await readCounter(client);
  const value = Number(current?.data?.["value"] ?? 0);
  if (value < known) onWrong(`${tag} shows the counter at ${value} after ${known} acknowledged increments`);
  if (value > ledger.sent) onWrong(`${tag} shows the counter at ${value}, and only ${ledger.sent} were sent`);
  const next: ConfigMap = {
    ...(current ?? configMap(counterName)),
    data: { value: String(value + 1) },
  };
  // The longer the pause, the more often the other writer comes between.
  await clock.sleep(between(random, 0, 150));
  ledger.sent++;
  try {
    const written =
      current === undefined
        ? await client.create<ConfigMap>(types.configMap, next)
        : await client.update<ConfigMap>(types.configMap, next);
    ledger.acknowledged++;
    ledger.versions.push({ version: written.metadata.resourceVersion ?? "", value: value + 1 });
  } catch (error) {
    if (isStatusError(error) && (error.code === 409 || error.code === 404)) ledger.sent--;
    throw error;
  }
}

async function createOne(
  client: KubeClient,
  { writer, ledger }: CountingOptions,
  round: number,
): Promise<void> {
  const name = `made-${writer}-${round}`;
  const written = await client.create<ConfigMap>(types.configMap, configMap(name));
  ledger.created.push({ name, version: written.metadata.resourceVersion ?? "" });
}

async function readCounter(client: KubeClient): Promise<ConfigMap | undefined> {
  try {
    return await client.get<ConfigMap>(types.configMap, { namespace: namespaceName, name: counterName });
  } catch (error) {
    if (isStatusError(error) && error.code === 404) return undefined;
    throw error;
  }
}

function configMap(name: string): ConfigMap & KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: namespaceName, name } };
}
