import type { Name } from "../name/name.ts";

/** One record of class IN in wire form, nothing compressed. Its octets are shared and never changed. */
export interface WireRecord {
  readonly owner: Name;
  readonly type: number;
  /** In seconds. */
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/** One serial step of a zone as the records that went and came, in the order of RFC 1995 §4: each list begins with the SOA. */
export interface ZoneDelta {
  readonly fromSerial: number;
  readonly toSerial: number;
  readonly removed: readonly WireRecord[];
  readonly added: readonly WireRecord[];
  /** Set where the content was exchanged for one too different to be told: the lists then have the SOA only. */
  readonly isAnew?: true;
}

/** A zone as it was at one moment, however it changes while it is read. To be disposed of. */
export interface ZoneSnapshot extends Disposable {
  readonly serial: number;
  /** The SOA first, then all the rest once, the NS set of the apex included. */
  records(): IterableIterator<WireRecord>;
}
