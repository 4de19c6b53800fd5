import type { ResourceDefinition } from "../definition.ts";
import {
  accessControl,
  limitRanges,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  resourceQuotas,
  serviceAccounts,
} from "./cluster.ts";
import { configMaps, secrets } from "./config.ts";
import { leases } from "./coordination.ts";
import { customResourceDefinitions } from "./custom-resource-definitions.ts";
import { events, eventsOfEventsGroup } from "./events.ts";
import { namespaces } from "./namespace.ts";
import { endpoints, endpointSlices, ingressClasses, ingresses, services } from "./network.ts";
import {
  controllerRevisions,
  cronJobs,
  daemonSets,
  deployments,
  jobs,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
} from "./workloads.ts";

/** All kinds that every server has. Groups appear in discovery in this order. */
export function builtInResources(): readonly ResourceDefinition[] {
  return [
    namespaces,
    configMaps,
    secrets,
    services,
    endpoints,
    events,
    pods,
    replicationControllers,
    serviceAccounts,
    nodes,
    persistentVolumeClaims,
    persistentVolumes,
    resourceQuotas,
    limitRanges,
    deployments,
    replicaSets,
    statefulSets,
    daemonSets,
    controllerRevisions,
    eventsOfEventsGroup,
    jobs,
    cronJobs,
    ingresses,
    ingressClasses,
    ...accessControl,
    customResourceDefinitions,
    leases,
    endpointSlices,
  ];
}
