import { isIpv4, objectKey, type Ingress, type LoadBalancerIngress, type Service } from "@meridian/kube";
import type { OperatorConfig } from "../config/operator-config.ts";
import type { LookedUp } from "../references/exposed-addresses.ts";

/** The settings that say where the own DNS server is reached. */
export type OwnAddressConfig = Pick<
  OperatorConfig,
  "dnsAddresses" | "exposedAddresses" | "dnsServiceType" | "podNamespace"
>;

/** The objects of the cluster that can tell where its DNS server is reached. */
export interface OwnAddressSources {
  readonly services: (namespace: string) => readonly Service[];
  readonly ingresses: () => readonly Ingress[];
  readonly lookUp: (hostname: string) => LookedUp;
}

/** The addresses, at least one, or why there is none. */
export type OwnAddresses =
  { readonly addresses: readonly string[]; readonly problem?: undefined } | { readonly problem: string };

/**
 * Where the own DNS server is reached from outside: what the configuration says, else the load balancer in front of the
 * DNS Service, else the first Ingress labelled `k8gb.io/ip-source=true`. IPv4 only, since the glue is A records.
 */
export function ownDnsAddresses(config: OwnAddressConfig, sources: OwnAddressSources): OwnAddresses {
  if (config.dnsAddresses.length > 0) return { addresses: config.dnsAddresses };
  if (config.exposedAddresses.length > 0) return { addresses: config.exposedAddresses };
  return config.dnsServiceType === "LoadBalancer"
    ? ofDnsService(config.podNamespace, sources)
    : ofLabelledIngress(sources);
}

function ofDnsService(namespace: string, sources: OwnAddressSources): OwnAddresses {
  const services = sources
    .services(namespace)
    .filter(
      ({ metadata: { labels } }) =>
        labels?.["app.kubernetes.io/name"] === "coredns" &&
        labels["app.kubernetes.io/component"] !== "metrics",
    );
  const [service] = services;
  if (service === undefined || services.length > 1)
    return {
      problem: `exactly one Service labelled app.kubernetes.io/name=coredns is expected in namespace ${namespace}, and there are ${services.length}`,
    };
  if (service.spec?.type === "ClusterIP")
    return found(service.spec.clusterIPs ?? [service.spec.clusterIP ?? ""]);
  const addresses = (service.status?.loadBalancer?.ingress ?? []).map((entry) =>
    addressesOf(entry, sources.lookUp),
  );
  const pending = addresses.find((each) => typeof each === "string");
  return pending === undefined ? found(addresses.flat()) : { problem: pending };
}

function addressesOf(
  entry: LoadBalancerIngress,
  lookUp: OwnAddressSources["lookUp"],
): readonly string[] | string {
  if (entry.hostname === undefined || entry.hostname === "") return entry.ip === undefined ? [] : [entry.ip];
  const answer = lookUp(entry.hostname);
  if (answer.state === "known") return answer.targets.A;
  return answer.state === "pending"
    ? `${entry.hostname} is being looked up`
    : `${entry.hostname} cannot be resolved: ${answer.verdict}`;
}

function ofLabelledIngress(sources: OwnAddressSources): OwnAddresses {
  const labelled = sources
    .ingresses()
    .filter(({ metadata: { labels } }) => labels?.["k8gb.io/ip-source"] === "true")
    .sort((a, b) => (objectKey(a.metadata) < objectKey(b.metadata) ? -1 : 1));
  const ingress = labelled[0];
  if (ingress === undefined)
    return {
      problem:
        "no Ingress is labelled k8gb.io/ip-source=true; label one, or set MERIDIAN_DNS_ADDRESSES or CLUSTER_EXPOSED_IPS",
    };
  return found((ingress.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []));
}

function found(addresses: readonly string[]): OwnAddresses {
  const usable = [...new Set(addresses.filter(isIpv4))];
  return usable.length > 0
    ? { addresses: usable }
    : { problem: "the own DNS server has no IPv4 address yet" };
}
