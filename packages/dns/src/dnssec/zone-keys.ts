import type { Clock, Logger } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import { nameFromText, nameToText } from "../name/name.ts";
import { wallSeconds } from "../wall-seconds.ts";
import type { Zone } from "../zone/zone.ts";
import { apexKeySets, keySetProblem, ownKeySets } from "./apex-key-sets.ts";
import type { AnswerSigner } from "./answer-signer.ts";
import { nextKeyChange } from "./key-rollover.ts";
import { OnlineSigner, type ZoneSigning } from "./online-signer.ts";
import type { SignatureLifetime } from "./record-signer.ts";
import type { SigningKeys } from "./signing-key.ts";

/** How a zone is signed, beside its keys. */
export interface ZoneKeysOptions extends SignatureLifetime {
  /** TTL of DNSKEY, CDS and CDNSKEY, in seconds. Default 3,600. */
  readonly keyTtl?: number;
  /**
   * The first label of the name, below the origin, at which other clusters find the keys of this one alone. Needed where
   * several clusters with own keys answer the zone (RFC 8901 model 2): the apex has the keys of all, and nobody could tell
   * whose are to go. Default: none.
   */
  readonly ownKeysLabel?: string;
}

/** What signed zones need of the thread that changes them. */
export interface ZoneKeysContext {
  readonly clock: Clock;
  readonly log: Logger;
  /** Signs the answers of this thread. */
  readonly answers: AnswerSigner;
  /** Called with what other threads build their signers from, at once and when keys are set. */
  readonly onSigning?: (signing: ZoneSigning) => void;
}

/** Longest wait for a change of keys at once, so that a wall clock that jumps is seen. */
const waitMsMax = 60_000;

/**
 * Keeps a zone signed: its key sets at the apex as the clock moves keys through their states, and the signer of its
 * answers. Closing it takes the key sets out and ends signing.
 */
export class ZoneKeys implements Disposable {
  readonly #zone: Zone;
  readonly #context: ZoneKeysContext;
  readonly #options: ZoneKeysOptions;
  #keys: SigningKeys;
  #cancel: () => void = () => {};

  constructor(
    zone: Zone,
    { keys, ...options }: ZoneKeysOptions & { readonly keys: SigningKeys },
    context: ZoneKeysContext,
  ) {
    this.#zone = zone;
    this.#options = options;
    this.#context = context;
    this.#keys = keys;
    this.set(keys);
  }

  /** The zone's origin, in lower case, without the trailing dot. */
  get origin(): string {
    return this.#zone.origin;
  }

  get keys(): SigningKeys {
    return this.#keys;
  }

  /** What other threads build their signers from. */
  get signing(): ZoneSigning {
    const { lifetimeSeconds } = this.#options;
    return {
      origin: nameFromText(this.#zone.origin),
      keys: this.#keys,
      ...(lifetimeSeconds === undefined ? {} : { lifetimeSeconds }),
    };
  }

  /**
   * Signs with other keys from now on.
   *
   * @throws DnsError `BadKey` where none of them is ours: the zone would be answered unsigned; `BadZone` where it has the
   * signatures of somebody else
   */
  set(keys: SigningKeys): void {
    const { answers, onSigning, log } = this.#context;
    if (keys.own.length === 0)
      throw new DnsError("BadKey", `zone ${this.#zone.origin} has no key to be signed with; give it one`);
    if (this.#zone.presigned)
      throw new DnsError(
        "BadZone",
        `zone ${this.#zone.origin} is signed already; take it unsigned to sign it here, or take the keys away`,
      );
    this.#keys = keys;
    const problem = keySetProblem(this.#keySets, this.#now);
    if (problem !== undefined) log.warn("key set is large", { zone: this.#zone.origin, problem });
    // The keys are published first: no answer may be signed with one that is not.
    this.#publish();
    this.#zone.signing = new OnlineSigner(this.signing, answers);
    onSigning?.(this.signing);
  }

  [Symbol.dispose](): void {
    this.#cancel();
    this.#keys = { own: [], foreign: [] }; // whoever wants to change the keys sees that there are none
    this.#zone.signing = undefined;
    this.#zone.setApexExtra([]);
    const { ownKeysLabel } = this.#options;
    if (ownKeysLabel !== undefined) this.#zone.replace(new Map([[this.#ownKeysName(ownKeysLabel), []]]));
  }

  get #now(): number {
    return wallSeconds(this.#context.clock);
  }

  get #keySets(): Parameters<typeof apexKeySets>[0] {
    return { origin: nameFromText(this.#zone.origin), keys: this.#keys, ttl: this.#options.keyTtl ?? 3_600 };
  }

  #publish(): void {
    this.#cancel();
    const now = this.#now;
    const { ownKeysLabel } = this.#options;
    this.#zone.setApexExtra(apexKeySets(this.#keySets, now));
    if (ownKeysLabel !== undefined) {
      const name = this.#ownKeysName(ownKeysLabel);
      this.#zone.replace(new Map([[name, ownKeySets({ ...this.#keySets, name }, now)]]));
    }
    const next = nextKeyChange(this.#keys, now);
    if (next === undefined) return;
    const waitMs = Math.max(0, next * 1000 - this.#context.clock.now());
    this.#cancel = this.#context.clock.after(Math.min(waitMs, waitMsMax), () => this.#publish());
  }

  #ownKeysName(label: string): string {
    return `${label}.${nameToText(nameFromText(this.#zone.origin))}`;
  }
}
