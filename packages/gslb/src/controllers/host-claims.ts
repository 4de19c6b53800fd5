import { canonicalName } from "../decide/dns-name.ts";

interface Claimant {
  readonly key: string;
  /** RFC 3339 in UTC. */
  readonly since: string;
}

/**
 * Which Gslb holds which host. The oldest claimant does, on every cluster and after every restart; of two made in the same
 * second, the one whose `namespace/name` sorts first.
 */
export class HostClaims {
  readonly #claimants = new Map<string, Claimant[]>();
  readonly #hosts = new Map<string, { readonly since: string; readonly hosts: ReadonlySet<string> }>();

  /** Says which hosts a Gslb names. @returns the other Gslbs that have won or lost a host by it */
  set(
    key: string,
    claim: { readonly since: string; readonly hosts: readonly string[] },
  ): ReadonlySet<string> {
    const hosts = new Set(claim.hosts.map(canonicalName));
    const before = this.#hosts.get(key);
    const isSame = before !== undefined && before.since === claim.since && sameSet(before.hosts, hosts);
    if (isSame) return new Set();
    const affected = new Set<string>();
    for (const host of before?.hosts ?? [])
      this.#change(host, affected, (claimants) => claimants.filter((each) => each.key !== key));
    for (const host of hosts)
      this.#change(host, affected, (claimants) => [...claimants, { key, since: claim.since }].sort(byAge));
    if (hosts.size === 0) this.#hosts.delete(key);
    else this.#hosts.set(key, { since: claim.since, hosts });
    affected.delete(key);
    return affected;
  }

  remove(key: string): ReadonlySet<string> {
    return this.set(key, { since: "", hosts: [] });
  }

  /** The Gslb that holds a host, as `namespace/name`. */
  holder(host: string): string | undefined {
    return this.#claimants.get(canonicalName(host))?.[0]?.key;
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

function byAge(a: Claimant, b: Claimant): number {
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}
