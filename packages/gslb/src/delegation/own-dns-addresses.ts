import { objectKey, type Ingress, type LoadBalancerIngress, type Service } from "@meridian/kube";
import type { OperatorConfig } from "../config/operator-config.ts";
import { splitFamilies, type AddressFamily } from "../decide/address-family.ts";
import { knownAddresses, type LookedUp } from "../references/exposed-addresses.ts";

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

/** The addresses, at least one, those of IPv4 first; or why there is none. IPv4 alone is enough where IPv6 cannot be asked for. */
export type OwnAddresses =
  | {
      readonly addresses: readonly string[];
      /** A family that nobody could tell of, so that there may be more addresses of it. */
      readonly unknownFamily?: AddressFamily;
      readonly problem?: undefined;
    }
  | { readonly addresses?: undefined; readonly unknownFamily?: undefined; readonly problem: string };

/**
 * Where the own DNS server is reached from outside: what the configuration says, else the load balancer in front of the
 * DNS Service, else the first Ingress labelled `k8gb.io/ip-source=true`. Both families: their glue is A and AAAA records.
 */
export function ownDnsAddresses(config: OwnAddressConfig, sources: OwnAddressSources): OwnAddresses {
  if (config.dnsAddresses.length > 0) return found(config.dnsAddresses);
  if (config.exposedAddresses.length > 0) return found(config.exposedAddresses);
  return config.dnsServiceType === "LoadBalancer"
    ? ofDnsService(config.podNamespace, sources)
    : ofLabelledIngress(sources);
}

function ofDnsService(namespace: string, sources: OwnAddressSources): OwnAddresses {
  const services = sources.services(namespace).filter(isDnsService);
  const [service] = services;
  if (service === undefined || services.length > 1)
    return {
      problem: `exactly one Service labelled app.kubernetes.io/name=coredns is expected in namespace ${namespace}, and there are ${services.length}`,
    };
  if (service.spec?.type === "ClusterIP")
    return found(service.spec.clusterIPs ?? [service.spec.clusterIP ?? ""]);
  return ofLoadBalancer(service.status?.loadBalancer?.ingress ?? [], sources.lookUp);
}

/** Whether a Service in the operator's namespace is the one of the DNS server. */
export function isDnsService({ metadata: { labels } }: Service): boolean {
  return (
    labels?.["app.kubernetes.io/name"] === "coredns" && labels["app.kubernetes.io/component"] !== "metrics"
  );
}

function ofLoadBalancer(
  entries: readonly LoadBalancerIngress[],
  lookUp: OwnAddressSources["lookUp"],
): OwnAddresses {
  const each = entries.map((entry) => addressesOf(entry, lookUp));
  const problem = each.find((one) => one.problem !== undefined);
  if (problem !== undefined) return problem;
  const all = found(each.flatMap(({ addresses = [] }) => addresses));
  const unknownFamily = each.find((one) => one.unknownFamily !== undefined)?.unknownFamily;
  return all.problem !== undefined || unknownFamily === undefined ? all : { ...all, unknownFamily };
}

function addressesOf(entry: LoadBalancerIngress, lookUp: OwnAddressSources["lookUp"]): OwnAddresses {
  const { hostname = "", ip } = entry;
  if (hostname === "") return { addresses: ip === undefined ? [] : [ip] };
  const answer = lookUp(hostname);
  if (answer.state === "known") return knownAddresses(answer);
  return answer.state === "pending"
    ? { problem: `${hostname} is being looked up` }
    : { problem: `${hostname} cannot be resolved: ${answer.verdict}` };
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
  return ofLoadBalancer(ingress.status?.loadBalancer?.ingress ?? [], sources.lookUp);
}

function found(addresses: readonly string[]): OwnAddresses {
  const { A, AAAA } = splitFamilies(addresses).targets;
  return A.length + AAAA.length > 0
    ? { addresses: [...A, ...AAAA] }
    : { problem: "the own DNS server has no address yet" };
}
