import type { ApiObject, ResourceDefinition } from "../definition.ts";
import { builtIn, replicaScale } from "./built-in.ts";
import {
  labelsText,
  at,
  numberAt,
  objectsAt,
  orNone,
  pathColumn,
  sizeAt,
  textAt,
  textOf,
  textColumn,
  wide,
} from "./cells.ts";
import {
  conditions,
  integer,
  keyedList,
  labelSelector,
  long,
  open,
  openKind,
  text,
  texts,
  time,
  whole,
} from "./schema-nodes.ts";

/** Of pods, and of what makes pods. A port may stand for two protocols, a variable may be set again further down. */
const podsRules = {
  tracksGeneration: true,
  mayRepeat: /ontainers\[\d+\]\.(?:env|ports)\[\d+\]$|\.(?:imagePullSecrets|hostAliases)\[\d+\]$/,
} as const;

const namedOpenList = (description: string, key: string) =>
  keyedList(description, [key], open("One entry.", { [key]: text("Its key.") }));

const container = open("One container.", {
  name: text("Name."),
  image: text("Image."),
  env: keyedList(
    "Environment variables.",
    ["name"],
    open("One variable.", {
      name: text("Its name."),
      valueFrom: open("Where its value comes from.", {
        configMapKeyRef: whole(open("A key of a ConfigMap.")),
        fieldRef: whole(open("A field of the pod.")),
        fileKeyRef: whole(open("A key of a file.")),
        resourceFieldRef: whole(open("A resource of a container.")),
        secretKeyRef: whole(open("A key of a Secret.")),
      }),
    }),
  ),
  ports: keyedList(
    "Ports.",
    ["containerPort", "protocol"],
    open("One port.", { containerPort: integer("Number."), protocol: text("Protocol.", { default: "TCP" }) }),
  ),
  volumeMounts: namedOpenList("Where volumes appear.", "mountPath"),
  volumeDevices: namedOpenList("Where block devices appear.", "devicePath"),
});

const podSpec = open("What the pod runs.", {
  containers: keyedList("The containers.", ["name"], container),
  initContainers: keyedList("Containers that run before the others.", ["name"], container),
  ephemeralContainers: keyedList("Containers that were added to look into the pod.", ["name"], container),
  volumes: {
    ...namedOpenList("Volumes that containers can mount.", "name"),
    "x-kubernetes-patch-strategy": "merge,retainKeys",
  },
  hostAliases: namedOpenList("Names that the pod knows besides DNS.", "ip"),
  imagePullSecrets: namedOpenList("Secrets for fetching images.", "name"),
  schedulingGates: namedOpenList("What must be done before the pod gets a node.", "name"),
  resourceClaims: {
    ...namedOpenList("Devices that the pod uses.", "name"),
    "x-kubernetes-patch-strategy": "merge,retainKeys",
  },
  topologySpreadConstraints: keyedList(
    "How the pods are spread over the cluster.",
    ["topologyKey", "whenUnsatisfiable"],
    open("One rule.", {
      topologyKey: text("The label of nodes that tells the parts."),
      whenUnsatisfiable: text("What happens to a pod that would break the rule."),
    }),
  ),
  nodeName: text("The node that it runs on."),
  nodeSelector: whole(texts("Labels that its node must have.")),
  serviceAccountName: text("Who the pod is to the API."),
});

const podTemplate = open("The pods to make.", {
  metadata: open("Labels and annotations of the pods."),
  spec: podSpec,
});

/** Pods (v1). Nothing here runs them: they are records that others act on. */
export const pods: ResourceDefinition = builtIn({
  kind: "Pod",
  shortNames: ["po"],
  categories: ["all"],
  status: true,
  schema: openKind("Pod is a group of containers that run together on one node.", {
    spec: podSpec,
    status: open("How the pod is.", {
      phase: text("Where the pod is in its life."),
      conditions: conditions(),
      podIPs: namedOpenList("Addresses of the pod.", "ip"),
      hostIPs: { ...namedOpenList("Addresses of its node.", "ip"), "x-kubernetes-list-type": "atomic" },
      resourceClaimStatuses: {
        ...namedOpenList("Devices that the pod got.", "name"),
        "x-kubernetes-patch-strategy": "merge,retainKeys",
      },
    }),
  }),
  columns: [
    textColumn("Ready", "How many of the containers are ready.", (pod) => {
      const statuses = objectsAt(pod, "status", "containerStatuses");
      return `${statuses.filter(({ ready }) => ready === true).length}/${sizeAt(pod, "spec", "containers")}`;
    }),
    textColumn("Status", "Where the pod is in its life.", (pod) =>
      pod.metadata.deletionTimestamp !== undefined
        ? "Terminating"
        : textAt(pod, "status", "reason") || textAt(pod, "status", "phase") || "Unknown",
    ),
    textColumn("Restarts", "How often containers were started again.", (pod) =>
      String(
        objectsAt(pod, "status", "containerStatuses").reduce(
          (sum, { restartCount }) => sum + (typeof restartCount === "number" ? restartCount : 0),
          0,
        ),
      ),
    ),
  ],
  wideColumns: [
    wide(textColumn("IP", "Address.", (pod) => orNone(textAt(pod, "status", "podIP")))),
    wide(textColumn("Node", "The node that it runs on.", (pod) => orNone(textAt(pod, "spec", "nodeName")))),
    wide(
      textColumn("Nominated Node", "The node that it waits for.", (pod) =>
        orNone(textAt(pod, "status", "nominatedNodeName")),
      ),
    ),
    wide(textColumn("Readiness Gates", "Further conditions of its readiness.", () => "<none>")),
  ],
  selectable: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
  ],
  rules: {
    ...podsRules,
    returnsDeleted: true,
    complete: (pod, old) => (old === undefined ? { ...pod, status: { phase: "Pending" } } : pod),
    gracePeriodSeconds: podGrace,
  },
});

/** A pod that runs nowhere, or no more, has nothing to end. */
function podGrace(pod: ApiObject, asked: number | undefined): number {
  const phase = textAt(pod, "status", "phase");
  if (textAt(pod, "spec", "nodeName") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  if (asked !== undefined) return asked;
  const own = at(pod, "spec", "terminationGracePeriodSeconds");
  return typeof own === "number" ? own : 30;
}

const replicas = integer("How many pods there shall be.", { default: 1 });
const workloadStatus = open("How it is.", {
  observedGeneration: long("The generation that this was found for."),
  replicas: integer("How many pods there are."),
  readyReplicas: integer("How many of them are ready."),
  conditions: conditions(),
});

function readyColumn(): ReturnType<typeof textColumn> {
  return textColumn("Ready", "How many of the wanted pods are ready.", (of) => {
    return `${numberAt(of, "status", "readyReplicas")}/${numberAt(of, "spec", "replicas")}`;
  });
}

const countColumn = (name: string, path: string, description: string) => ({
  name,
  type: "string" as const,
  description,
  cell: (of: ApiObject) => String(numberAt(of, ...path.split("."))),
});

const containerColumns = [
  wide(textColumn("Containers", "Names of the containers.", (of) => containerField(of, "name"))),
  wide(textColumn("Images", "Images of the containers.", (of) => containerField(of, "image"))),
  wide(
    textColumn("Selector", "Labels of its pods.", (of) =>
      labelsText(at(of, "spec", "selector", "matchLabels")),
    ),
  ),
];

function containerField(of: ApiObject, field: string): string {
  return objectsAt(of, "spec", "template", "spec", "containers")
    .map((entry) => textOf(entry[field]))
    .join(",");
}

const apps = { group: "apps", categories: ["all"], status: true } as const;

/** Deployments (apps/v1). */
export const deployments: ResourceDefinition = builtIn({
  ...apps,
  kind: "Deployment",
  shortNames: ["deploy"],
  scale: replicaScale,
  schema: openKind("Deployment keeps a number of equal pods running, and replaces them step by step.", {
    spec: open("How it shall be.", {
      replicas,
      selector: labelSelector("Labels of its pods."),
      template: podTemplate,
      strategy: { ...open("How pods are replaced."), "x-kubernetes-patch-strategy": "retainKeys" },
    }),
    status: workloadStatus,
  }),
  columns: [
    readyColumn(),
    countColumn("Up-to-date", "status.updatedReplicas", "How many pods are of the newest form."),
    countColumn("Available", "status.availableReplicas", "How many pods have been ready for long enough."),
  ],
  wideColumns: containerColumns,
  rules: podsRules,
});

/** Replica sets (apps/v1). */
export const replicaSets: ResourceDefinition = builtIn({
  ...apps,
  kind: "ReplicaSet",
  shortNames: ["rs"],
  scale: replicaScale,
  schema: openKind("ReplicaSet keeps a number of equal pods running.", {
    spec: open("How it shall be.", {
      replicas,
      selector: labelSelector("Labels of its pods."),
      template: podTemplate,
    }),
    status: workloadStatus,
  }),
  columns: [
    countColumn("Desired", "spec.replicas", "How many pods there shall be."),
    countColumn("Current", "status.replicas", "How many pods there are."),
    countColumn("Ready", "status.readyReplicas", "How many of them are ready."),
  ],
  wideColumns: containerColumns,
  selectable: ["status.replicas"],
  rules: podsRules,
});

/** Stateful sets (apps/v1). */
export const statefulSets: ResourceDefinition = builtIn({
  ...apps,
  kind: "StatefulSet",
  shortNames: ["sts"],
  scale: replicaScale,
  schema: openKind("StatefulSet keeps a number of pods running, each with a name and storage of its own.", {
    spec: open("How it shall be.", {
      replicas,
      serviceName: text("The service that gives the pods their names."),
      selector: labelSelector("Labels of its pods."),
      template: podTemplate,
    }),
    status: workloadStatus,
  }),
  columns: [readyColumn()],
  wideColumns: containerColumns.slice(0, 2),
  rules: podsRules,
});

/** Daemon sets (apps/v1). */
export const daemonSets: ResourceDefinition = builtIn({
  ...apps,
  kind: "DaemonSet",
  shortNames: ["ds"],
  schema: openKind("DaemonSet keeps one pod running on each node.", {
    spec: open("How it shall be.", { selector: labelSelector("Labels of its pods."), template: podTemplate }),
    status: workloadStatus,
  }),
  columns: [
    countColumn("Desired", "status.desiredNumberScheduled", "How many pods there shall be."),
    countColumn("Current", "status.currentNumberScheduled", "How many pods there are."),
    countColumn("Ready", "status.numberReady", "How many of them are ready."),
    countColumn("Up-to-date", "status.updatedNumberScheduled", "How many are of the newest form."),
    countColumn("Available", "status.numberAvailable", "How many have been ready for long enough."),
  ],
  wideColumns: containerColumns,
  rules: podsRules,
});

/** Controller revisions (apps/v1). */
export const controllerRevisions: ResourceDefinition = builtIn({
  group: "apps",
  kind: "ControllerRevision",
  schema: openKind("ControllerRevision is an earlier form of what a controller made pods from.", {
    data: open("The earlier form."),
    revision: long("Its number."),
  }),
  columns: [pathColumn("Revision", ".revision", "Its number.")],
});

/** Jobs (batch/v1). */
export const jobs: ResourceDefinition = builtIn({
  group: "batch",
  kind: "Job",
  categories: ["all"],
  status: true,
  schema: openKind("Job runs pods until enough of them have succeeded.", {
    spec: open("How it shall be.", {
      completions: integer("How many pods must succeed."),
      parallelism: integer("How many pods run at a time."),
      selector: labelSelector("Labels of its pods."),
      template: podTemplate,
    }),
    status: open("How it is.", { conditions: { ...conditions(), "x-kubernetes-list-type": "atomic" } }),
  }),
  columns: [
    textColumn("Status", "Whether it is done.", (job) => {
      const done = objectsAt(job, "status", "conditions").find(({ status }) => status === "True");
      return done === undefined ? "Running" : textOf(done["type"]);
    }),
    textColumn("Completions", "How many pods succeeded.", (job) => {
      return `${numberAt(job, "status", "succeeded")}/${numberAt(job, "spec", "completions") || 1}`;
    }),
    textColumn("Duration", "How long it took.", () => ""),
  ],
  selectable: [["status.successful", "status.succeeded"]],
  rules: podsRules,
});

/** Cron jobs (batch/v1). */
export const cronJobs: ResourceDefinition = builtIn({
  group: "batch",
  kind: "CronJob",
  shortNames: ["cj"],
  categories: ["all"],
  status: true,
  schema: openKind("CronJob makes jobs at fixed times.", {
    spec: open("How it shall be.", {
      schedule: text("The times, as cron writes them."),
      timeZone: text("The zone that the times are in."),
      jobTemplate: open("The jobs to make.", {
        metadata: open("Labels and annotations of the jobs."),
        spec: open("How they shall be.", {
          selector: labelSelector("Labels of its pods."),
          template: podTemplate,
        }),
      }),
    }),
    status: open("How it is.", { lastScheduleTime: time("When the last job was made.") }),
  }),
  columns: [
    pathColumn("Schedule", ".spec.schedule", "The times."),
    textColumn("Timezone", "The zone that the times are in.", (job) =>
      orNone(textAt(job, "spec", "timeZone")),
    ),
    textColumn("Suspend", "Whether it rests.", (job) =>
      at(job, "spec", "suspend") === true ? "True" : "False",
    ),
    textColumn("Active", "How many jobs run.", (job) => String(sizeAt(job, "status", "active"))),
    textColumn("Last Schedule", "When the last job was made.", (job) =>
      orNone(textAt(job, "status", "lastScheduleTime")),
    ),
  ],
  rules: podsRules,
});

/** Replication controllers (v1): what replica sets were before. */
export const replicationControllers: ResourceDefinition = builtIn({
  kind: "ReplicationController",
  shortNames: ["rc"],
  categories: ["all"],
  status: true,
  scale: replicaScale,
  schema: openKind(
    "ReplicationController keeps a number of equal pods running; replica sets came after it.",
    {
      spec: open("How it shall be.", {
        replicas,
        selector: whole(texts("Labels of its pods.")),
        template: podTemplate,
      }),
      status: workloadStatus,
    },
  ),
  columns: [
    countColumn("Desired", "spec.replicas", "How many pods there shall be."),
    countColumn("Current", "status.replicas", "How many pods there are."),
    countColumn("Ready", "status.readyReplicas", "How many of them are ready."),
  ],
  selectable: ["status.replicas"],
  rules: podsRules,
});
