import type { DnsClient } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { addressFamilies, type AddressFamily, type FamilyTargets } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
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
}

/**
 * Addresses of host names in the edge DNS: looked up in the background, again each period, and read without waiting. The
 * last good answer stands while later lookups fail.
 */
export class AddressBook {
  readonly #clock: Runtime["clock"];
  readonly #options: AddressBookOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #namesOf = new Map<string, ReadonlySet<string>>();

  constructor(runtime: Pick<Runtime, "clock">, options: AddressBookOptions) {
    this.#clock = runtime.clock;
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
    const entry: Entry = present ?? { name, keys: new Set(), state: { state: "pending" } };
    entry.keys.add(key);
    if (present === undefined) {
      this.#entries.set(name, entry);
      this.#options.tasks.start("address lookup", (signal) => this.#follow(entry, signal));
    }
    return entry.state;
  }

  async #follow(entry: Entry, signal: AbortSignal): Promise<void> {
    while (entry.keys.size > 0) {
      const found = await lookUpAddresses(entry.name, {
        ...this.#options,
        servers: this.#options.servers(),
        signal,
      });
      const isKept = found.state === "failed" && entry.state.state === "known";
      if (!isKept && JSON.stringify(found) !== JSON.stringify(entry.state)) {
        entry.state = found;
        for (const key of entry.keys) this.#options.onChange(key);
      }
      await this.#clock.sleep(this.#options.periodMs, signal);
    }
    this.#entries.delete(entry.name);
  }
}

/** Asks edge servers for a name's addresses of both families, following aliases. An answer without any is an answer. */
export async function lookUpAddresses(
  name: string,
  options: {
    readonly dnsClient: Pick<DnsClient, "query">;
    readonly servers: readonly Endpoint[];
    readonly deadlineMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Exclude<LookedUp, { state: "pending" }>> {
  const { dnsClient, servers, deadlineMs, signal } = options;
  if (servers.length === 0)
    return { state: "failed", verdict: "no edge DNS server is configured; set EDGE_DNS_SERVERS" };
  const ask = async (family: AddressFamily): Promise<readonly string[] | { readonly verdict: string }> => {
    const verdict = await dnsClient.query({
      name,
      type: family,
      servers,
      deadlineMs,
      recursionDesired: true,
      signal,
    });
    if (verdict.state === "unreachable") return { verdict: verdict.reason };
    if (verdict.state === "refused") return { verdict: verdict.rcode };
    if (verdict.outcome === "referral") return { verdict: "a referral in place of an answer" };
    return verdict.records
      .filter((record) => record.type === family)
      .map((record) => record.data)
      .sort();
  };
  const [A, AAAA] = await Promise.all(addressFamilies.map(ask));
  if (!isList(A)) return { state: "failed", verdict: A?.verdict ?? "no answer" };
  // A server that only fails for AAAA does not take the IPv4 addresses away.
  const targets: FamilyTargets = { A, AAAA: isList(AAAA) ? AAAA : [] };
  return { state: "known", targets };
}

function isList(
  answer: readonly string[] | { readonly verdict: string } | undefined,
): answer is readonly string[] {
  return Array.isArray(answer);
}
