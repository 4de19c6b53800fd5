import { canonicalName } from "../decide/dns-name.ts";

/**
 * What a listener and a route have in common, by the rules of the Gateway API: of two names that match the narrower, in its
 * own spelling. A wildcard stands for one label or more.
 *
 * @returns `undefined` where no request can be for both
 */
export function commonHost(listenerHost: string | undefined, routeHost: string): string | undefined {
  if (listenerHost === undefined || listenerHost === "") return routeHost;
  if (covers(listenerHost, routeHost)) return routeHost;
  return covers(routeHost, listenerHost) ? listenerHost : undefined;
}

function covers(wide: string, narrow: string): boolean {
  const [wideName, narrowName] = [canonicalName(wide), canonicalName(narrow)];
  if (wideName === narrowName) return true;
  return wideName.startsWith("*.") && narrowName.endsWith(wideName.slice(1));
}
