import { testApi, type TestApi } from "@meridian/controller/testing";
import {
  configMapType,
  customResourceDefinitionType,
  endpointSliceType,
  ingressType,
  serviceType,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import { ClusterCopies } from "../controllers/cluster-copies.ts";
import { watchCluster } from "../controllers/cluster-triggers.ts";
import { GslbController } from "../controllers/gslb-controller.ts";
import { observeAll } from "../controllers/observe-all.ts";
import type { LookedUp } from "../references/exposed-addresses.ts";
import { dnsEndpointType, gslbType, zoneDelegationType } from "../resources/resource-types.ts";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";
import { TaskScope } from "../tasks/task-scope.ts";

/** The Gslbs of one cluster that is alone, over an API in memory. */
export interface GslbWorld extends TestApi {
  readonly gslbs: GslbController;
  readonly copies: ClusterCopies;
  /** The Gslb of each reconcile since they were last taken. */
  readonly takeReconciled: () => readonly string[];
  /** Hosts for which peers were begun to be asked (`+host`) and no longer asked (`-host`) since they were last taken. */
  readonly takeAsked: () => readonly string[];
  /** The reasons of the events that were told. */
  readonly reasons: string[];
  /** What host names are known as; one that is not in it is pending. */
  readonly names: Map<string, LookedUp>;
  /** Follows everything; resolves when each Gslb was looked at once. */
  readonly start: () => Promise<void>;
  /** Serves a kind in a version, as after `kubectl apply` of its definition. */
  readonly define: (kind: ObjectKind, ...versions: readonly string[]) => void;
  /** Serves it no more, as after `kubectl delete` of its definition, which takes its objects along. */
  readonly undefine: (kind: ObjectKind) => void;
  readonly close: () => Promise<void>;
}

/** Opens a world whose only zone is `cloud.example.com`. */
export function openGslbWorld(): GslbWorld {
  const types: ResourceType[] = [
    ...[gslbType, zoneDelegationType, dnsEndpointType, customResourceDefinitionType],
    ...[ingressType, serviceType, endpointSliceType, configMapType],
  ];
  const api = testApi({ types });
  const tasks = new TaskScope(api.runtime.log);
  const copies = new ClusterCopies(api.runtime, { client: api.client, tasks });
  const names = new Map<string, LookedUp>();
  const reasons: string[] = [];
  let reconciled: string[] = [];
  const hosts = new Set<string>();
  let asked: string[] = [];
  const gslbs = new GslbController(api.runtime, {
    ...{ client: api.client, copies, geoTag: "eu", geoTags: ["eu"] },
    peers: {
      addHost(host) {
        if (!hosts.has(host)) asked.push(`+${host}`);
        hosts.add(host);
      },
      removeHost(host) {
        if (hosts.delete(host)) asked.push(`-${host}`);
      },
    },
    views: { of: () => [] },
    addresses: {
      forget() {},
      reading(key, read) {
        reconciled.push(key);
        return read((name) => names.get(name) ?? { state: "pending" });
      },
    },
    events: { record: (_about, { reason }) => void reasons.push(reason) },
    ...{ exposedOverride: [], addressGraceSeconds: 300, zones: () => ["cloud.example.com"] },
  });
  const definition = (kind: ObjectKind, served: readonly string[]): KubeObject =>
    ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: kindName(kind) },
      spec: { versions: served.map((name) => ({ name, served: true, storage: false })) },
      status: { conditions: [{ type: "Established", status: "True" }] },
    }) as KubeObject;
  return {
    ...{ ...api, gslbs, copies, reasons, names },
    takeReconciled() {
      const taken = reconciled.toSorted();
      reconciled = [];
      return taken;
    },
    takeAsked() {
      const taken = asked;
      asked = [];
      return taken;
    },
    async start() {
      await api.clock.outcome(copies.start(tasks));
      await api.clock.outcome(observeAll(copies, gslbs));
      const zones = { enqueueAll() {}, controller: { enqueue() {} } };
      watchCluster({ tasks, copies, gslbs, zones, feeder: { touch() {} } }, async () => {});
      for (const gslb of copies.gslbs.lister.keys()) gslbs.controller.enqueue(gslb);
      tasks.start("gslbs", (signal) => gslbs.controller.run(signal));
      await api.clock.advance(1000);
    },
    define(kind, ...versions) {
      for (const version of versions) types.push({ ...kind, version });
      api.truth.put(definition(kind, versions));
    },
    undefine(kind) {
      const served = types.find((type) => kindName(type) === kindName(kind));
      for (const { metadata } of served === undefined ? [] : api.truth.list(served))
        api.truth.remove(served!, { name: metadata.name ?? "", namespace: metadata.namespace ?? "" });
      const others = types.filter((type) => kindName(type) !== kindName(kind));
      types.splice(0, types.length, ...others);
      api.truth.remove(customResourceDefinitionType, { name: kindName(kind) });
    },
    close: () => api.clock.outcome(tasks.close()),
  };
}
