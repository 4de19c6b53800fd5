import { findCondition, objectKey, type LoadBalancerIngress } from "@meridian/kube";
import type { Gateway, Route } from "../resources/gateway-api.ts";
import { reachedBy, reachedByAll, reachedNowhere, unread, type ReachedAt } from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";
import { gatewayOf, parentsOf, refusalOf } from "./route-parents.ts";

/**
 * Where the Gateways are reached that a route attaches to. One that does not accept the route is left out, and one that
 * says of itself that it is not programmed gives no address; one without such a word counts, as with k8gb.
 */
export function reachedAtGateways(route: Route, reads: RecordedReads): ReachedAt {
  const parents = parentsOf(route);
  if (parents.length === 0)
    return reachedNowhere(
      `${objectKey(route.metadata)} names no Gateway in spec.parentRefs, so nothing says where it is reached`,
    );
  const accepting = parents.filter((parent) => refusalOf(parent, route) === undefined);
  // A route that nobody accepts serves no host, wherever it may be reached.
  return reachedByAll(
    (accepting.length > 0 ? accepting : parents).map((parent) => {
      const found = gatewayOf(parent, route, reads);
      return found.is === "found" ? reachedAtGateway(found.object) : unread(found);
    }),
  );
}

function reachedAtGateway(gateway: Gateway): ReachedAt {
  const programmed = findCondition(gateway.status?.conditions, "Programmed");
  if (programmed?.status === "False") {
    const why = [programmed.reason, programmed.message].filter((text) => text !== "").join(", ");
    const lacking = `Gateway ${objectKey(gateway.metadata)} is not programmed${why === "" ? "" : `: ${why}`}`;
    return { ...reachedBy([]), lacking };
  }
  const entries: LoadBalancerIngress[] = [];
  const problems: string[] = [];
  for (const { type = "IPAddress", value } of gateway.status?.addresses ?? []) {
    if (type === "IPAddress") entries.push({ ip: value });
    else if (type === "Hostname") entries.push({ hostname: value });
    else
      problems.push(
        `Gateway ${objectKey(gateway.metadata)} has the address ${value} of type ${type}, which only its own controller knows; state the addresses by an annotation of the Gslb`,
      );
  }
  return { ...reachedBy(entries), problems };
}
