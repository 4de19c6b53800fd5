import type { Clock } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import type { DelegationOutcome } from "../decide/zone-conditions.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import { delegatedPairs, samePair } from "../delegation/delegated-pairs.ts";
import type { DelegatedZone, DelegationProvider } from "../delegation/delegation-provider.ts";
import { dnsServerEntries } from "../delegation/dns-server-entries.ts";
import type { FleetLookup } from "../delegation/fleet-lookup.ts";
import type { ZoneMembers } from "../delegation/zone-members.ts";
import { ZoneWithdrawal, type WithdrawalStep } from "../delegation/zone-withdrawal.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import { delegatedZone, type FoundFleet } from "./delegated-zone.ts";
import type { ServedZones } from "./served-zones.ts";

/** Who writes into parent zones, and what it is told from. */
export interface ParentWriterOptions {
  /** Absent: delegations are kept by hand. */
  readonly provider: DelegationProvider | undefined;
  readonly fleet: Pick<FleetLookup, "delegation" | "peers">;
  readonly members: ZoneMembers;
  readonly served: Pick<ServedZones, "holder" | "isNameServerShared">;
  readonly config: Pick<OperatorConfig, "geoTag" | "nameServerPrefix" | "nameServerTtlSeconds">;
}

/** A delegation whose withdrawal has to be waited for. */
export interface WaitingWithdrawal {
  readonly pair: ZonePair;
  readonly afterMs: number;
  readonly message: string;
}

/** How soon to try again what failed or has to be waited for elsewhere. */
const retryMs = 15_000;

/** Has the delegation of ZoneDelegations written and withdrawn, and tells what became of it. Rejects with its signal's reason only. */
export class ParentWriter {
  readonly #options: ParentWriterOptions;
  readonly #withdrawal: ZoneWithdrawal | undefined;

  constructor(clock: Pick<Clock, "monotonicMs">, options: ParentWriterOptions) {
    this.#options = options;
    const { provider, fleet } = options;
    if (provider !== undefined) this.#withdrawal = new ZoneWithdrawal(clock, { provider, fleet });
  }

  /** Whether the delegation of an object is withdrawn before it goes (`doFinalize`). */
  isWithdrawing({ spec }: ZoneDelegation): boolean {
    return this.#withdrawal !== undefined && spec?.doFinalize === true;
  }

  /** What was delegated for an object under other names than its present ones. */
  left(zone: ZoneDelegation): readonly ZonePair[] {
    return delegatedPairs(zone).filter((pair) => zone.spec === undefined || !samePair(pair, zone.spec));
  }

  /** Everything that was delegated for an object: as noted, and as it says itself. */
  all(zone: ZoneDelegation): readonly ZonePair[] {
    return [...this.left(zone), ...(zone.spec === undefined ? [] : [zone.spec])];
  }

  /** Has a delegation written; where nobody writes it, looks whether it is there. */
  async ensure(pair: ZonePair, found: FoundFleet, signal: AbortSignal): Promise<DelegationOutcome> {
    const { provider, fleet } = this.#options;
    const zone = this.#delegated(pair, found);
    this.#withdrawal?.forget(pair);
    if (provider === undefined) {
      const seen = await fleet.delegation(pair, signal);
      const isDelegated = seen.state === "known" && seen.nameServers.includes(zone.ownNameServer);
      return { kind: "noProvider", isDelegated, zone };
    }
    // What is there stays while nobody knows where the own server is.
    const { problem } = found.own;
    if (problem !== undefined) return { kind: "ownAddressUnknown", message: problem };
    try {
      await provider.ensure(zone, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { kind: "failed", message: `${provider.name}: ${textOf(error)}` };
    }
    return { kind: "delegated", message: `${provider.name} has the delegation` };
  }

  /**
   * Goes on with withdrawing some of what was delegated for an object, but nothing that is another object's by now.
   *
   * @returns those that still have to be waited for
   */
  async withdraw(
    zone: ZoneDelegation,
    pairs: readonly ZonePair[],
    { found, signal }: { readonly found: FoundFleet; readonly signal: AbortSignal },
  ): Promise<readonly WaitingWithdrawal[]> {
    const own = pairs.filter(({ loadBalancedZone }) =>
      [undefined, zone.metadata.name].includes(this.#options.served.holder(loadBalancedZone)),
    );
    const steps = await Promise.all(
      own.map(async (pair) => {
        const delegated = await this.#asLeft(zone, pair, { found, signal });
        return { pair, ...(await this.#step(zone, delegated, signal)) };
      }),
    );
    return steps.flatMap((step) => (step.state === "waiting" ? [step] : []));
  }

  async #step(zone: ZoneDelegation, delegated: DelegatedZone, signal: AbortSignal): Promise<WithdrawalStep> {
    const { provider } = this.#options;
    const { spec } = zone;
    const isStaying = zone.metadata.deletionTimestamp === undefined;
    const isFormer = spec !== undefined && isStaying && !samePair(delegated, spec);
    const hasOtherParent = isFormer && samePair({ ...delegated, parentZone: spec.parentZone }, spec);
    if (this.#withdrawal === undefined || (!this.isWithdrawing(zone) && !hasOtherParent))
      return { state: "done" };
    try {
      if (!hasOtherParent) return await this.#withdrawal.step(delegated, signal);
      // A zone that only has another parent now is answered on, so nothing has to be waited for.
      const outcome = await provider?.withdraw({ ...delegated, isLast: false }, signal);
      return outcome === "waiting" ? waiting("the former parent still delegates") : { state: "done" };
    } catch (error) {
      signal.throwIfAborted();
      return waiting(`${provider?.name}: ${textOf(error)}`);
    }
  }

  /** A delegation to withdraw. Whether others stand in one of a former name, the lookups of the present name do not tell. */
  async #asLeft(
    { spec }: ZoneDelegation,
    pair: ZonePair,
    { found, signal }: { readonly found: FoundFleet; readonly signal: AbortSignal },
  ): Promise<DelegatedZone> {
    if (spec !== undefined && samePair(pair, spec)) return this.#delegated(pair, found);
    const { fleet, members } = this.#options;
    const peers = await fleet.peers(pair, signal);
    const lookups = new Map([...peers].filter(([tag]) => members.isVouched(pair.loadBalancedZone, tag)));
    const entries = dnsServerEntries([...lookups.values()], found.entries);
    return this.#delegated(pair, { ...found, lookups, entries });
  }

  #delegated(pair: ZonePair, found: FoundFleet): DelegatedZone {
    const { config, members, served } = this.#options;
    const peerGeoTags = members.of(pair.loadBalancedZone);
    const isNameServerShared = served.isNameServerShared(pair);
    return delegatedZone(pair, { ...found, config, peerGeoTags, isNameServerShared });
  }
}

function waiting(message: string): WithdrawalStep {
  return { state: "waiting", afterMs: retryMs, message };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
