import {
  type CustomResourceDefinition,
  defaultCustomResourceDefinition,
  notSupported,
  type StatusCause,
  validateCustomResourceDefinition,
} from "@meridian/kube";
import { type ApiObject, asObject, type ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import { textColumn } from "./cells.ts";
import { choice, conditions, flag, integer, kind, list, object, open, text } from "./schema-nodes.ts";

/** Holds a definition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

const names = object(
  "What the kind is called.",
  {
    plural: text("The plural, as it stands in paths."),
    singular: text("The singular; the kind in lower case where absent."),
    shortNames: list("Short names for the command line.", text("Short name.")),
    kind: text("The kind, as it stands in objects."),
    listKind: text("The kind of lists; the kind and `List` where absent."),
    categories: list("Groups of kinds that it belongs to, such as `all`.", text("Category.")),
  },
  ["plural", "kind"],
);

const version = object(
  "One version of the kind.",
  {
    name: text("Name, such as `v1beta1`."),
    served: flag("Whether the version can be asked for."),
    storage: flag("Whether objects rest in this version; true for exactly one."),
    deprecated: flag("Whether clients are warned."),
    deprecationWarning: text("What clients are told.", { nullable: true }),
    schema: object("What objects look like.", {
      openAPIV3Schema: open("A structural schema."),
    }),
    subresources: object("Parts of the objects with a path of their own.", {
      status: open("Status is written through its own path only."),
      scale: object("The number of replicas has a path of its own.", {
        specReplicasPath: text("Where the wanted number stands."),
        statusReplicasPath: text("Where the actual number stands."),
        labelSelectorPath: text("Where the selector stands."),
      }),
    }),
    additionalPrinterColumns: list(
      "Columns of tables.",
      object(
        "One column.",
        {
          name: text("Heading."),
          type: text("integer, number, string, boolean or date."),
          format: text("Format of the type."),
          description: text("What the column says."),
          priority: integer("0 is always shown; more only in wide tables."),
          jsonPath: text("Where the value stands."),
        },
        ["name", "type", "jsonPath"],
      ),
    ),
    selectableFields: list(
      "Fields that selectors may use.",
      object("One field.", { jsonPath: text("Where it stands.") }),
    ),
  },
  ["name", "served", "storage"],
);

/** Custom resource definitions (apiextensions.k8s.io/v1): kinds that users add. */
export const customResourceDefinitions: ResourceDefinition = builtIn({
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced: false,
  status: true,
  schema: kind(
    "CustomResourceDefinition adds a kind to the API.",
    {
      spec: object(
        "The kind.",
        {
          group: text("Its group."),
          names,
          scope: choice("Whether objects live in namespaces.", ["Cluster", "Namespaced"]),
          versions: list("Its versions.", version),
          conversion: object("How objects turn from one version into another.", {
            strategy: text("None, or Webhook."),
            webhook: open("Who converts."),
          }),
          preserveUnknownFields: flag("Must be false."),
        },
        ["group", "names", "scope", "versions"],
      ),
      status: object("What became of the definition.", {
        conditions: conditions(),
        acceptedNames: names,
        storedVersions: list("Versions that objects may rest in.", text("Version.")),
      }),
    },
    ["spec"],
  ),
  allColumns: [
    {
      name: "Name",
      type: "string",
      format: "name",
      description: "Name of the definition.",
      cell: ".metadata.name",
    },
    textColumn("Created At", "When it was made.", (of) => of.metadata.creationTimestamp ?? ""),
  ],
  rules: {
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    complete: completeDefinition,
    validate: (definition, old) => [
      ...validateCustomResourceDefinition(
        asDefinition(definition),
        old === undefined ? undefined : asDefinition(old),
      ),
      ...conversionProblems(asDefinition(definition)),
    ],
  },
});

/** Nobody here calls webhooks, and objects that were never converted would be served wrong. */
function conversionProblems(definition: CustomResourceDefinition): readonly StatusCause[] {
  const strategy = definition.spec.conversion?.strategy;
  return strategy === "Webhook" ? [notSupported("spec.conversion.strategy", strategy, ["None"])] : [];
}

/** Reads an object as a definition: its schema was checked, or will be before anyone relies on it. */
export function asDefinition(object: ApiObject): CustomResourceDefinition {
  return object as unknown as CustomResourceDefinition;
}

function completeDefinition(object: ApiObject, old: ApiObject | undefined): ApiObject {
  if (!isWellFormed(object)) return object;
  const defaulted = asObject(defaultCustomResourceDefinition(asDefinition(object)));
  const storage = asDefinition(defaulted).spec.versions.find((of) => of.storage)?.name;
  const status = (defaulted["status"] ?? {}) as NonNullable<CustomResourceDefinition["status"]>;
  const stored = status.storedVersions ?? [];
  const storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  return {
    ...defaulted,
    ...(old === undefined && {
      metadata: {
        ...defaulted.metadata,
        finalizers: [...new Set([...(defaulted.metadata.finalizers ?? []), cleanupFinalizer])],
      },
    }),
    status: { ...status, storedVersions },
  };
}

/** Whether there is enough of a definition to complete; the schema names what is missing otherwise. */
function isWellFormed(object: ApiObject): boolean {
  const { spec } = object as { readonly spec?: { readonly names?: unknown; readonly versions?: unknown } };
  return (
    typeof spec === "object" &&
    spec !== null &&
    typeof spec.names === "object" &&
    spec.names !== null &&
    Array.isArray(spec.versions) &&
    spec.versions.every((of) => typeof of === "object" && of !== null)
  );
}
