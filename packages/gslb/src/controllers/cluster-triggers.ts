import { controllerOf, deepEqual, objectKey, type EndpointSlice, type KubeObject } from "@meridian/kube";
import { readyEndpoints } from "../decide/health.ts";
import { ingressKind, serviceKind, type ReferenceKind } from "../references/reference-kinds.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { isGslbReference } from "../resources/owner.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import type { ZoneFeeder } from "../zones/zone-feeder.ts";
import { serviceKeyOf, type ClusterCopies } from "./cluster-copies.ts";
import { isAsWanted } from "./endpoint-object.ts";
import type { GslbController } from "./gslb-controller.ts";
import type { ZoneDelegationController } from "./zone-delegation-controller.ts";

/** What changes in the cluster wake. */
export interface TriggerTargets {
  readonly tasks: TaskScope;
  readonly copies: ClusterCopies;
  readonly gslbs: GslbController;
  readonly zones: ZoneDelegationController;
  readonly feeder: ZoneFeeder;
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
        deepEqual(old.metadata.annotations, gslb.metadata.annotations) &&
        deepEqual(old.spec, gslb.spec);
      if (!isSame) gslbs.controller.enqueue(objectKey(gslb.metadata));
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
  const wake = (kind: ReferenceKind, object: KubeObject): void => {
    for (const key of gslbs.index.ofObject(kind, object)) gslbs.controller.enqueue(key);
    const owner = controllerOf(object);
    if (isGslbReference(owner)) gslbs.controller.enqueue(`${object.metadata.namespace ?? ""}/${owner.name}`);
    if (isOwnAddressSource(object)) zones.enqueueAll();
  };
  for (const [kind, informer] of [
    [ingressKind, copies.ingresses],
    [serviceKind, copies.services],
  ] as const) {
    informer.addHandler({
      onAdd: (object, { initial }) => {
        if (!initial) wake(kind, object);
      },
      onUpdate(old, object) {
        if (sameReference(old, object)) return;
        wake(kind, old);
        wake(kind, object);
      },
      onDelete: (object) => wake(kind, object),
    });
  }
}

/** Whether two states of an object say the same to a Gslb that refers to it. */
function sameReference(
  old: KubeObject & { readonly spec?: unknown; readonly status?: unknown },
  object: KubeObject & { readonly spec?: unknown; readonly status?: unknown },
): boolean {
  return (
    deepEqual(old.spec, object.spec) &&
    deepEqual(old.status, object.status) &&
    deepEqual(old.metadata.labels, object.metadata.labels) &&
    deepEqual(old.metadata.annotations, object.metadata.annotations) &&
    deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences)
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
