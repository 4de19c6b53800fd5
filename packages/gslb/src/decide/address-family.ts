import { isIpv4, isIpv6 } from "@meridian/kube";

/** The two kinds of address record, each learned, published and answered apart. */
export type AddressFamily = "A" | "AAAA";

/** Both families, in the order in which records of them are written. */
export const addressFamilies: readonly AddressFamily[] = ["A", "AAAA"];

/** Addresses by family, each in the order in which they are published. */
export interface FamilyTargets {
  readonly A: readonly string[];
  readonly AAAA: readonly string[];
}

/** No address in either family. */
export const noTargets: FamilyTargets = { A: [], AAAA: [] };

/** Whether there is an address in either family. */
export function hasTargets(targets: FamilyTargets): boolean {
  return targets.A.length > 0 || targets.AAAA.length > 0;
}

/** The family of an address in text form, `undefined` where it is none. */
export function familyOf(address: string): AddressFamily | undefined {
  if (isIpv4(address)) return "A";
  return isIpv6(address) ? "AAAA" : undefined;
}

/** Whether an address that was known stays: nobody could tell of its family now, and it is not among those that are told. */
export function isUntold(
  address: string,
  {
    unknownFamily,
    told,
  }: { readonly unknownFamily: AddressFamily | undefined; readonly told: readonly string[] },
): boolean {
  return unknownFamily !== undefined && familyOf(address) === unknownFamily && !told.includes(address);
}

/** Sorts addresses into families, in order and each once, IPv6 in the form that DNS answers have. What is no address ends in `refused`. */
export function splitFamilies(addresses: readonly string[]): {
  readonly targets: FamilyTargets;
  readonly refused: readonly string[];
} {
  const A = new Set<string>();
  const AAAA = new Set<string>();
  const refused: string[] = [];
  for (const address of addresses) {
    const family = familyOf(address);
    if (family === "A") A.add(address);
    else if (family === "AAAA") AAAA.add(canonicalIpv6(address));
    else refused.push(address);
  }
  return { targets: { A: [...A], AAAA: [...AAAA] }, refused };
}

/** An IPv6 address as RFC 5952 writes it, so that one address is one text in every cluster. */
function canonicalIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
