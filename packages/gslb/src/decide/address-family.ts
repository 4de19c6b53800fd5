/** The two kinds of address record, each learned, published and answered apart. */
export type AddressFamily = "A" | "AAAA";

export const addressFamilies: readonly AddressFamily[] = ["A", "AAAA"];

/** Addresses by family, each in the order in which they are published. */
export interface FamilyTargets {
  readonly A: readonly string[];
  readonly AAAA: readonly string[];
}

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

/** Four decimal octets without leading zeros, as inet_pton reads them. */
export function isIpv4(text: string): boolean {
  const octets = text.split(".");
  return (
    octets.length === 4 && octets.every((octet) => /^(0|[1-9]\d{0,2})$/.test(octet) && Number(octet) <= 255)
  );
}

/** An IPv6 address as RFC 5952 writes it, so that one address is one text in every cluster. */
function canonicalIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** RFC 4291 §2.2, the mixed form with a dotted tail included; no zone index. */
export function isIpv6(text: string): boolean {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(":")) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  let count = groups.length;
  for (const [index, group] of groups.entries()) {
    if (group.includes(".")) {
      if (index !== groups.length - 1 || text.endsWith(":") || !isIpv4(group)) return false;
      count += 1;
    } else if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return false;
  }
  return halves.length === 2 ? count <= 7 : count === 8;
}
