import { canonicalName } from "../decide/dns-name.ts";
import type { ReferenceProblem, Server, ServiceRef } from "../decide/gslb-snapshot.ts";
import { hostnameAnnotation } from "../resources/gslb-annotations.ts";
import type { Gslb } from "../resources/gslb.ts";
import { named, unusable, type NamedServers } from "./reference-kind.ts";

/** One server per host, in order, whatever the case in which it is named again, with each Service once. */
export function serverList(
  parts: Iterable<{ readonly host: string; readonly services: readonly ServiceRef[] }>,
): readonly Server[] {
  const servers = new Map<string, { host: string; services: Map<string, ServiceRef> }>();
  for (const part of parts) {
    const host = withoutFinalDot(part.host);
    if (host === "") continue;
    const key = canonicalName(host);
    const server = servers.get(key) ?? { host, services: new Map<string, ServiceRef>() };
    servers.set(key, server);
    for (const service of part.services) server.services.set(`${service.namespace}/${service.name}`, service);
  }
  return [...servers.values()].map(({ host, services }) => ({ host, services: [...services.values()] }));
}

/** The host of an object that names none: an annotation of the Gslb does. */
export function serverByAnnotation(
  gslb: Gslb,
  { kind, services }: { readonly kind: string; readonly services: readonly ServiceRef[] },
  problems: readonly ReferenceProblem[] = [],
): NamedServers {
  const host = gslb.metadata.annotations?.[hostnameAnnotation]?.trim() ?? "";
  if (host !== "") return named(serverList([{ host, services }]), problems);
  return unusable(
    `a reference to a ${kind} needs the annotation ${hostnameAnnotation} with the host; set it on the Gslb`,
  );
}

/** Names in objects have none, whoever wrote the host; their case stays. Two are no name, and are left to be refused. */
function withoutFinalDot(host: string): string {
  return host.endsWith(".") && !host.endsWith("..") ? host.slice(0, -1) : host;
}
