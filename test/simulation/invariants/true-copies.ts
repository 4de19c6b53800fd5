import { KubeClient } from "@meridian/controller";
import { types } from "../fleet/application.ts";
import { placeOf, tokenOf, type Tag } from "../fleet/fleet-map.ts";
import { WatchedCopy } from "../client/watched-copy.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/**
 * Invariant 5: a copy at revision r equals the truth at revision r: no gap, no duplicate, nothing deleted that lives on in
 * the copy. Copies are kept on the client's node, over whatever the scenario does to the network, and on the cluster's own.
 */
export class TrueCopies implements Invariant {
  readonly number = 5;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  readonly #remote: readonly WatchedCopy[];
  readonly #local = new Map<Tag, { readonly sinceMs: number; readonly copies: readonly WatchedCopy[] }>();

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    this.#remote = world.fleet.ours.flatMap((tag) =>
      this.#open(tag, world.fleet.client, [types.gslb, types.slice, types.configMap]),
    );
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    this.#followLives();
    for (const copy of this.#copies()) if (copy.check()) this.#judged++;
  }

  finish(): void {
    // The clients go on writing to the end; what is on its way at that moment is no fault.
    for (const copy of this.#copies()) copy.checkCaughtUp(this.#world.nowMs - 2_000);
  }

  #copies(): readonly WatchedCopy[] {
    return [...this.#remote, ...[...this.#local.values()].flatMap(({ copies }) => copies)];
  }

  /** The copies on a cluster's own node die with its process. */
  #followLives(): void {
    for (const tag of this.#world.fleet.ours) {
      const sinceMs = this.#world.readySince(tag);
      if (this.#local.get(tag)?.sinceMs === sinceMs) continue;
      this.#local.delete(tag);
      if (sinceMs === undefined) continue;
      const copies = this.#open(tag, this.#world.fleet.cluster(tag).node, [types.endpoint]);
      this.#local.set(tag, { sinceMs, copies });
    }
  }

  #open(
    tag: Tag,
    node: { readonly name: string; readonly runtime: ConstructorParameters<typeof WatchedCopy>[0] },
    kinds: readonly (typeof types.gslb)[],
  ): readonly WatchedCopy[] {
    const { address, port } = placeOf(tag).apiServer;
    const client = new KubeClient(node.runtime, {
      origin: `http://${address}:${port}`,
      token: tokenOf(tag),
      userAgent: "copy",
      deadlineMs: 10_000,
    });
    const { truth } = this.#world.fleet.cluster(tag);
    return kinds.map(
      (type) =>
        new WatchedCopy(node.runtime, {
          name: `the copy of ${tag}'s ${type.plural} on ${node.name}`,
          client,
          type,
          truth,
          onWrong: this.#report,
        }),
    );
  }
}
