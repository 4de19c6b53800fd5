import type { InformerHandler } from "@meridian/controller";
import {
  controllerOf,
  deepEqual,
  objectKey,
  type EndpointSlice,
  type Ingress,
  type KubeObject,
} from "@meridian/kube";
import { readyEndpoints, readyNodes } from "../decide/health.ts";
import { embeddedIngress, withEmbeddedSpec } from "../references/embedded-ingress.ts";
import { ingressObjects, serviceObjects } from "../resources/core-kinds.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { readAnnotations } from "../resources/gslb-annotations.ts";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";
import { isGslbReference } from "../resources/owner.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import type { ZoneFeeder } from "../zones/zone-feeder.ts";
import { serviceKeyOf, type ClusterCopies } from "./cluster-copies.ts";
import { isAsWanted } from "./endpoint-object.ts";
import type { GslbController } from "./gslb-controller.ts";
import type { ObjectPair } from "./optional-copies.ts";
import { saySame } from "./said-by-object.ts";
import type { ZoneDelegationController } from "./zone-delegation-controller.ts";

/** What changes in the cluster wake. */
export interface TriggerTargets {
  readonly tasks: TaskScope;
  readonly copies: ClusterCopies;
  readonly gslbs: GslbController;
  readonly zones: Pick<ZoneDelegationController, "enqueueAll"> & {
    readonly controller: Pick<ZoneDelegationController["controller"], "enqueue">;
  };
  readonly feeder: Pick<ZoneFeeder, "touch">;
}

/**
 * Wakes exactly the reconciles that a change in the cluster concerns. Our own writes come back as changes too; they are
 * told by their content and wake nobody.
 *
 * @param restoreZones puts a configured ZoneDelegation back that was deleted
 */
export function watchCluster(targets: TriggerTargets, restoreZones: () => Promise<void>): void {
  watchGslbs(targets);
  watchEndpoints(targets);
  watchBackends(targets);
  watchReferences(targets);
  watchZones(targets, restoreZones);
}

function watchGslbs({ copies, gslbs, feeder }: TriggerTargets): void {
  copies.gslbs.addHandler({
    onAdd(gslb, { initial }) {
      if (!initial) gslbs.controller.enqueue(objectKey(gslb.metadata));
      feeder.touch(objectKey(gslb.metadata));
    },
    onUpdate(old, gslb) {
      const isSame =
        old.metadata.generation === gslb.metadata.generation &&
        old.metadata.uid === gslb.metadata.uid &&
        readAnnotations.every(
          (name) => old.metadata.annotations?.[name] === gslb.metadata.annotations?.[name],
        ) &&
        deepEqual(old.spec, gslb.spec);
      if (isSame) return;
      gslbs.controller.enqueue(objectKey(gslb.metadata));
      // Peers are told how it is balanced.
      feeder.touch(objectKey(gslb.metadata));
    },
    onDelete(gslb) {
      gslbs.controller.enqueue(objectKey(gslb.metadata));
      feeder.touch(objectKey(gslb.metadata));
    },
  });
}

function watchEndpoints({ copies, gslbs, feeder }: TriggerTargets): void {
  const wake = (object: DnsEndpoint, isGone: boolean): void => {
    const key = objectKey(object.metadata);
    feeder.touch(key);
    const gslb = copies.gslbs.lister.get(key);
    if (gslb !== undefined && (isGone || !isAsWanted(object, gslb, gslbs.wantedRecords(key))))
      gslbs.controller.enqueue(key);
  };
  copies.endpoints.addHandler({
    onAdd: (object) => wake(object, false),
    onUpdate: (_old, object) => wake(object, false),
    onDelete: (object) => wake(object, true),
  });
}

/** Services and their slices; a slice only where it changes whether, or how well, its Service is ready. */
function watchBackends({ copies, gslbs }: TriggerTargets): void {
  const wakeService = (key: string | undefined): void => {
    if (key !== undefined) for (const gslb of gslbs.index.ofService(key)) gslbs.controller.enqueue(gslb);
  };
  const wakeSlice = (slice: EndpointSlice): void => wakeService(serviceKeyOf(slice)?.[0]);
  copies.slices.addHandler({
    onAdd: (slice, { initial }) => {
      if (!initial) wakeSlice(slice);
    },
    onUpdate(old, slice) {
      const isMoved = serviceKeyOf(old)?.[0] !== serviceKeyOf(slice)?.[0];
      if (isMoved) wakeSlice(old);
      if (isMoved || readyEndpoints(old) !== readyEndpoints(slice)) wakeSlice(slice);
      else if (!deepEqual(readyNodes(old), readyNodes(slice)))
        for (const key of gslbs.index.ofSlices(serviceKeyOf(slice)?.[0] ?? "")) gslbs.controller.enqueue(key);
    },
    onDelete: wakeSlice,
  });
  copies.services.addHandler({
    onAdd: (service, { initial }) => {
      if (!initial) wakeService(objectKey(service.metadata));
    },
    onDelete: (service) => wakeService(objectKey(service.metadata)),
  });
}

function watchReferences(targets: TriggerTargets): void {
  const { copies, gslbs, zones } = targets;
  const wake = (keys: Iterable<string>): void => {
    for (const key of keys) gslbs.controller.enqueue(key);
  };
  const changed = (kind: ObjectKind, { old, now }: ObjectPair): void => {
    const isSame = old !== undefined && now !== undefined && saySame(kind, old, now);
    const keys = new Set(gslbs.index.ofChange(kind, { ...(old && { old }), ...(now && { now }), isSame }));
    if (!isSame) for (const object of [old, now]) for (const key of gslbOwners(object)) keys.add(key);
    const isIngress = kindName(kind) === kindName(ingressObjects);
    const author = isIngress ? authorOf(copies, { ...(old && { old }), ...(now && { now }) }) : undefined;
    if (author !== undefined) keys.delete(author);
    wake(keys);
  };
  copies.optional.onChange(changed);
  copies.optional.onState((kind) => wake(gslbs.index.ofKind(kind)));

  const handlerOf = (kind: ObjectKind): InformerHandler => ({
    onAdd: (now, { initial }) => {
      if (initial) return;
      changed(kind, { now });
      if (isOwnAddressSource(now)) zones.enqueueAll();
    },
    onUpdate(old, now) {
      changed(kind, { old, now });
      if ((isOwnAddressSource(old) || isOwnAddressSource(now)) && !sameAddresses(old, now))
        zones.enqueueAll();
    },
    onDelete(old) {
      changed(kind, { old });
      if (isOwnAddressSource(old)) zones.enqueueAll();
    },
  });
  copies.ingresses.addHandler(handlerOf(ingressObjects));
  copies.services.addHandler(handlerOf(serviceObjects));
}

function gslbOwners(object: KubeObject | undefined): readonly string[] {
  const owner = object && controllerOf(object);
  return isGslbReference(owner) ? [`${object?.metadata.namespace ?? ""}/${owner.name}`] : [];
}

/** The Gslb that made an Ingress what it is now, where the Ingress says nothing new but that. */
function authorOf({ gslbs }: Pick<ClusterCopies, "gslbs">, { old, now }: ObjectPair): string | undefined {
  const [key] = gslbOwners(now);
  const gslb = key === undefined ? undefined : gslbs.lister.get(key);
  if (gslb?.spec?.ingress === undefined || now === undefined) return undefined;
  const addressesOf = (ingress: Ingress | undefined): unknown => ingress?.status?.loadBalancer?.ingress;
  const ingress: Ingress = now;
  const hasNewAddress = !deepEqual(addressesOf(old), addressesOf(ingress));
  const isAsked = withEmbeddedSpec(ingress, embeddedIngress(gslb)) === ingress;
  return isAsked && !hasNewAddress ? key : undefined;
}

/** Whether two states of an object make the same of the addresses of the own DNS server. */
function sameAddresses(
  old: KubeObject & { readonly spec?: unknown; readonly status?: unknown },
  now: KubeObject & { readonly spec?: unknown; readonly status?: unknown },
): boolean {
  return (
    deepEqual(old.spec, now.spec) &&
    deepEqual(old.status, now.status) &&
    deepEqual(old.metadata.labels, now.metadata.labels)
  );
}

function isOwnAddressSource(object: KubeObject): boolean {
  const labels = object.metadata.labels ?? {};
  return labels["app.kubernetes.io/name"] === "coredns" || labels["k8gb.io/ip-source"] === "true";
}

function watchZones({ tasks, copies, zones }: TriggerTargets, restoreZones: () => Promise<void>): void {
  copies.zones.addHandler({
    onAdd: (zone) => zones.controller.enqueue(zone.metadata.name ?? ""),
    onUpdate(old, zone) {
      const isSame =
        deepEqual(old.spec, zone.spec) &&
        deepEqual(old.metadata.finalizers, zone.metadata.finalizers) &&
        old.metadata.deletionTimestamp === zone.metadata.deletionTimestamp;
      if (!isSame) zones.controller.enqueue(zone.metadata.name ?? "");
    },
    onDelete(zone) {
      zones.controller.enqueue(zone.metadata.name ?? "");
      tasks.start("restoring zones", restoreZones);
    },
  });
}
