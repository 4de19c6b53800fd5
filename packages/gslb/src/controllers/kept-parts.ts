import type { EndpointSlice, ObjectMeta, Service } from "@meridian/kube";

/** The label of a slice that names its Service. */
export const serviceNameLabel = "kubernetes.io/service-name";

/**
 * What is kept of a Service in the copy: there are many, and few fields of them are read. None is ever written from it.
 */
export function keptService({ apiVersion, kind, metadata, spec, status }: Service): Service {
  const { type, clusterIP, clusterIPs, ipFamilies, externalTrafficPolicy } = spec ?? {};
  const { loadBalancer } = status ?? {};
  return {
    ...{ apiVersion, kind, metadata: { ...identity(metadata), ...given({ labels: metadata.labels }) } },
    spec: given({ type, clusterIP, clusterIPs, ipFamilies, externalTrafficPolicy }),
    ...(loadBalancer === undefined ? {} : { status: { loadBalancer } }),
  };
}

/** What is kept of an EndpointSlice: which of its endpoints are ready, on which node and at which port. */
export function keptSlice({
  apiVersion,
  kind,
  metadata,
  addressType,
  endpoints,
  ports,
}: EndpointSlice): EndpointSlice {
  const service = metadata.labels?.[serviceNameLabel];
  const labels = service === undefined ? undefined : { [serviceNameLabel]: service };
  return {
    ...{ apiVersion, kind, addressType, metadata: { ...identity(metadata), ...given({ labels }) } },
    endpoints: (endpoints ?? []).map(({ addresses, conditions, nodeName }) => ({
      // Kubernetes says of more than one that nobody reads them.
      addresses: (addresses ?? []).slice(0, 1),
      ...(conditions?.ready === undefined ? {} : { conditions: { ready: conditions.ready } }),
      ...given({ nodeName }),
    })),
    ports: (ports ?? []).map(({ port, protocol }) => given({ port, protocol })),
  };
}

function identity({ name, namespace, uid, resourceVersion, generation }: ObjectMeta): ObjectMeta {
  return given({ name, namespace, uid, resourceVersion, generation });
}

/** Without what is absent. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
