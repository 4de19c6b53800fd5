import {
  familyOf,
  hasTargets,
  splitFamilies,
  type AddressFamily,
  type FamilyTargets,
} from "../decide/address-family.ts";
import { hostNameProblem } from "../decide/dns-name.ts";
import type { ExposedOutcome } from "../decide/gslb-snapshot.ts";
import { exposedAddressesAnnotation, exposedHostnamesAnnotation } from "../resources/gslb-annotations.ts";
import type { Gslb } from "../resources/gslb.ts";
import type { ReachedAt } from "./reference-kind.ts";

/** What is known of a host name's addresses. */
export type LookedUp =
  | { readonly state: "pending" }
  /** The last good answer of each family, also where later lookups failed. */
  | {
      readonly state: "known";
      readonly targets: FamilyTargets;
      /** A family of which there was no answer ever: that `targets` has none of it means nothing. */
      readonly unknownFamily?: AddressFamily;
    }
  | { readonly state: "failed"; readonly verdict: string };

/** All addresses of a name, those of IPv4 first, with the family that nobody could tell of. */
export function knownAddresses({ targets, unknownFamily }: Extract<LookedUp, { readonly state: "known" }>): {
  readonly addresses: readonly string[];
  readonly unknownFamily?: AddressFamily;
} {
  return {
    addresses: [...targets.A, ...targets.AAAA],
    ...(unknownFamily === undefined ? {} : { unknownFamily }),
  };
}

/** Where a Gslb's addresses can come from, beside its annotations. */
export interface ExposedSources {
  /** What the referenced object says; asked last. */
  readonly reachedAt: () => ReachedAt;
  /** `CLUSTER_EXPOSED_IPS` */
  readonly override: readonly string[];
  /** Never waits: a name not looked up yet is pending. */
  readonly lookUp: (hostname: string) => LookedUp;
  /** Whether a Gslb of this cluster balances it: what such a name stands for are other clusters' addresses, too. */
  readonly isBalanced: (hostname: string) => boolean;
}

/**
 * Where this cluster serves a Gslb's hosts: the hostnames annotation before the addresses annotation before the
 * configuration before the referenced object.
 */
export function exposedAddresses(gslb: Gslb, sources: ExposedSources): ExposedOutcome {
  const annotations = gslb.metadata.annotations ?? {};
  const hostnames = annotations[exposedHostnamesAnnotation];
  if (hostnames !== undefined) {
    const source = `annotation ${exposedHostnamesAnnotation}`;
    const names = splitList(hostnames).filter((name) => name !== "");
    if (names.length === 0)
      return { source, problem: `${source} is blank; name at least one host, for example lb.example.net` };
    return fromNames(names, { ...sources, source, mustResolve: true });
  }

  const addresses = annotations[exposedAddressesAnnotation];
  if (addresses !== undefined) {
    const source = `annotation ${exposedAddressesAnnotation}`;
    const { targets, refused } = splitFamilies(splitList(addresses));
    if (refused.length === 0) return { targets, source };
    const wrong = refused.map((each) => JSON.stringify(each)).join(", ");
    return {
      source,
      problem: `${source} is ${JSON.stringify(addresses)}, and ${wrong} ${refused.length === 1 ? "is no address" : "are no addresses"}; write addresses joined by commas, for example 192.0.2.1,192.0.2.2`,
    };
  }

  if (sources.override.length > 0)
    return { targets: splitFamilies(sources.override).targets, source: "CLUSTER_EXPOSED_IPS" };
  return fromObject(sources);
}

/** Where addresses come from that the referenced object gives. */
export const objectSource = "the referenced object";

function fromObject(sources: ExposedSources): ExposedOutcome {
  const source = objectSource;
  const { entries, isUnknown, problems, lacking } = sources.reachedAt();
  const told = {
    ...(problems.length === 0 ? {} : { problem: problems.join("; ") }),
    ...(lacking === undefined || entries.length > 0 ? {} : { lacking }),
  };
  if (isUnknown) return { source, ...told };
  const plain = splitFamilies(entries.flatMap(({ ip }) => ip ?? [])).targets;
  const names = entries.flatMap(({ hostname = "" }) =>
    hostname === "" || (hasTargets(plain) && sources.isBalanced(hostname)) ? [] : [hostname],
  );
  if (names.length === 0) return { targets: plain, source, ...told };
  const named = fromNames(names, { ...sources, source, mustResolve: false });
  if (named.targets === undefined) return { ...told, ...named };
  return {
    ...{ ...told, ...named },
    targets: {
      A: unique([...plain.A, ...named.targets.A]),
      AAAA: unique([...plain.AAAA, ...named.targets.AAAA]),
    },
  };
}

function fromNames(
  names: readonly string[],
  of: Pick<ExposedSources, "lookUp" | "isBalanced"> & {
    readonly source: string;
    readonly mustResolve: boolean;
  },
): ExposedOutcome {
  const A: string[] = [];
  const AAAA: string[] = [];
  let unknown: Pick<ExposedOutcome, "unknownFamily"> = {};
  for (const name of names) {
    const invalid = hostNameProblem(name);
    if (invalid !== undefined)
      return { source: of.source, problem: `${name} (${of.source}) is no host name: ${invalid}` };
    if (familyOf(name) !== undefined)
      return {
        source: of.source,
        problem: `${name} (${of.source}) is an address and no host name; write it into annotation ${exposedAddressesAnnotation}`,
      };
    if (of.isBalanced(name))
      return {
        source: of.source,
        problem: `${name} (${of.source}) is balanced itself, so its addresses are those of other clusters, too; name this cluster's own load balancer`,
      };
    const found = of.lookUp(name);
    if (found.state === "pending") return { source: of.source };
    if (found.state === "failed")
      return {
        source: of.source,
        problem: `${name} (${of.source}) cannot be resolved: ${found.verdict}; the last known addresses stand`,
      };
    if (of.mustResolve && found.targets.A.length + found.targets.AAAA.length === 0)
      return {
        source: of.source,
        problem: `${name} (${of.source}) has no address; give it one, or name another host`,
      };
    A.push(...found.targets.A);
    AAAA.push(...found.targets.AAAA);
    if (found.unknownFamily !== undefined) unknown = { unknownFamily: found.unknownFamily };
  }
  return { targets: { A: unique(A), AAAA: unique(AAAA) }, ...unknown, source: of.source };
}

function splitList(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}
