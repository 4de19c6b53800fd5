/** How much of the same a server answers to one network (response rate limiting). */
export interface RateLimitOptions {
  /** Answers each second for each prefix, class and name. Default 1,000. */
  readonly perSecond?: number;
  /** Errors each second for each prefix: FORMERR, REFUSED, SERVFAIL and their like. Default 50. */
  readonly errorsPerSecond?: number;
  /** Every so-manieth limited answer leaves empty with TC, so that a real client comes by TCP; 0 drops all. Default 2. */
  readonly slip?: number;
  /** Clients of one prefix of this many bits count as one. Default 24. */
  readonly ipv4PrefixBits?: number;
  /** Default 56. */
  readonly ipv6PrefixBits?: number;
  /** Accounts held at once, rounded up to a power of two. 16 octets each. Default 65,536. */
  readonly accountsMax?: number;
  /** Counts what it would limit, and lets it pass. Default false. */
  readonly logOnly?: boolean;
  /** Lets 127.0.0.0/8 and ::1 pass, which nobody can forge from outside. Default true. */
  readonly exemptLoopback?: boolean;
}

/**
 * What an answer is to the limit, and which name its account is for: the question's name for `positive`, the zone's for
 * `nodata` and `nxdomain`, the cut's for `referral`, the wildcard's for `wildcard`, none for `error`.
 */
export const responseClass = {
  positive: 0,
  nodata: 1,
  nxdomain: 2,
  referral: 3,
  wildcard: 4,
  error: 5,
} as const;

/** The class by name, in the order of its number. */
export const responseClassNames: readonly string[] = Object.keys(responseClass);

/** What becomes of an answer: sent, sent empty with TC, or not sent. */
export const rateVerdict = { pass: 0, slip: 1, drop: 2 } as const;

/** The client as `check` needs it; a `DatagramClient` is one. */
export interface LimitedClient {
  /** An IPv4 address is in the first 4 octets. */
  readonly octets: Uint8Array;
  readonly octetCount: 4 | 16;
}

/** One table for all threads of a server. It can be sent to a worker. */
export interface SharedRateLimit {
  readonly options: Required<RateLimitOptions>;
  readonly seed: number;
  readonly memory: SharedArrayBuffer;
}

/** Answers limited since the start, by class; they only rise. */
export interface RateLimitCounters {
  readonly slipped: readonly number[];
  readonly dropped: readonly number[];
}

const defaults: Required<RateLimitOptions> = {
  perSecond: 1_000,
  errorsPerSecond: 50,
  slip: 2,
  ipv4PrefixBits: 24,
  ipv6PrefixBits: 56,
  accountsMax: 65_536,
  logOnly: false,
  exemptLoopback: true,
};

/** An account may be used up to this far ahead: so many answers in a row as it gives in this time. */
const burstMs = 1_000;
const classCount = responseClassNames.length;
const counterWords = 4 * classCount;

/**
 * Limits how many like answers leave for one network, so that the server is of no use to those who forge addresses.
 *
 * A fixed table of accounts in shared memory: `check` allocates nothing, and each name has two places it may be in, so
 * that a flood of others rarely displaces a busy account. An account is one number, the time up to which its answers are
 * paid for (the generic cell rate algorithm): within any T seconds (T + 1) times the limit pass, rounded. Threads that
 * write one account at once may lose an answer's price; they never pay twice.
 */
export class RateLimit {
  readonly shared: SharedRateLimit;
  readonly #mask: number;
  readonly #seed: number;
  readonly #options: Required<RateLimitOptions>;
  readonly #intervalMs: number;
  readonly #errorIntervalMs: number;
  readonly #paidUntilMs: Float64Array;
  readonly #tags: Int32Array;
  readonly #limited: Int32Array;
  readonly #counters: Int32Array;

  constructor(shared: SharedRateLimit) {
    const { options, seed, memory } = shared;
    const accounts = accountsFor(options);
    this.shared = shared;
    this.#mask = accounts - 1;
    this.#seed = seed;
    this.#options = options;
    this.#intervalMs = burstMs / options.perSecond;
    this.#errorIntervalMs = burstMs / options.errorsPerSecond;
    this.#paidUntilMs = new Float64Array(memory, 0, accounts);
    this.#tags = new Int32Array(memory, 8 * accounts, accounts);
    this.#limited = new Int32Array(memory, 12 * accounts, accounts);
    this.#counters = new Int32Array(memory, 16 * accounts, counterWords);
  }

  /** A new table. The seed keeps strangers from choosing names that share an account. */
  static create(options: RateLimitOptions & { readonly seed: number }): RateLimit {
    const { seed, ...given } = options;
    const complete = { ...defaults, ...given };
    const memory = new SharedArrayBuffer(16 * accountsFor(complete) + 4 * counterWords);
    return new RateLimit({ options: complete, seed, memory });
  }

  /**
   * Takes one answer off its account. Only for answers over UDP whose question has neither a valid cookie nor a valid
   * signature. `kind` is one of `responseClass`, `nameHash` is 0 for errors, and `nowMs` is the wall clock: the one that all
   * threads share.
   *
   * @returns one of `rateVerdict`
   */
  // oxlint-disable-next-line max-params -- an options object per answer would be the hot path's only allocation
  check(client: LimitedClient, kind: number, nameHash: number, nowMs: number): 0 | 1 | 2 {
    const { octets, octetCount } = client;
    const options = this.#options;
    if (options.exemptLoopback && isLoopback(octets, octetCount)) return 0;
    const bits = octetCount === 4 ? options.ipv4PrefixBits : options.ipv6PrefixBits;
    const first = mix(this.#hashPrefix(octets, bits) ^ nameHash, kind + octetCount);
    const second = mix(first, 0x5bd1e995);
    const tag = mix(second, nameHash) | 1; // 0 is an account that nobody has
    const at = this.#find(first, second, tag);
    const interval = kind === responseClass.error ? this.#errorIntervalMs : this.#intervalMs;
    const paid = this.#paidUntilMs;
    // What lies further ahead than a burst was written before the clock was set back.
    const from = paid[at]! > nowMs && paid[at]! <= nowMs + 2 * burstMs ? paid[at]! : nowMs;
    // Half an interval of slack, so that the sum of many rounded intervals does not cost one answer.
    if (from - nowMs < burstMs - interval / 2) {
      paid[at] = from + interval;
      return 0;
    }
    const count = ++this.#limited[at]!;
    const slips = options.slip > 0 && count % options.slip === 0;
    this.#count(slips ? kind : classCount + kind);
    if (options.logOnly) return 0;
    return slips ? 1 : 2;
  }

  /** Summed over all threads. In log-only mode, what would have been limited. */
  get counters(): RateLimitCounters {
    const all = Array.from({ length: 2 * classCount }, (_, index) => {
      const [low, high] = [this.#counters[2 * index]!, this.#counters[2 * index + 1]!];
      return (low >>> 0) + high * 2 ** 32;
    });
    return { slipped: all.slice(0, classCount), dropped: all.slice(classCount) };
  }

  /** The account's place: where it is, else the one of its two places that is paid for the least ahead. */
  #find(first: number, second: number, tag: number): number {
    const tags = this.#tags;
    const a = first & this.#mask;
    if (tags[a] === tag) return a;
    const spread = second & this.#mask;
    const b = spread === a ? a ^ 1 : spread;
    if (tags[b] === tag) return b;
    const at = this.#paidUntilMs[a]! <= this.#paidUntilMs[b]! ? a : b;
    tags[at] = tag;
    this.#paidUntilMs[at] = 0;
    this.#limited[at] = 0;
    return at;
  }

  #hashPrefix(octets: Uint8Array, bits: number): number {
    let hash = this.#seed;
    const whole = bits >>> 3;
    for (let index = 0; index < whole; index++) hash = Math.imul(hash ^ octets[index]!, 0x01000193);
    const rest = bits & 7;
    return rest === 0 ? hash : Math.imul(hash ^ (octets[whole]! >>> (8 - rest)), 0x01000193);
  }

  #count(index: number): void {
    if (Atomics.add(this.#counters, 2 * index, 1) === -1) Atomics.add(this.#counters, 2 * index + 1, 1);
  }
}

function accountsFor({ accountsMax }: Required<RateLimitOptions>): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, accountsMax)));
}

function isLoopback(octets: Uint8Array, octetCount: number): boolean {
  if (octetCount === 4) return octets[0] === 127;
  for (let index = 0; index < 15; index++) if (octets[index] !== 0) return false;
  return octets[15] === 1;
}

/** The finalizer of MurmurHash3, over two words. */
function mix(a: number, b: number): number {
  let hash = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ b;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
