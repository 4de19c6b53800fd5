import type { ApplicationFacts } from "../observation/cluster-facts.ts";
import type { Tag } from "../fleet/fleet-map.ts";
import type { Expectation } from "../observation/expectation.ts";

/**
 * What a cluster that runs k8gb cannot promise, so that the invariants do not ask it of one. Everything else is asked of both.
 *
 * 1. A target stays published for k8gb's own bound (`k8gbBounds`), not ours: one worker, peers asked one by one, addresses of
 *    an Ingress not watched. After a start, and while the operator hangs, its CoreDNS answers what is stored, however old.
 * 2. An unreachable peer is an empty one, at once; `splitBrainThresholdSeconds` does nothing. One lost datagram, a dead last
 *    address and a parent that did not answer when peers were looked for each make a peer unreachable.
 * 3. It picks over IPv4 alone: IPv6 is neither published, nor learned, nor answered, and a cluster that has nothing else is
 *    none; as a healthy failover primary such a one answers nothing itself. Wildcards are unknown: names below one are NXDOMAIN, as is each name without a target.
 * 4. More addresses of a peer than fit into 512 octets are lost.
 * 5. Nothing of the views, conditions and events that ours shows is there to be checked (4 and 7), its API server is not part
 *    of the simulation (5 and 6), and neither its DNS server nor anybody's `localtargets-` names are guarded (8).
 */
export const k8gbExceptions = 5;

/** So many IPv4 addresses surely fit into 512 octets with their host's name. */
const wholeTargetsMax = 20;

/** Whether k8gb may see but a part of what a cluster publishes (exception 4). */
export function mayBeCut(published: readonly string[]): boolean {
  return published.filter((target) => !target.includes(":")).length > wholeTargetsMax;
}

/**
 * Whether two clusters that see the same may still answer a host's IPv4 question differently: a k8gb cluster picked without
 * what it cannot see (exception 3).
 */
export function mayDiffer(of: {
  readonly facts: ApplicationFacts;
  readonly ours: Expectation;
  readonly theirs: Expectation;
}): boolean {
  const { application } = of.facts;
  if (application.question !== application.host) return true;
  const seen = (expectation: Expectation): string =>
    JSON.stringify([...expectation.usable].map(([tag, targets]) => [tag, targets.toSorted()]).sort());
  return seen(of.ours) !== seen(of.theirs);
}

/** The pairs of one of ours and one of k8gb's. */
export function mixedPairs(
  ours: Iterable<Tag>,
  k8gbs: Iterable<Tag>,
): readonly { readonly our: Tag; readonly their: Tag }[] {
  return [...ours].flatMap((our) => [...k8gbs].map((their) => ({ our, their })));
}
