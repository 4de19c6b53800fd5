import type { Logger } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import type { DelegationProvider } from "../delegation/delegation-provider.ts";

/** How the delegation of one zone goes. */
export interface DelegationCounts {
  readonly zone: string;
  readonly provider: string;
  /** Passes that found or made it right, that failed, and that withdrew it. */
  ensured: number;
  failed: number;
  withdrawn: number;
}

/** Counts and logs what a provider does, by zone. */
export class DelegationTally {
  readonly #log: Logger;
  readonly #counts = new Map<string, DelegationCounts>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The counts of these zones, however they are spelled. Those of all others are forgotten: they are done with. */
  of(zones: readonly string[]): Iterable<DelegationCounts> {
    const kept = new Set(zones.map(canonicalName));
    for (const zone of this.#counts.keys()) if (!kept.has(canonicalName(zone))) this.#counts.delete(zone);
    return this.#counts.values();
  }

  /** The same provider, counted. */
  over(provider: DelegationProvider): DelegationProvider {
    const { name } = provider;
    const counted = async <T>(zone: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
      try {
        return await call();
      } catch (error) {
        // One that was broken off, as at the end of the operator, did not fail.
        if (!signal.aborted) this.#of(zone, name).failed += 1;
        throw error;
      }
    };
    return {
      name,
      ensure: (zone, signal) =>
        counted(zone.loadBalancedZone, signal, async () => {
          this.#log.debug("Calling DNS provider", { provider: name, zone: zone.loadBalancedZone });
          await provider.ensure(zone, signal);
          this.#of(zone.loadBalancedZone, name).ensured += 1;
        }),
      withdraw: (zone, signal) =>
        counted(zone.loadBalancedZone, signal, async () => {
          const outcome = await provider.withdraw(zone, signal);
          const done = zone.isLast ? "Removing delegated zone from edge DNS" : "Removing Glue A";
          this.#log.info(done, { zone: zone.loadBalancedZone, outcome });
          if (outcome === "withdrawn") this.#of(zone.loadBalancedZone, name).withdrawn += 1;
          return outcome;
        }),
      ...(provider.members === undefined
        ? {}
        : { members: (zone, signal) => provider.members!(zone, signal) }),
    };
  }

  #of(zone: string, provider: string): DelegationCounts {
    const found = this.#counts.get(zone);
    if (found !== undefined) return found;
    const counts = { zone, provider, ensured: 0, failed: 0, withdrawn: 0 };
    this.#counts.set(zone, counts);
    return counts;
  }
}
