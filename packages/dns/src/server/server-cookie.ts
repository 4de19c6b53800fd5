import type { Clock, DatagramClient } from "@meridian/runtime";
import { wallSeconds } from "../wall-seconds.ts";
import type { CookieSecrets } from "./cookie-secrets.ts";
import { SipHash } from "./sip-hash.ts";

const clientOctets = 8;
/** How old a server cookie may be, how far ahead of our clock, and when a new one is given (RFC 9018 §4.3). */
const ageSecondsMax = 3_600;
const aheadSecondsMax = 300;
const renewSeconds = 1_800;

/** Data octets of the COOKIE option in our answers: the client's 8 and the server's 16 (RFC 9018 §4). */
export const cookieOctets = 24;

/** How many cookies are kept that were good: a client sends one with all its questions, and hashing it takes longer. */
const knownCookies = 256;
/** Cookie, address, and how many octets the address has; 0 where there is none. */
const knownOctets = cookieOctets + 16 + 1;

/** What a COOKIE option says of its sender: that it received an answer of ours, that it says so wrongly, or nothing. */
export type CookieVerdict = "none" | "valid" | "bad";

/** Where a COOKIE option's data stands, and who sent it. */
export interface CookieSource {
  readonly input: Uint8Array;
  readonly at: number;
  /** Octets of the option's data; absent where it is the client's part only. */
  readonly length?: number;
  readonly client: DatagramClient;
}

/** Makes and checks server cookies (RFC 9018): a client that repeats one has shown that it can receive at its address. */
export class ServerCookie {
  readonly #secrets: CookieSecrets | undefined;
  readonly #clock: Clock;
  readonly #block: Uint8Array = new Uint8Array(32);
  /** Cookies made with the first secret that were good, each with its client's address. */
  readonly #known: Uint8Array = new Uint8Array(knownCookies * knownOctets);
  /** The first makes cookies; all check them. */
  #hashes: readonly SipHash[] = [];
  #version = -1;
  /** Whether the cookie checked last can be given again as it is. */
  #isFresh = false;

  /** @param options `secret` for one secret for ever, or `secrets` that may change */
  constructor(options: {
    readonly secret?: Uint8Array;
    readonly secrets?: CookieSecrets;
    readonly clock: Clock;
  }) {
    this.#secrets = options.secrets;
    this.#clock = options.clock;
    if (options.secret !== undefined) this.#hashes = [new SipHash(options.secret)];
  }

  /** Checks the option of a question. */
  verify({ input, at, length = clientOctets, client }: CookieSource): CookieVerdict {
    this.#isFresh = false;
    if (length === clientOctets) return "none";
    if (length !== cookieOctets || input[at + 8] !== 1) return "bad";
    const seconds = readUint32(input, at + 12);
    // Serial arithmetic, as the moment has 32 bits (RFC 9018 §4.3).
    const age = (this.#seconds() - seconds) | 0;
    if (age > ageSecondsMax || age < -aheadSecondsMax) return "bad";
    this.#refresh();
    const knownAt = placeOf(input, at + 16);
    if (this.#isKnown(knownAt, { input, at, client })) {
      this.#isFresh = age <= renewSeconds;
      return "valid";
    }
    const length16 = this.#fill({ input, at, client });
    for (let index = 8; index < 16; index++) this.#block[index] = input[at + index]!;
    const hashes = this.#hashes;
    // oxlint-disable-next-line typescript/prefer-for-of -- iterating costs a tenth of a hash
    for (let index = 0; index < hashes.length; index++) {
      const hash = hashes[index]!;
      hash.hash(this.#block, length16);
      const difference = (hash.low ^ readHalf(input, at + 16)) | (hash.high ^ readHalf(input, at + 20));
      if (difference !== 0) continue;
      this.#isFresh = age <= renewSeconds && index === 0;
      if (index === 0) this.#know(knownAt, { input, at, client });
      return "valid";
    }
    return "bad";
  }

  /**
   * Writes the cookie for a question's option and returns the offset behind it: the one that `verify` has just found
   * good, while it is young, else a new one.
   */
  write(output: Uint8Array, outputAt: number, source: CookieSource): number {
    if (this.#isFresh) {
      for (let index = 0; index < cookieOctets; index++)
        output[outputAt + index] = source.input[source.at + index]!;
      return outputAt + cookieOctets;
    }
    this.#refresh();
    const length = this.#fill(source);
    const block = this.#block;
    block[8] = 1;
    block.fill(0, 9, 12);
    writeUint32(block, 12, this.#seconds());
    const hash = this.#hashes[0]!;
    hash.hash(block, length);
    for (let index = 0; index < 16; index++) output[outputAt + index] = block[index]!;
    writeHalf(output, outputAt + 16, hash.low);
    writeHalf(output, outputAt + 20, hash.high);
    return outputAt + cookieOctets;
  }

  /** Forgets what was verified: the next question is another's. */
  reset(): void {
    this.#isFresh = false;
  }

  #seconds(): number {
    return wallSeconds(this.#clock) >>> 0;
  }

  /** Client cookie and address; version and moment are left to the caller. Returns the octets to hash. */
  #fill({ input, at, client }: CookieSource): number {
    const block = this.#block;
    for (let index = 0; index < clientOctets; index++) block[index] = input[at + index]!;
    const { octets, octetCount } = client;
    for (let index = 0; index < octetCount; index++) block[16 + index] = octets[index]!;
    return 16 + octetCount;
  }

  /** Whether the cookie of this client is at a place of `#known`. Takes as long wherever it differs. */
  #isKnown(knownAt: number, { input, at, client }: CookieSource): boolean {
    const known = this.#known;
    const { octets, octetCount } = client;
    let difference = known[knownAt + knownOctets - 1]! ^ octetCount;
    for (let index = 0; index < cookieOctets; index++)
      difference |= known[knownAt + index]! ^ input[at + index]!;
    for (let index = 0; index < octetCount; index++)
      difference |= known[knownAt + cookieOctets + index]! ^ octets[index]!;
    return difference === 0;
  }

  #know(knownAt: number, { input, at, client }: CookieSource): void {
    const known = this.#known;
    const { octets, octetCount } = client;
    for (let index = 0; index < cookieOctets; index++) known[knownAt + index] = input[at + index]!;
    for (let index = 0; index < octetCount; index++) known[knownAt + cookieOctets + index] = octets[index]!;
    known[knownAt + knownOctets - 1] = octetCount;
  }

  #refresh(): void {
    const secrets = this.#secrets;
    if (secrets === undefined || secrets.version === this.#version) return;
    const { version, all } = secrets.read();
    this.#version = version;
    this.#known.fill(0);
    this.#hashes = all.map((secret) => new SipHash(secret));
  }
}

function readUint32(octets: Uint8Array, at: number): number {
  return ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0;
}

function readHalf(octets: Uint8Array, at: number): number {
  return octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24);
}

function writeUint32(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value >>> 24;
  octets[at + 1] = value >>> 16;
  octets[at + 2] = value >>> 8;
  octets[at + 3] = value;
}

function writeHalf(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value;
  octets[at + 1] = value >>> 8;
  octets[at + 2] = value >>> 16;
  octets[at + 3] = value >>> 24;
}

/** Where a cookie is kept, by the end of its hash. */
function placeOf(input: Uint8Array, hashAt: number): number {
  return (input[hashAt + 7]! % knownCookies) * knownOctets;
}
