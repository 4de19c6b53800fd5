import type { GeoAddress } from "./geo-selector.ts";

/** What of a question says where its client is. */
export interface SubnetQuestion {
  readonly input: Uint8Array;
  /** Where the CLIENT-SUBNET option's data (RFC 7871 §6, already checked) starts in `input`, or -1. */
  readonly subnetAt: number;
  readonly subnetLength: number;
}

/**
 * The address that answers are chosen by: the client subnet where the question has one with a prefix, else the address that
 * the question came from. One object is used again for every answer.
 */
export class GeoClient implements GeoAddress {
  readonly octets: Uint8Array = new Uint8Array(16);
  readonly at = 0;
  octetCount: 4 | 16 = 4;
  /** The choice was made by the subnet: only then is its scope said; else it is 0 (RFC 7871 §7.2.1). */
  bySubnet = false;

  /** Takes the subnet unless it is absent, has no prefix (the client wants no part in this), or is not to be believed. */
  read(question: SubnetQuestion, from: { readonly octets: Uint8Array; readonly octetCount: 4 | 16 }): void {
    const { input, subnetAt, subnetLength } = question;
    this.bySubnet = subnetAt >= 0 && input[subnetAt + 2] !== 0;
    this.octetCount = this.bySubnet ? (input[subnetAt + 1] === 1 ? 4 : 16) : from.octetCount;
    const { octets, octetCount } = this;
    if (this.bySubnet) {
      const given = subnetLength - 4;
      for (let index = 0; index < octetCount; index++)
        octets[index] = index < given ? input[subnetAt + 4 + index]! : 0;
    } else {
      for (let index = 0; index < octetCount; index++) octets[index] = from.octets[index]!;
    }
  }
}
