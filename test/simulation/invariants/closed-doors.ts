import { intruderName, probe } from "../client/probing.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/**
 * Invariant 8: nobody who is not entitled changes anything. A prober tries; a guard at each DNS server looks at every
 * datagram (`DnsGuard`); here no trace of the prober may be found in a store.
 */
export class ClosedDoors implements Invariant {
  readonly number = 8;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    void probe(world.fleet.client.runtime, {
      tags: world.fleet.ours,
      onWrong: report,
      onTried: () => this.#judged++,
    });
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of this.#world.fleet.ours) {
      const trace = this.#world.facts(tag).changedKeys.find((key) => key.includes(intruderName));
      if (trace !== undefined) this.#report(`${tag} let an intruder write ${trace}`);
    }
  }
}
