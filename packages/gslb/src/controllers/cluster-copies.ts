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
import type { CopyState, ReferenceSource } from "../references/reference-source.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import { legacyGslbs } from "../resources/legacy-gslb.ts";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";
import { dnsEndpointType, gslbType, zoneDelegationType } from "../resources/resource-types.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { EffectiveGslbs } from "./effective-gslbs.ts";
import { keptService, keptSlice, serviceNameLabel } from "./kept-parts.ts";
import { OptionalCopies } from "./optional-copies.ts";
import type { OptionalCopy } from "./optional-copy.ts";

const byService = "service";

/** The copies of everything in the own cluster that the balancer reads. */
export class ClusterCopies implements ReferenceSource {
  /** Those that are in effect, of both groups. */
  readonly gslbs: EffectiveGslbs;
  readonly canonicalGslbs: Informer<Gslb>;
  readonly legacyGslbs: OptionalCopy<Gslb>;
  readonly zones: Informer<ZoneDelegation>;
  readonly endpoints: Informer<DnsEndpoint>;
  readonly ingresses: Informer<Ingress>;
  readonly services: Informer<Service>;
  readonly slices: Informer<EndpointSlice>;
  /** Those of kinds that the cluster may not have. */
  readonly optional: OptionalCopies;

  constructor(
    runtime: Pick<Runtime, "clock" | "random" | "log">,
    { client, tasks }: { readonly client: KubeClient; readonly tasks: TaskScope },
  ) {
    this.optional = new OptionalCopies(runtime, { client, tasks });
    this.canonicalGslbs = new Informer<Gslb>(runtime, { client, type: gslbType });
    this.legacyGslbs = this.optional.of(legacyGslbs);
    this.gslbs = new EffectiveGslbs({ canonical: this.canonicalGslbs, legacy: this.legacyGslbs });
    this.zones = new Informer<ZoneDelegation>(runtime, { client, type: zoneDelegationType });
    this.endpoints = new Informer<DnsEndpoint>(runtime, { client, type: dnsEndpointType });
    this.ingresses = new Informer<Ingress>(runtime, { client, type: ingressType });
    this.services = new Informer<Service>(runtime, {
      client,
      type: serviceType,
      transform: keptService,
    });
    this.slices = new Informer<EndpointSlice>(runtime, {
      client,
      type: endpointSliceType,
      transform: keptSlice,
    });
    this.slices.addIndex(byService, (slice) => serviceKeyOf(slice) ?? []);
  }

  get all(): readonly SourceInformer[] {
    return [...this.#always, ...this.optional.all];
  }

  get #always(): readonly Informer[] {
    return [this.canonicalGslbs, this.zones, this.endpoints, this.ingresses, this.services, this.slices];
  }

  /** Follows the API server; resolves when every copy is complete for the first time but for optional ones. */
  async start(tasks: TaskScope): Promise<void> {
    this.optional.start();
    for (const informer of this.#always)
      tasks.start(`copy of ${informer.type.plural}`, (signal) => informer.run(signal));
    await Promise.all(this.#always.map((informer) => informer.synced));
  }

  /** Health of one Service: does it exist, and has any of its slices a ready endpoint. */
  backend(service: ServiceRef): BackendState {
    const key = `${service.namespace}/${service.name}`;
    if (this.services.lister.get(key) === undefined) return { state: "notFound", readyEndpoints: 0 };
    const ready = this.slicesOf(key).reduce((sum, slice) => sum + readyEndpoints(slice), 0);
    return { state: ready > 0 ? "healthy" : "unhealthy", readyEndpoints: ready };
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return this.slices.lister.byIndex(byService, serviceKey);
  }

  state(kind: ObjectKind): CopyState {
    return this.#core(kind) === undefined ? this.optional.of(kind).state : { is: "complete" };
  }

  get<T extends KubeObject>(kind: ObjectKind<T>, key: string): T | undefined {
    return (this.#core(kind)?.lister ?? this.optional.of(kind)).get(key);
  }

  list<T extends KubeObject>(kind: ObjectKind<T>, namespace?: string): readonly T[] {
    return (this.#core(kind)?.lister ?? this.optional.of(kind)).list(namespace);
  }

  /** The copy of a kind that every cluster has. */
  #core<T extends KubeObject>(kind: ObjectKind<T>): Informer<T> | undefined {
    const copies: readonly Informer[] = [this.ingresses, this.services];
    return copies.find(({ type }) => kindName(type) === kindName(kind)) as Informer<T> | undefined;
  }
}

/** The `namespace/name` of the Service that a slice belongs to. */
export function serviceKeyOf(slice: EndpointSlice): [string] | undefined {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name === undefined || name === "" ? undefined : [`${slice.metadata.namespace ?? ""}/${name}`];
}
