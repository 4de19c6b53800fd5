/** As many as a batch of datagrams has. */
const viewsMax = 64;

/**
 * Views over buffers that come again and again, mostly in the same order: making one takes as long as half an answer.
 */
export class OutputViews {
  readonly #outputs: Uint8Array[] = [];
  readonly #views: DataView[] = [];
  #next = 0;

  /** A view over the same octets. */
  over(output: Uint8Array): DataView {
    const outputs = this.#outputs;
    let index = this.#next;
    if (index >= outputs.length || outputs[index] !== output) index = this.#indexOf(output);
    this.#next = index + 1;
    return this.#views[index]!;
  }

  #indexOf(output: Uint8Array): number {
    const known = this.#outputs.indexOf(output);
    if (known >= 0) return known;
    const index = this.#outputs.length < viewsMax ? this.#outputs.length : this.#next % viewsMax;
    this.#outputs[index] = output;
    this.#views[index] = new DataView(output.buffer, output.byteOffset, output.byteLength);
    return index;
  }
}
