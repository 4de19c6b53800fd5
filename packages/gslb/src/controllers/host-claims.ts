import { canonicalName } from "../decide/dns-name.ts";

/** What a Gslb claims. */
export interface HostClaim {
  /** When the Gslb was made: RFC 3339 in UTC, in whole seconds, so text order is time order. */
  readonly since: string;
  readonly hosts: readonly string[];
  /** Of these, those that it holds already according to its status. */
  readonly held: readonly string[];
}

interface Claimant {
  readonly key: string;
  readonly since: string;
  readonly isHolding: boolean;
}

/**
 * Which Gslb holds which host. The oldest claimant does, in any order of events and after every restart. Of two made in the
 * same second it is the one that holds the host already, else the one whose `namespace/name` sorts first.
 */
export class HostClaims {
  readonly #claimants = new Map<string, Claimant[]>();
  readonly #claims = new Map<string, { readonly text: string; readonly hosts: ReadonlySet<string> }>();

  /** Says which hosts a Gslb names. @returns the other Gslbs that have won or lost a host by it */
  set(key: string, claim: HostClaim): ReadonlySet<string> {
    const affected = new Set<string>();
    const text = JSON.stringify(claim);
    const before = this.#claims.get(key);
    if (before?.text === text) return affected;
    const hosts = new Set(claim.hosts.map(canonicalName));
    const held = new Set(claim.held.map(canonicalName));
    for (const host of new Set([...(before?.hosts ?? []), ...hosts])) {
      const isHolding = held.has(host);
      this.#change(host, affected, (claimants) => {
        const others = claimants.filter((each) => each.key !== key);
        return hosts.has(host) ? [...others, { key, since: claim.since, isHolding }].sort(byRank) : others;
      });
    }
    if (hosts.size === 0) this.#claims.delete(key);
    else this.#claims.set(key, { text, hosts });
    affected.delete(key);
    return affected;
  }

  remove(key: string): ReadonlySet<string> {
    return this.set(key, { since: "", hosts: [], held: [] });
  }

  /** The Gslb that holds a host, as `namespace/name`. */
  holder(host: string): string | undefined {
    return this.#claimants.get(canonicalName(host))?.[0]?.key;
  }

  /** All hosts that are claimed, sorted. */
  get hosts(): readonly string[] {
    return [...this.#claimants.keys()].sort();
  }

  /** Every claimant of a host is affected when its holder changes. */
  #change(host: string, affected: Set<string>, next: (claimants: readonly Claimant[]) => Claimant[]): void {
    const before = this.#claimants.get(host) ?? [];
    const after = next(before);
    if (after.length === 0) this.#claimants.delete(host);
    else this.#claimants.set(host, after);
    if (before[0]?.key === after[0]?.key) return;
    for (const { key } of [...before, ...after]) affected.add(key);
  }
}

function byRank(a: Claimant, b: Claimant): number {
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  if (a.isHolding !== b.isHolding) return a.isHolding ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
