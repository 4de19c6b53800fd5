import type { GeoState } from "./geo-state.ts";

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
export class GeoClient {
  readonly octets: Uint8Array = new Uint8Array(16);
  readonly at = 0;
  octetCount: 4 | 16 = 4;
  /** The choice was made by the subnet: only then is its scope said; else it is 0 (RFC 7871 §7.2.1). */
  bySubnet = false;
  #trusted: Int32Array | undefined;
  #roots: { readonly v4: number; readonly v6: number } = { v4: ~1, v6: ~1 };

  /** Believes subnets from other resolvers from the next answer on. */
  update({ trusted }: GeoState): void {
    this.#trusted = trusted && new Int32Array(trusted.trie);
    if (trusted !== undefined) this.#roots = trusted;
  }

  /** Takes the subnet unless it is absent, has no prefix (the client wants no part in this), or is not to be believed. */
  read(question: SubnetQuestion, from: { readonly octets: Uint8Array; readonly octetCount: 4 | 16 }): void {
    const { input, subnetAt, subnetLength } = question;
    this.bySubnet = subnetAt >= 0 && input[subnetAt + 2] !== 0 && this.#isTrusted(from);
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

  #isTrusted({ octets, octetCount }: { readonly octets: Uint8Array; readonly octetCount: 4 | 16 }): boolean {
    const trie = this.#trusted;
    if (trie === undefined) return true;
    return isIn(trie, octetCount === 4 ? this.#roots.v4 : this.#roots.v6, octets);
  }
}

function isIn(trie: Int32Array, root: number, octets: Uint8Array): boolean {
  let reference = root;
  for (let depth = 0; reference >= 0; depth++)
    reference = trie[2 * reference + ((octets[depth >>> 3]! >>> (7 - (depth & 7))) & 1)]!;
  return reference === ~1;
}
