import type { Random } from "@meridian/runtime";
import {
  gslb,
  ingress,
  service,
  slice,
  thievingEndpoint,
  types,
  type Application,
  type GslbStrategySpec,
} from "../fleet/application.ts";
import type { BadObject } from "../fleet/cluster-user.ts";
import { pick } from "../fleet/draws.ts";
import { zoneName } from "../fleet/fleet-map.ts";

const good: GslbStrategySpec = { type: "roundRobin", dnsTtlSeconds: 5 };

/** Makes one of the objects that a careless or hostile tenant writes. */
export function drawBadObject(random: Random, name: string, applications: readonly Application[]): BadObject {
  const own = `${name}.${zoneName}`;
  const makers: readonly (() => BadObject)[] = [
    () => badGslb(name, "an unknown strategy", { host: own, strategy: { type: "fastest" } }),
    () => badGslb(name, "a negative TTL", { host: own, strategy: { ...good, dnsTtlSeconds: -5 } }),
    () =>
      badGslb(name, "a weight of an unknown cluster", {
        host: own,
        strategy: { ...good, weight: { mars: 3 } },
      }),
    () => badGslb(name, "a host outside every zone", { host: `${name}.example.org`, strategy: good }),
    () =>
      badGslb(name, "a host in a zone that ends alike", { host: `${name}.my${zoneName}`, strategy: good }),
    () => badGslb(name, "a host that contains a zone", { host: `${own}.evil.example`, strategy: good }),
    () =>
      badGslb(name, "a host whose localtargets- name is too long", {
        host: `${"long".repeat(13)}.${zoneName}`,
        strategy: good,
      }),
    () => badGslb(name, "a rival claim on a host", { host: pick(random, applications).host, strategy: good }),
    () => ({
      name,
      about: "a DNSEndpoint that reaches for others' names",
      isGslb: false,
      objects: [
        {
          type: types.endpoint,
          object: thievingEndpoint(name, [pick(random, applications).host]),
        },
      ],
    }),
  ];
  return pick(random, makers)();
}

function badGslb(
  name: string,
  about: string,
  of: { readonly host: string; readonly strategy: GslbStrategySpec },
): BadObject {
  return {
    name,
    about,
    isGslb: true,
    objects: [
      { type: types.service, object: service(name) },
      { type: types.slice, object: slice(name, true) },
      { type: types.ingress, object: ingress(name, of.host) },
      { type: types.gslb, object: gslb(name, of.strategy) },
    ],
  };
}
