import type { Clock } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import type { DelegatedZone, DelegationProvider } from "./delegation-provider.ts";
import type { FleetLookup } from "./fleet-lookup.ts";
import type { ParentDelegation } from "./parent-delegation.ts";

/** How far a withdrawal has come. */
export type WithdrawalStep =
  | { readonly state: "done" }
  /** Look again after so long; the zone is to be answered until then. */
  | { readonly state: "waiting"; readonly afterMs: number; readonly message: string };

/** How soon to ask again for something that happens elsewhere. */
const askAgainMs = 2000;
/** For so long the parent is waited for to stop delegating, and caches to forget: whoever deletes a zone wants it gone. */
const patienceMs = 600_000;
/** For so long one that cannot be asked may still delegate: external-dns has run by then, which does so once a minute by default. */
const blindPatienceMs = 120_000;

interface Progress {
  readonly startedMs: number;
  /** When the parent was last seen to delegate here; else when it began. */
  readonly heardMs: number;
  /** The longest TTL that was seen. */
  readonly seenTtlMs: number;
  /** When caches have forgotten; absent while the parent may delegate. */
  readonly overMs?: number;
}

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
  readonly #progress = new Map<string, Progress>();

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
    const before = this.#progress.get(key) ?? { startedMs: now, heardMs: now, seenTtlMs: 0 };
    let untilMs = before.overMs;
    if (untilMs === undefined) {
      const seen = await this.#fleet.delegation(zone, signal);
      const progress =
        seen.state === "failed"
          ? before
          : { ...before, heardMs: now, seenTtlMs: Math.max(before.seenTtlMs, seen.ttlSeconds * 1000) };
      const words = `${zone.parentZone} still delegates ${zone.loadBalancedZone} to ${zone.ownNameServer}`;
      const message = delegatesStill(seen, zone.ownNameServer, { words, blindMs: now - progress.heardMs });
      if (message !== undefined && now - progress.startedMs < patienceMs) {
        this.#progress.set(key, progress);
        return { state: "waiting", afterMs: askAgainMs, message };
      }
      untilMs = now + Math.min(patienceMs, Math.max(zone.ttlSeconds * 1000, progress.seenTtlMs));
      this.#progress.set(key, { ...progress, overMs: untilMs });
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

/** In which words the parent delegates here or may do so; `undefined` where it does not, or could not be asked for too long. */
function delegatesStill(
  seen: ParentDelegation,
  ownNameServer: string,
  { words, blindMs }: { readonly words: string; readonly blindMs: number },
): string | undefined {
  if (seen.state === "known") return seen.nameServers.includes(ownNameServer) ? words : undefined;
  return blindMs < blindPatienceMs ? `nobody can tell whether ${words}: ${seen.verdict}` : undefined;
}

function keyOf({ parentZone, loadBalancedZone }: ZonePair): string {
  return `${canonicalName(parentZone)}:${canonicalName(loadBalancedZone)}`;
}
