import type { DnsClient } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { deepEqual } from "@meridian/kube";
import type { FamilyTargets } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { askAddresses, type AddressAnswers, type AddressQuestion } from "./address-answers.ts";
import type { LookedUp } from "./exposed-addresses.ts";

/** Whom to ask for addresses, how often, and whom to tell. */
export interface AddressBookOptions {
  readonly dnsClient: Pick<DnsClient, "query">;
  /** Asked in this order. */
  readonly servers: () => readonly Endpoint[];
  readonly deadlineMs: number;
  readonly periodMs: number;
  readonly tasks: TaskScope;
  /** A name that was looked up for `key` is known now, or has other addresses. */
  readonly onChange: (key: string) => void;
}

interface Entry {
  readonly name: string;
  readonly keys: Set<string>;
  state: LookedUp;
  /** The last lookup got no answer. */
  isFailing: boolean;
}

/** How soon a name is looked up again at the earliest, and after a failure. */
const restMs = 5000;

/**
 * Addresses of host names in the edge DNS: looked up in the background, again when their TTL or the period ends, and read
 * without waiting. The last good answer of each family stands while later lookups of it fail.
 */
export class AddressBook {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: AddressBookOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #namesOf = new Map<string, ReadonlySet<string>>();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: AddressBookOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /**
   * Reads names for one key, which is told when what it read changes. `read` gets the lookup; names that the key read
   * before and does not read now are dropped, and forgotten where nobody else reads them.
   */
  reading<T>(key: string, read: (lookUp: (hostname: string) => LookedUp) => T): T {
    const used = new Set<string>();
    const result = read((hostname) => {
      used.add(canonicalName(hostname));
      return this.#lookUp(canonicalName(hostname), key);
    });
    this.#release(key, used);
    return result;
  }

  /** The key reads nothing any more. */
  forget(key: string): void {
    this.#release(key, new Set());
  }

  #release(key: string, used: ReadonlySet<string>): void {
    for (const name of this.#namesOf.get(key) ?? [])
      if (!used.has(name)) this.#entries.get(name)?.keys.delete(key);
    if (used.size === 0) this.#namesOf.delete(key);
    else this.#namesOf.set(key, used);
  }

  #lookUp(name: string, key: string): LookedUp {
    const present = this.#entries.get(name);
    const entry: Entry = present ?? {
      ...{ name, keys: new Set() },
      ...{ state: { state: "pending" }, isFailing: false },
    };
    entry.keys.add(key);
    if (present === undefined) {
      this.#entries.set(name, entry);
      this.#options.tasks.start("address lookup", (signal) => this.#follow(entry, signal));
    }
    return entry.state;
  }

  async #follow(entry: Entry, signal: AbortSignal): Promise<void> {
    while (entry.keys.size > 0) {
      const found = await askAddresses(entry.name, {
        ...this.#options,
        servers: this.#options.servers(),
        signal,
      });
      const state = merged(entry.state, found);
      this.#tellFailure(entry, found, state);
      if (!deepEqual(state, entry.state)) {
        entry.state = state;
        for (const key of entry.keys) this.#options.onChange(key);
      }
      const freshMs = Math.max(restMs, found.ttlSeconds * 1000);
      await this.#runtime.clock.sleep(Math.min(this.#options.periodMs, freshMs), signal);
    }
    this.#entries.delete(entry.name);
  }

  /** Once, in k8gb's words: what is asked for may stand for long while nobody answers. */
  #tellFailure(entry: Entry, { A }: AddressAnswers, state: LookedUp): void {
    const failed = "verdict" in A ? A : state.state === "failed" ? state : undefined;
    if (failed !== undefined && !entry.isFailing)
      this.#runtime.log.warn("Dig error", { name: entry.name, verdict: failed.verdict });
    entry.isFailing = failed !== undefined;
  }
}

/** Asks edge servers once for a name's addresses of both families, following aliases. An answer without any is an answer. */
export async function lookUpAddresses(
  name: string,
  question: AddressQuestion,
): Promise<Exclude<LookedUp, { state: "pending" }>> {
  return merged({ state: "pending" }, await askAddresses(name, question));
}

/** The answers, and for a family that failed what was known of it before. That nobody answers is never an empty answer. */
function merged(before: LookedUp, { A, AAAA }: AddressAnswers): Exclude<LookedUp, { state: "pending" }> {
  const known = knownBefore(before);
  const v4 = "addresses" in A ? A.addresses : known.A;
  const v6 = "addresses" in AAAA ? AAAA.addresses : known.AAAA;
  // A name whose IPv4 addresses were never known is not known; a server that only fails for AAAA is one of old.
  if (v4 === undefined) return { state: "failed", verdict: "verdict" in A ? A.verdict : "no answer" };
  if (v6 !== undefined) return { state: "known", targets: { A: v4, AAAA: v6 } };
  if (v4.length > 0) return { state: "known", targets: { A: v4, AAAA: [] }, unknownFamily: "AAAA" };
  // All addresses of the name may be of the family that nobody tells of.
  return { state: "failed", verdict: "verdict" in AAAA ? AAAA.verdict : "no answer" };
}

function knownBefore(before: LookedUp): Partial<FamilyTargets> {
  if (before.state !== "known") return {};
  const { targets, unknownFamily } = before;
  return unknownFamily === undefined ? targets : { A: targets.A };
}
