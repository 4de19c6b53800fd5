import type { PatchSchema } from "../strategic-merge-patch.ts";

/**
 * Which lists of a built-in kind merge under strategic merge patch, and by which key. A kind that is not listed has the merge keys that
 * all kinds share: owner references, finalizers and status conditions.
 */
export function patchSchemaOf(kind: { readonly group: string; readonly kind: string }): PatchSchema {
  const own = byKind.get(`${kind.group}/${kind.kind}`);
  const properties = own?.properties ?? {};
  return {
    properties: {
      ...properties,
      metadata: objectMetaPatchSchema,
      status: { properties: { conditions: byKey("type"), ...properties["status"]?.properties } },
    },
  };
}

/** The merge keys of `metadata` of every kind. */
const objectMetaPatchSchema: PatchSchema = {
  properties: {
    ownerReferences: byKey("uid"),
    finalizers: { "x-kubernetes-patch-strategy": "merge" },
  },
};

/** The merge keys of a pod's spec: with them `kubectl apply` changes one container and leaves the others alone. */
const podSpecPatchSchema: PatchSchema = podSpec();

function byKey(key: string, items?: PatchSchema): PatchSchema {
  return {
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": key,
    ...(items === undefined ? {} : { items }),
  };
}

function podSpec(): PatchSchema {
  const container: PatchSchema = {
    properties: {
      env: byKey("name"),
      ports: byKey("containerPort"),
      volumeMounts: byKey("mountPath"),
      volumeDevices: byKey("devicePath"),
    },
  };
  return {
    properties: {
      containers: byKey("name", container),
      initContainers: byKey("name", container),
      ephemeralContainers: byKey("name", container),
      // A volume is a union: the patch lists which member stays.
      volumes: { ...byKey("name"), "x-kubernetes-patch-strategy": "merge,retainKeys" },
      imagePullSecrets: byKey("name"),
      hostAliases: byKey("ip"),
      topologySpreadConstraints: byKey("topologyKey"),
      schedulingGates: byKey("name"),
      resourceClaims: { ...byKey("name"), "x-kubernetes-patch-strategy": "merge,retainKeys" },
    },
  };
}

const inSpec = (properties: Readonly<Record<string, PatchSchema>>): PatchSchema => ({
  properties: { spec: { properties } },
});
const podTemplate: PatchSchema = {
  properties: { metadata: objectMetaPatchSchema, spec: podSpecPatchSchema },
};
const retainKeys: PatchSchema = { "x-kubernetes-patch-strategy": "retainKeys" };
const ofJob: Readonly<Record<string, PatchSchema>> = { template: podTemplate };

const byKind: ReadonlyMap<string, PatchSchema> = new Map<string, PatchSchema>([
  ["/Service", inSpec({ ports: byKey("port") })],
  [
    "/Pod",
    {
      properties: {
        spec: podSpecPatchSchema,
        status: { properties: { podIPs: byKey("ip"), hostIPs: byKey("ip") } },
      },
    },
  ],
  ["/PodTemplate", { properties: { template: podTemplate } }],
  ["/ReplicationController", inSpec({ template: podTemplate })],
  ["apps/ReplicaSet", inSpec({ template: podTemplate })],
  ["apps/Deployment", inSpec({ template: podTemplate, strategy: retainKeys })],
  ["apps/DaemonSet", inSpec({ template: podTemplate, updateStrategy: retainKeys })],
  ["apps/StatefulSet", inSpec({ template: podTemplate, updateStrategy: retainKeys })],
  ["batch/Job", inSpec(ofJob)],
  [
    "batch/CronJob",
    inSpec({ jobTemplate: { properties: { metadata: objectMetaPatchSchema, spec: { properties: ofJob } } } }),
  ],
  ["/ServiceAccount", { properties: { secrets: byKey("name"), imagePullSecrets: byKey("name") } }],
  [
    "/Node",
    {
      properties: {
        spec: { properties: { podCIDRs: { "x-kubernetes-patch-strategy": "merge" } } },
        status: { properties: { addresses: byKey("type") } },
      },
    },
  ],
]);
