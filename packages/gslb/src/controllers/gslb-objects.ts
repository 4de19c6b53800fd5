import { createOrUpdate, type EventRecorder, type KubeClient, type Lister } from "@meridian/controller";
import { deepEqual, isConflict, isNotFound, objectKey } from "@meridian/kube";
import type { DnsEndpoint, DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { Gslb, GslbStatus } from "../resources/gslb.ts";
import { typeOfGslb } from "../resources/legacy-gslb.ts";
import { dnsEndpointType } from "../resources/resource-types.ts";
import { desiredEndpoint, withRecords } from "./endpoint-object.ts";
import { conditionNotes } from "./gslb-events.ts";
import { KeptStatuses } from "./kept-statuses.ts";

/** What Gslbs are read and written with. */
export interface GslbObjectsOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "update" | "updateStatus">;
  readonly copies: { readonly gslbs: { readonly lister: Pick<Lister<Gslb>, "get"> } };
  readonly events: Pick<EventRecorder, "record">;
}

/** Reads Gslbs with what was written of them last, and writes their statuses and DNSEndpoints, only where something differs. */
export class GslbObjects {
  readonly #options: GslbObjectsOptions;
  /** Gslbs as our own status write returned them, for as long as the copy stays the one that was there at the write. */
  readonly #written = new Map<string, { readonly gslb: Gslb; readonly copy: Gslb }>();
  readonly #kept = new KeptStatuses<GslbStatus>();

  constructor(options: GslbObjectsOptions) {
    this.#options = options;
  }

  /** The newest that is known of a Gslb, with its status as it was last wanted; `undefined` where it is gone. */
  get(key: string): Gslb | undefined {
    const gslb = this.#newest(key);
    if (gslb === undefined) return undefined;
    const status = this.#kept.of(key, gslb);
    return status === undefined || status === gslb.status ? gslb : { ...gslb, status };
  }

  /** Brings a Gslb's DNSEndpoint, of which the copy has this, to these records. */
  async writeEndpoint(
    gslb: Gslb,
    stored: DnsEndpoint | undefined,
    { records, signal }: { readonly records: readonly DnsEndpointRecord[]; readonly signal: AbortSignal },
  ): Promise<void> {
    await createOrUpdate(this.#options.client, dnsEndpointType, {
      desired: desiredEndpoint(gslb, records),
      mutate: (current) => withRecords(current, gslb, records),
      current: stored,
      signal,
    });
  }

  /**
   * Brings a Gslb's status up to date, and tells by events what changed in it.
   *
   * @returns false where somebody else wrote the Gslb first, so that it must be read again
   */
  async writeStatus(gslb: Gslb, wanted: GslbStatus, signal: AbortSignal): Promise<boolean> {
    const key = objectKey(gslb.metadata);
    if (deepEqual(gslb.status, wanted)) return true;
    const copy = this.#options.copies.gslbs.lister.get(key);
    try {
      const written = await this.#options.client.updateStatus<Gslb>(
        typeOfGslb(gslb),
        { ...gslb, status: wanted },
        { signal },
      );
      if (copy !== undefined) this.#written.set(key, { gslb: written, copy });
      this.#kept.set(key, wanted, written);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      this.#written.delete(key);
      return false;
    }
    for (const note of conditionNotes(gslb.status, wanted)) this.#options.events.record(gslb, note);
    return true;
  }

  /** The Gslb is gone. */
  forget(key: string): void {
    this.#written.delete(key);
    this.#kept.forget(key);
  }

  /**
   * The copy's object, or ours where the copy has not seen our status write yet. A copy that has moved since may be past the
   * write, which can come back before its answer does and together with a later change; if it is not, the next write
   * conflicts and is tried again.
   */
  #newest(key: string): Gslb | undefined {
    const copy = this.#options.copies.gslbs.lister.get(key);
    const written = this.#written.get(key);
    if (copy === undefined || written === undefined) return copy;
    if (copy === written.copy) return written.gslb;
    this.#written.delete(key);
    return copy;
  }
}
