import type { InformerHandler } from "@meridian/controller";
import { controllerOf, deepEqual, objectKey, type EndpointSlice, type KubeObject } from "@meridian/kube";
import { readyEndpoints } from "../decide/health.ts";
import { ingressObjects, serviceObjects } from "../resources/core-kinds.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { readAnnotations } from "../resources/gslb-annotations.ts";
import type { ObjectKind } from "../resources/object-kind.ts";
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
        readAnnotations.every(
          (name) => old.metadata.annotations?.[name] === gslb.metadata.annotations?.[name],
        ) &&
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
  const wake = (keys: Iterable<string>): void => {
    for (const key of keys) gslbs.controller.enqueue(key);
  };
  const changed = (kind: ObjectKind, { old, now }: ObjectPair): void => {
    const isSame = old !== undefined && now !== undefined && saySame(kind, old, now);
    wake(gslbs.index.ofChange(kind, { ...(old && { old }), ...(now && { now }), isSame }));
    if (isSame) return;
    for (const object of [old, now]) {
      const owner = object && controllerOf(object);
      if (isGslbReference(owner)) wake([`${object?.metadata.namespace ?? ""}/${owner.name}`]);
    }
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
