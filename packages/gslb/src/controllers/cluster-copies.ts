import { Informer, type KubeClient, type SourceInformer } from "@meridian/controller";
import {
  endpointSliceType,
  ingressType,
  serviceType,
  type EndpointSlice,
  type Ingress,
  type KubeObject,
  type Service,
} from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { readyEndpoints } from "../decide/health.ts";
import type { BackendState, ServiceRef } from "../decide/gslb-snapshot.ts";
import { ingressKind, serviceKind, type ReferenceKind } from "../references/reference-kinds.ts";
import type { ReferenceSource } from "../references/resolve-reference.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import { dnsEndpointType, gslbType, zoneDelegationType } from "../resources/resource-types.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import type { TaskScope } from "../tasks/task-scope.ts";

const byService = "service";
const serviceNameLabel = "kubernetes.io/service-name";

/** The copies of everything in the own cluster that the balancer reads. */
export class ClusterCopies implements ReferenceSource {
  readonly gslbs: Informer<Gslb>;
  readonly zones: Informer<ZoneDelegation>;
  readonly endpoints: Informer<DnsEndpoint>;
  readonly ingresses: Informer<Ingress>;
  readonly services: Informer<Service>;
  readonly slices: Informer<EndpointSlice>;

  constructor(runtime: Pick<Runtime, "clock" | "random" | "log">, client: KubeClient) {
    this.gslbs = new Informer<Gslb>(runtime, { client, type: gslbType });
    this.zones = new Informer<ZoneDelegation>(runtime, { client, type: zoneDelegationType });
    this.endpoints = new Informer<DnsEndpoint>(runtime, { client, type: dnsEndpointType });
    this.ingresses = new Informer<Ingress>(runtime, { client, type: ingressType });
    this.services = new Informer<Service>(runtime, {
      client,
      type: serviceType,
      transform: withoutManagedFields,
    });
    this.slices = new Informer<EndpointSlice>(runtime, {
      client,
      type: endpointSliceType,
      transform: withoutManagedFields,
    });
    this.slices.addIndex(byService, (slice) => serviceKeyOf(slice) ?? []);
  }

  get all(): readonly SourceInformer[] {
    return [this.gslbs, this.zones, this.endpoints, this.ingresses, this.services, this.slices];
  }

  /** Follows the API server; resolves when every copy is complete for the first time. */
  async start(tasks: TaskScope): Promise<void> {
    for (const informer of this.all)
      tasks.start(`copy of ${informer.type.plural}`, (signal) => informer.run(signal));
    await Promise.all(this.all.map((informer) => informer.synced));
  }

  /** Health of one Service: does it exist, and has any of its slices a ready endpoint. */
  backend(service: ServiceRef): BackendState {
    const key = `${service.namespace}/${service.name}`;
    if (this.services.lister.get(key) === undefined) return { state: "notFound", readyEndpoints: 0 };
    const ready = this.slices.lister
      .byIndex(byService, key)
      .reduce((sum, slice) => sum + readyEndpoints(slice), 0);
    return { state: ready > 0 ? "healthy" : "unhealthy", readyEndpoints: ready };
  }

  get(kind: ReferenceKind, key: string): KubeObject | undefined {
    return this.#listerOf(kind)?.get(key);
  }

  list(kind: ReferenceKind, namespace: string): readonly KubeObject[] {
    return this.#listerOf(kind)?.list(namespace) ?? [];
  }

  #listerOf(
    kind: ReferenceKind,
  ):
    { get(key: string): KubeObject | undefined; list(namespace: string): readonly KubeObject[] } | undefined {
    if (kind === ingressKind) return this.ingresses.lister;
    return kind === serviceKind ? this.services.lister : undefined;
  }
}

/** The `namespace/name` of the Service that a slice belongs to. */
export function serviceKeyOf(slice: EndpointSlice): [string] | undefined {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name === undefined || name === "" ? undefined : [`${slice.metadata.namespace ?? ""}/${name}`];
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
