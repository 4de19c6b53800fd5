const chunkOctets = 64 * 1024;

/** Keeps many short runs of octets in a few large buffers: a million arrays of their own would cost a hundred octets each. */
export class OctetPool {
  #chunk = new Uint8Array(0);
  #used = 0;

  /** A copy that stays, as a view of a buffer that others share. */
  keep(octets: Uint8Array): Uint8Array {
    if (this.#used + octets.length > this.#chunk.length) {
      this.#chunk = new Uint8Array(Math.max(chunkOctets, octets.length));
      this.#used = 0;
    }
    const kept = this.#chunk.subarray(this.#used, this.#used + octets.length);
    kept.set(octets);
    this.#used += octets.length;
    return kept;
  }
}
