import type { EventRecorder, KubeClient } from "@meridian/controller";
import { deepEqual, isConflict, isNotFound } from "@meridian/kube";
import type { Clock } from "@meridian/runtime";
import { withConditions, type ConditionOutcome } from "../decide/gslb-conditions.ts";
import { sameEntries } from "../delegation/dns-server-entries.ts";
import { zoneDelegationType } from "../resources/resource-types.ts";
import {
  zoneDelegationFinalizer,
  type DnsServerEntry,
  type ZoneDelegation,
  type ZoneDelegationStatus,
} from "../resources/zone-delegation.ts";
import { conditionNotes } from "./gslb-events.ts";
import { KeptStatuses } from "./kept-statuses.ts";

/** What ZoneDelegations are written with. */
export interface ZoneObjectsOptions {
  readonly client: Pick<KubeClient, "update" | "updateStatus">;
  readonly events: Pick<EventRecorder, "record">;
}

/**
 * Writes ZoneDelegations: their finalizer and annotations, and their status, only where something differs. A change of
 * conditions is an event, also where k8gb's own CRD prunes them.
 */
export class ZoneObjects {
  readonly #clock: Pick<Clock, "now">;
  readonly #options: ZoneObjectsOptions;
  readonly #kept = new KeptStatuses<ZoneDelegationStatus>();

  constructor(clock: Pick<Clock, "now">, options: ZoneObjectsOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * Adds or removes the finalizer, and sets an annotation, or removes it where it is `undefined`.
   *
   * @returns whether something was written, or somebody else wrote first: in both cases there is something newer to read
   */
  async writeMetadata(
    zone: ZoneDelegation,
    wanted: { readonly hasFinalizer: boolean; readonly annotation?: readonly [string, string | undefined] },
    signal: AbortSignal,
  ): Promise<boolean> {
    const others = (zone.metadata.finalizers ?? []).filter((each) => each !== zoneDelegationFinalizer);
    const isKept = (zone.metadata.finalizers ?? []).includes(zoneDelegationFinalizer) === wanted.hasFinalizer;
    const finalizers = wanted.hasFinalizer ? [...others, zoneDelegationFinalizer] : others;
    const [name, value] = wanted.annotation ?? [];
    const isAnnotated = name === undefined || zone.metadata.annotations?.[name] === value;
    if (isKept && isAnnotated) return false;
    const { annotations: present, ...rest } = zone.metadata;
    const annotations = Object.fromEntries(
      Object.entries({ ...present, ...(name === undefined ? {} : { [name]: value }) }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    const metadata = {
      ...rest,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(isKept ? {} : { finalizers }),
    };
    try {
      await this.#options.client.update<ZoneDelegation>(
        zoneDelegationType,
        { ...zone, metadata },
        { signal },
      );
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    return true;
  }

  /**
   * Brings the status up to date and tells what changed in it by events.
   *
   * @returns false where somebody else wrote first, so that it must be read again
   */
  async writeStatus(
    zone: ZoneDelegation,
    found: {
      readonly dnsServers: readonly DnsServerEntry[];
      readonly conditions: readonly ConditionOutcome[];
    },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { name = "", generation } = zone.metadata;
    const before = this.#kept.of(name, zone);
    const entries = before?.dnsServers ?? [];
    const wanted: ZoneDelegationStatus = {
      dnsServers: sameEntries(entries, found.dnsServers) ? entries : found.dnsServers,
      conditions: withConditions(before?.conditions, found.conditions, {
        generation,
        now: this.#clock.now(),
      }),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
    if (deepEqual(before, wanted)) return true;
    try {
      const stored = await this.#options.client.updateStatus<ZoneDelegation>(
        zoneDelegationType,
        { ...zone, status: wanted },
        { signal },
      );
      this.#kept.set(name, wanted, stored);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      return false;
    }
    for (const note of conditionNotes(before, wanted)) this.#options.events.record(zone, note);
    return true;
  }

  /** The object is gone. */
  forget(name: string): void {
    this.#kept.forget(name);
  }
}

function isOvertaken(error: unknown): boolean {
  return isConflict(error) || isNotFound(error);
}
