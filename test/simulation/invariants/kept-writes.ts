import type { ConfigMap } from "@meridian/kube";
import { count, counterName, type CountingLedger } from "../client/counting.ts";
import { storeKey, types } from "../fleet/application.ts";
import type { Tag } from "../fleet/fleet-map.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

const writersPerCluster = 2;
const counterKey = storeKey(types.configMap, counterName);

/**
 * Invariant 6: an acknowledged write survives every crash, and no update is lost. What a reopened store holds is compared
 * with all that it had acknowledged (`compareReopened`); here clients count together, over the network.
 */
export class KeptWrites implements Invariant {
  readonly number = 6;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  readonly #ledgers = new Map<Tag, CountingLedger>();

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    for (const tag of world.fleet.ours) {
      const ledger: CountingLedger = { acknowledged: 0, sent: 0, versions: [], created: [] };
      this.#ledgers.set(tag, ledger);
      for (let writer = 0; writer < writersPerCluster; writer++)
        void count(world.fleet.client.runtime, { tag, writer, ledger, onWrong: report });
    }
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of this.#world.fleet.ours) {
      const { truth } = this.#world.fleet.cluster(tag);
      if (this.#world.facts(tag).changedKeys.includes(counterKey)) this.#checkSteps(tag);
      const ledger = this.#ledgers.get(tag)!;
      for (const { version, value } of ledger.versions.splice(0)) {
        this.#judged++;
        const event = truth.keyAt(counterKey, Number(version));
        const stored = event === undefined ? undefined : truth.decode<ConfigMap>(event)?.data?.["value"];
        if (stored !== String(value) || event?.revision !== Number(version))
          this.#report(
            `${tag} acknowledged ${value} at version ${version}, and stored ${stored ?? "nothing"}`,
          );
      }
    }
  }

  finish(): void {
    for (const [tag, ledger] of this.#ledgers) {
      const { truth } = this.#world.fleet.cluster(tag);
      const value = Number(truth.object<ConfigMap>(counterKey)?.data?.["value"] ?? 0);
      if (value < ledger.acknowledged || value > ledger.sent)
        this.#report(
          `${tag} counted to ${value}: ${ledger.acknowledged} increments were acknowledged, ${ledger.sent} sent`,
        );
      for (const { name, version } of ledger.created)
        if (String(truth.current(storeKey(types.configMap, name))?.revision) !== version)
          this.#report(
            `${tag} acknowledged the creation of ${name} at version ${version} and has it no more`,
          );
    }
  }

  /** Each write of the counter is one more than the one before: a lost update would repeat a number. */
  #checkSteps(tag: Tag): void {
    const { truth } = this.#world.fleet.cluster(tag);
    const values = truth
      .history(counterKey)
      .slice(-5)
      .map((event) => Number(truth.decode<ConfigMap>(event)?.data?.["value"]));
    for (const [index, value] of values.entries())
      if (index > 0 && value !== values[index - 1]! + 1)
        this.#report(`${tag}'s counter went from ${values[index - 1]} to ${value}: an update was lost`);
  }
}
