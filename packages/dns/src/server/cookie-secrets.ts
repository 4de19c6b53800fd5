import { DnsError } from "../dns-error.ts";

const secretsMax = 3;
const secretOctets = 16;
const headWords = 2;

/** What cookies are made with, and with what else they may have been made. */
export interface CookieSecretOctets {
  readonly active: Uint8Array;
  /** Believed, not used: the next one, and the last one. Default none. */
  readonly accepted?: readonly Uint8Array[];
}

/**
 * The secrets of server cookies (RFC 9018 §5), the same for all threads, and for all servers behind one address.
 *
 * To change the secret of several servers: first let all accept the new one, then let all give it out, then, when an hour
 * has passed, let all forget the old one.
 */
export class CookieSecrets {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #octets: Uint8Array;

  /** @param memory made by another thread's `CookieSecrets` */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4 * headWords + secretsMax * secretOctets)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, headWords);
    this.#octets = new Uint8Array(memory, 4 * headWords);
  }

  /** Another number after each change. */
  get version(): number {
    return Atomics.load(this.#words, 0);
  }

  /**
   * Replaces all secrets, of 16 octets each: cookies are made with `active`, and believed where made with any.
   *
   * @throws DnsError `BadRecord` when one is not of 16 octets or there are more than two others
   */
  set({ active, accepted = [] }: CookieSecretOctets): void {
    const all = [active, ...accepted];
    if (all.length > secretsMax || all.some((secret) => secret.length !== secretOctets)) {
      throw new DnsError("BadRecord", `cookie secrets are one to ${secretsMax} of ${secretOctets} octets`);
    }
    Atomics.add(this.#words, 0, 1);
    all.forEach((secret, index) => this.#octets.set(secret, index * secretOctets));
    this.#words[1] = all.length;
    Atomics.add(this.#words, 0, 1);
  }

  /** Copies of all secrets, the active one first. */
  read(): { readonly version: number; readonly all: readonly Uint8Array[] } {
    for (;;) {
      const version = this.version;
      const all = Array.from({ length: this.#words[1]! }, (_, index) =>
        this.#octets.slice(index * secretOctets, (index + 1) * secretOctets),
      );
      // Odd while they are being replaced, which takes no longer than reading them.
      if (version % 2 === 0 && version === this.version) return { version, all };
    }
  }
}
