/** Warnings of one request, sent as `Warning: 299 - "text"` (RFC 7234 §5.5) and shown by kubectl. */
export class Warnings {
  readonly #texts = new Set<string>();

  add(text: string): void {
    this.#texts.add(text);
  }

  /** The header's value; `undefined` when there is nothing to warn of. */
  header(): string | undefined {
    if (this.#texts.size === 0) return undefined;
    const texts = [...this.#texts].map((text) => Array.from(text.replace(/\p{Cc}/gu, " ")));
    const total = texts.reduce((sum, text) => sum + text.length, 0);
    const cut = total > runesMax ? runesPerTextMax : runesMax;
    let left = runesMax;
    const values: string[] = [];
    for (const text of texts) {
      const kept = text.slice(0, cut);
      left -= kept.length;
      if (left < 0) break;
      values.push(`299 - "${kept.join("").replace(/[\\"]/g, "\\$&")}"`);
    }
    // Header values are octets: text beyond Latin-1 would be refused by HTTP libraries.
    return values.join(", ").replace(/[^\u0020-\u007e]/g, "?");
  }
}

const runesMax = 4096;
const runesPerTextMax = 256;
