import type { Clock } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import type { DelegatedZone, DelegationProvider } from "./delegation-provider.ts";
import type { FleetLookup } from "./fleet-lookup.ts";

/** How far a withdrawal has come. */
export type WithdrawalStep =
  | { readonly state: "done" }
  /** Look again after so long; the zone is to be answered until then. */
  | { readonly state: "waiting"; readonly afterMs: number; readonly message: string };

/** How soon to ask again for something that happens elsewhere. */
const askAgainMs = 2000;
/** For so long the parent is waited for to stop delegating, and caches to forget: whoever deletes a zone wants it gone. */
const patienceMs = 600_000;

/**
 * Takes the own server out of a delegation so that no resolver is ever sent to a server that does not answer: first the
 * provider writes, then the parent is seen to delegate no more, then the TTL passes. Only then the zone may go.
 *
 * How far it came is kept in memory only; after a restart it begins again, which finds everything done but the TTL.
 */
export class ZoneWithdrawal {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #provider: DelegationProvider;
  readonly #fleet: Pick<FleetLookup, "delegation">;
  readonly #progress = new Map<string, { readonly startedMs: number; readonly overMs: number | undefined }>();

  constructor(
    clock: Pick<Clock, "monotonicMs">,
    options: { readonly provider: DelegationProvider; readonly fleet: Pick<FleetLookup, "delegation"> },
  ) {
    this.#clock = clock;
    this.#provider = options.provider;
    this.#fleet = options.fleet;
  }

  /** Goes as far as it can now. */
  async step(zone: DelegatedZone, signal: AbortSignal): Promise<WithdrawalStep> {
    const key = keyOf(zone);
    this.#forgetOld();
    if ((await this.#provider.withdraw(zone, signal)) === "waiting")
      return {
        state: "waiting",
        afterMs: askAgainMs,
        message: `${this.#provider.name} has to take ${zone.ownNameServer} out of ${zone.parentZone} first`,
      };
    const now = this.#clock.monotonicMs();
    const { startedMs, overMs } = this.#progress.get(key) ?? { startedMs: now, overMs: undefined };
    let untilMs = overMs;
    if (untilMs === undefined) {
      const seen = await this.#fleet.delegation(zone, signal);
      const isSeen = seen.state === "known" && seen.nameServers.includes(zone.ownNameServer);
      if (isSeen && now - startedMs < patienceMs) {
        this.#progress.set(key, { startedMs, overMs });
        return {
          state: "waiting",
          afterMs: askAgainMs,
          message: `${zone.parentZone} still delegates ${zone.loadBalancedZone} to ${zone.ownNameServer}`,
        };
      }
      const seenMs = seen.state === "known" ? seen.ttlSeconds * 1000 : 0;
      untilMs = now + Math.min(patienceMs, Math.max(zone.ttlSeconds * 1000, seenMs));
      this.#progress.set(key, { startedMs, overMs: untilMs });
    }
    if (untilMs > now)
      return {
        state: "waiting",
        afterMs: untilMs - now,
        message: `${zone.loadBalancedZone} is answered until resolvers have forgotten the delegation`,
      };
    return { state: "done" };
  }

  /** The zone is delegated again. One that is done stays known for a while: its object may have to be let go more than once. */
  forget(zone: ZonePair): void {
    this.#progress.delete(keyOf(zone));
  }

  /** Zones come and go, and nobody tells of one whose object is gone. */
  #forgetOld(): void {
    const now = this.#clock.monotonicMs();
    for (const [key, { startedMs, overMs = startedMs + patienceMs }] of this.#progress)
      if (now - overMs > patienceMs) this.#progress.delete(key);
  }
}

function keyOf({ parentZone, loadBalancedZone }: ZonePair): string {
  return `${canonicalName(parentZone)}:${canonicalName(loadBalancedZone)}`;
}
