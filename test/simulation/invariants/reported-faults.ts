import { storeKey, types, type GslbObject } from "../fleet/application.ts";
import type { BadObject } from "../fleet/cluster-user.ts";
import type { Tag } from "../fleet/fleet-map.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/** From a bad object's write to the condition that tells. */
const reportedMs = 2_000;
const eventPrefix = "/registry/core/events/";

/**
 * Invariant 7: one tenant's bad object never stops another's reconcile, and is reported on that object. That the others go
 * on is what the other invariants show while bad objects are there; here each of them must be told of.
 */
export class ReportedFaults implements Invariant {
  readonly number = 7;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of this.#world.fleet.ours)
      for (const bad of this.#world.fleet.cluster(tag).user.badObjects()) this.#checkTold(tag, bad);
  }

  finish(): void {
    for (const tag of this.#world.fleet.ours) {
      const { truth, user } = this.#world.fleet.cluster(tag);
      const events = [...truth.at(eventPrefix, truth.newest).values()].map(
        (event) =>
          truth.decode<{ involvedObject?: { name?: string } } & GslbObject>(event)?.involvedObject?.name,
      );
      for (const bad of user.badObjects()) {
        const isThere = truth.current(storeKey(types.gslb, bad.name)) !== undefined;
        if (bad.isGslb && isThere && !events.includes(bad.name))
          this.#report(`${tag} has no event about ${bad.name} (${bad.about})`);
      }
    }
  }

  #checkTold(tag: Tag, bad: BadObject): void {
    const { nowMs } = this.#world;
    const { truth, user } = this.#world.fleet.cluster(tag);
    const readySinceMs = this.#world.readySince(tag);
    const key = storeKey(types.gslb, bad.name);
    const stored = truth.object<GslbObject>(key);
    const sinceMs = truth.history(key).findLast((event) => event.value === undefined)?.atMs;
    const createdMs = truth.history(key).find((event) => event.atMs > (sinceMs ?? -1))?.atMs ?? nowMs;
    if (!bad.isGslb || stored === undefined || readySinceMs === undefined) return;
    if (user.refused.has(bad.name))
      this.#report(`${tag} refused ${bad.name} (${bad.about}) and stored it all the same`);
    if (nowMs < Math.max(createdMs, readySinceMs) + reportedMs) return;
    this.#judged++;
    const accepted = stored.status?.conditions?.find(({ type }) => type === "Accepted");
    if (accepted?.status !== "False")
      this.#report(
        `${tag} says of ${bad.name} (${bad.about}) Accepted=${accepted?.status ?? "nothing"}, ` +
          `${(nowMs - createdMs).toFixed(0)} ms after it was made`,
      );
  }
}
