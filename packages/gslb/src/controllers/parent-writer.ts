import type { Clock } from "@meridian/runtime";
import type { DelegationOutcome } from "../decide/zone-conditions.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import { delegatedPairs, delegatedText, samePair } from "../delegation/delegated-pairs.ts";
import type { DelegatedZone, DelegationProvider } from "../delegation/delegation-provider.ts";
import type { FleetLookup } from "../delegation/fleet-lookup.ts";
import { ZoneWithdrawal, type WithdrawalStep } from "../delegation/zone-withdrawal.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";

/** Who writes into parent zones, and what is written there. */
export interface ParentWriterOptions {
  /** Absent: delegations are kept by hand. */
  readonly provider: DelegationProvider | undefined;
  readonly fleet: Pick<FleetLookup, "delegation">;
}

/** How soon to try again what failed or has to be waited for elsewhere. */
const retryMs = 15_000;

/** Has the delegation of ZoneDelegations written and withdrawn, and tells what became of it. Never rejects but for its signal. */
export class ParentWriter {
  readonly provider: DelegationProvider | undefined;
  readonly #fleet: Pick<FleetLookup, "delegation">;
  readonly #withdrawal: ZoneWithdrawal | undefined;

  constructor(clock: Pick<Clock, "monotonicMs">, { provider, fleet }: ParentWriterOptions) {
    this.provider = provider;
    this.#fleet = fleet;
    if (provider !== undefined) this.#withdrawal = new ZoneWithdrawal(clock, { provider, fleet });
  }

  /** Whether the delegation of an object is withdrawn before it goes (`doFinalize`). */
  isWithdrawing({ spec }: ZoneDelegation): boolean {
    return this.provider !== undefined && spec?.doFinalize === true;
  }

  /** What was delegated for an object under other names than its present ones. */
  left(zone: ZoneDelegation): readonly ZonePair[] {
    return delegatedPairs(zone).filter((pair) => zone.spec === undefined || !samePair(pair, zone.spec));
  }

  async ensure(zone: DelegatedZone, signal: AbortSignal): Promise<DelegationOutcome> {
    const { provider } = this;
    if (provider === undefined) {
      const found = await this.#fleet.delegation(zone, signal);
      const isDelegated = found.state === "known" && found.nameServers.includes(zone.ownNameServer);
      return { kind: "noProvider", isDelegated, zone };
    }
    try {
      await provider.ensure(zone, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { kind: "failed", message: `${provider.name}: ${textOf(error)}` };
    }
    return { kind: "delegated", message: `${provider.name} has the delegation` };
  }

  /** Goes on with withdrawing what was delegated for an object, under its present or under former names. */
  async withdraw(
    zone: ZoneDelegation,
    delegated: DelegatedZone,
    signal: AbortSignal,
  ): Promise<WithdrawalStep> {
    const { spec, metadata } = zone;
    const isFormer = spec !== undefined && !samePair(delegated, spec);
    const hasOtherParent = isFormer && samePair({ ...delegated, parentZone: spec.parentZone }, spec);
    if (this.#withdrawal === undefined || (!this.isWithdrawing(zone) && !hasOtherParent))
      return { state: "done" };
    try {
      if (!hasOtherParent)
        return await this.#withdrawal.step(
          `${metadata.uid} ${delegatedText([delegated])}`,
          delegated,
          signal,
        );
      // A zone that only has another parent now is answered on, so nothing has to be waited for.
      const outcome = await this.provider?.withdraw({ ...delegated, isLast: false }, signal);
      return outcome === "waiting" ? waiting("the former parent still delegates") : { state: "done" };
    } catch (error) {
      signal.throwIfAborted();
      return waiting(`${this.provider?.name}: ${textOf(error)}`);
    }
  }
}

function waiting(message: string): WithdrawalStep {
  return { state: "waiting", afterMs: retryMs, message };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
