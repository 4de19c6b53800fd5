import type { Clock } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import { HintGate } from "../peers/hint-gate.ts";
import type { ZoneMembers } from "./zone-members.ts";

/** Who is looked for, and how. */
export interface MetClustersOptions {
  readonly members: Pick<ZoneMembers, "hear" | "candidates" | "of">;
  /** The zone with its parent, where it is served. */
  readonly pair: (zone: string) => ZonePair | undefined;
  /** Looks for the clusters of a zone. */
  readonly look: (zone: string) => void;
}

/**
 * Has a zone's clusters looked for when a NOTIFY names a server that is no member's: at once, then once a second for all that
 * came since, since anybody may send one. A cluster that joins sends them until it is known; so it is looked for each time.
 */
export class MetClusters {
  readonly #options: MetClustersOptions;
  readonly #gate: HintGate;
  readonly #zones = new Set<string>();

  constructor(clock: Clock, options: MetClustersOptions) {
    this.#options = options;
    this.#gate = new HintGate(clock, () => {
      const zones = [...this.#zones];
      this.#zones.clear();
      for (const zone of zones) options.look(zone);
    });
  }

  meet(zone: string, nameServer: string): void {
    const { members } = this.#options;
    const pair = this.#options.pair(zone);
    if (pair === undefined) return;
    members.hear(pair, [nameServer]);
    if (members.candidates(zone).length === members.of(zone).length) return;
    this.#zones.add(canonicalName(zone));
    this.#gate.open();
  }

  close(): void {
    this.#gate.close();
  }
}
