import type { ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import { objectsAt, orNone, pathColumn, sizeAt, textAt, textColumn } from "./cells.ts";
import { conditions, flag, keyedList, list, object, open, openKind, text, whole } from "./schema-nodes.ts";

/** Nodes (v1). */
export const nodes: ResourceDefinition = builtIn({
  kind: "Node",
  shortNames: ["no"],
  namespaced: false,
  status: true,
  schema: openKind("Node is a machine that pods run on.", {
    spec: open("How it shall be.", {
      unschedulable: flag("Whether it takes no new pods."),
      podCIDRs: {
        ...list("Addresses of its pods.", text("Range.")),
        "x-kubernetes-list-type": "set",
        "x-kubernetes-patch-strategy": "merge",
      },
    }),
    status: open("How it is.", {
      conditions: conditions(),
      addresses: keyedList(
        "Where it is.",
        ["type"],
        open("One address.", { type: text("What kind of address it is.") }),
      ),
    }),
  }),
  columns: [
    textColumn("Status", "Whether it is ready.", (node) => {
      const ready = objectsAt(node, "status", "conditions").find(({ type }) => type === "Ready");
      return ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
    }),
    textColumn("Roles", "What it is for.", (node) =>
      orNone(
        Object.keys(node.metadata.labels ?? {})
          .filter((label) => label.startsWith("node-role.kubernetes.io/"))
          .map((label) => label.slice("node-role.kubernetes.io/".length))
          .join(","),
      ),
    ),
  ],
  selectable: ["spec.unschedulable"],
  rules: { nameRule: "subdomain" },
});

const name = text("Name of the secret.");

/** Service accounts (v1). */
export const serviceAccounts: ResourceDefinition = builtIn({
  kind: "ServiceAccount",
  shortNames: ["sa"],
  schema: openKind("ServiceAccount is who a pod is to the API.", {
    automountServiceAccountToken: flag("Whether pods get its token by themselves."),
    secrets: keyedList("Secrets that its pods may use.", ["name"], open("One secret.", { name })),
    imagePullSecrets: list("Secrets for fetching the images of its pods.", open("One secret.", { name })),
  }),
  columns: [
    textColumn("Secrets", "How many secrets its pods may use.", (account) =>
      String(sizeAt(account, "secrets")),
    ),
  ],
  rules: { returnsDeleted: true },
});

/** Persistent volume claims (v1). */
export const persistentVolumeClaims: ResourceDefinition = builtIn({
  kind: "PersistentVolumeClaim",
  shortNames: ["pvc"],
  status: true,
  schema: openKind("PersistentVolumeClaim asks for storage.", {
    spec: open("What is asked for."),
    status: open("What was given.", { conditions: conditions() }),
  }),
  columns: [
    pathColumn("Status", ".status.phase", "Whether there is a volume for it."),
    pathColumn("Volume", ".spec.volumeName", "The volume."),
  ],
  rules: { returnsDeleted: true },
});

/** Persistent volumes (v1). */
export const persistentVolumes: ResourceDefinition = builtIn({
  kind: "PersistentVolume",
  shortNames: ["pv"],
  namespaced: false,
  status: true,
  schema: openKind("PersistentVolume is storage that can be claimed.", {
    spec: open("What it is."),
    status: open("How it is."),
  }),
  columns: [pathColumn("Status", ".status.phase", "Whether it is claimed.")],
  rules: { returnsDeleted: true },
});

/** Resource quotas (v1). They are kept, and not enforced. */
export const resourceQuotas: ResourceDefinition = builtIn({
  kind: "ResourceQuota",
  shortNames: ["quota"],
  status: true,
  schema: openKind("ResourceQuota bounds what a namespace may use.", {
    spec: open("The bounds."),
    status: open("What is used."),
  }),
  rules: { returnsDeleted: true },
});

/** Limit ranges (v1). They are kept, and not enforced. */
export const limitRanges: ResourceDefinition = builtIn({
  kind: "LimitRange",
  shortNames: ["limits"],
  schema: openKind("LimitRange bounds what single pods may use.", { spec: open("The bounds.") }),
  rules: { allowsCreateOnUpdate: true },
});

const rules = list(
  "What is allowed.",
  object("One rule.", {
    verbs: list("Verbs.", text("Verb, or `*`.")),
    apiGroups: list("Groups.", text("Group, or `*`.")),
    resources: list("Resources.", text("Resource, or `*`.")),
    resourceNames: list("Names; any where absent.", text("Name.")),
    nonResourceURLs: list("Paths that are no resources.", text("Path, which may end in `*`.")),
  }),
);
const binding = {
  roleRef: whole(
    object("The role that is given.", {
      apiGroup: text("Its group."),
      kind: text("Its kind."),
      name: text("Its name."),
    }),
  ),
  subjects: list(
    "Who gets it.",
    object("One subject.", {
      kind: text("User, Group or ServiceAccount."),
      apiGroup: text("Its group."),
      name: text("Its name."),
      namespace: text("Its namespace, for service accounts."),
    }),
  ),
};
const rbac = { group: "rbac.authorization.k8s.io" } as const;
const rbacRules = { nameRule: "path-segment", allowsCreateOnUpdate: true } as const;
const roleColumn = textColumn("Role", "The role that is given.", (of) => {
  return `${textAt(of, "roleRef", "kind")}/${textAt(of, "roleRef", "name")}`;
});

/** The kinds of rbac.authorization.k8s.io/v1. They are kept, and not enforced. */
export const accessControl: readonly ResourceDefinition[] = [
  builtIn({
    ...rbac,
    kind: "Role",
    schema: openKind("Role is a set of rights within a namespace.", { rules }),
    rules: rbacRules,
  }),
  builtIn({
    ...rbac,
    kind: "RoleBinding",
    schema: openKind("RoleBinding gives a role to someone within a namespace.", binding),
    columns: [roleColumn],
    rules: rbacRules,
  }),
  builtIn({
    ...rbac,
    kind: "ClusterRole",
    namespaced: false,
    schema: openKind("ClusterRole is a set of rights.", {
      rules,
      aggregationRule: open("Roles whose rights it takes over."),
    }),
    allColumns: [
      {
        name: "Name",
        type: "string",
        format: "name",
        description: "Name of the role.",
        cell: ".metadata.name",
      },
      {
        name: "Created At",
        type: "date",
        description: "When it was made.",
        cell: (of) => of.metadata.creationTimestamp ?? "",
      },
    ],
    rules: rbacRules,
  }),
  builtIn({
    ...rbac,
    kind: "ClusterRoleBinding",
    namespaced: false,
    schema: openKind("ClusterRoleBinding gives a role to someone.", binding),
    columns: [roleColumn],
    rules: rbacRules,
  }),
];
