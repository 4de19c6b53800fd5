import { isUntold, type AddressFamily } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { DnsServerEntry } from "../resources/zone-delegation.ts";

/** What a look for one cluster's DNS server came to. */
export type ServerLookup =
  /** The addresses; none where the parent says that the name has none. */
  | {
      readonly name: string;
      readonly addresses: readonly string[];
      /** Of this family nobody could say: what was known of it stays. */
      readonly unknownFamily?: AddressFamily;
    }
  /** Nobody could say: what was known stays. */
  | { readonly name: string; readonly failed: true };

/**
 * The entries of `status.dnsServers`, sorted by name and then address as text. A failed lookup keeps the entries that
 * the cluster had, of each family apart: that a parent cannot be asked never makes a cluster disappear.
 */
export function dnsServerEntries(
  lookups: readonly ServerLookup[],
  before: readonly DnsServerEntry[],
): readonly DnsServerEntry[] {
  const entries = lookups.flatMap((lookup) => {
    const had = before.filter((entry) => canonicalName(entry.name) === canonicalName(lookup.name));
    if ("failed" in lookup) return had;
    const { name, addresses, unknownFamily } = lookup;
    const kept = had.filter(({ address }) => isUntold(address, { unknownFamily, told: addresses }));
    return [...addresses.map((address) => ({ name, address })), ...kept];
  });
  return entries.sort((a, b) => compare(a.name, b.name) || compare(a.address, b.address));
}

/** Whether two lists hold the same entries, each as often. Order does not matter. */
export function sameEntries(a: readonly DnsServerEntry[], b: readonly DnsServerEntry[]): boolean {
  const texts = (entries: readonly DnsServerEntry[]): string =>
    entries
      .map(({ name, address }) => `${name} ${address}`)
      .sort()
      .join("\n");
  return a.length === b.length && texts(a) === texts(b);
}

/** The addresses that entries have for one name server. */
export function addressesOf(name: string, entries: readonly DnsServerEntry[]): readonly string[] {
  return entries
    .filter((entry) => canonicalName(entry.name) === canonicalName(name))
    .map(({ address }) => address);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
