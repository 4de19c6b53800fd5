import {
  compareKubeVersions,
  compileSchema,
  type CustomResourceDefinition,
  type StructuralSchema,
} from "@meridian/kube";
import { allVerbs, type ResourceDefinition, type ResourceVersion } from "../resource/definition.ts";
import type { PrinterColumn } from "../resource/printer-column.ts";

type CustomVersion = CustomResourceDefinition["spec"]["versions"][number];

/** Turns a stored definition into what the server serves: from there on, custom kinds are kinds like all others. */
export function definitionOfCrd(
  crd: CustomResourceDefinition,
  options: { readonly terminating: boolean },
): ResourceDefinition {
  const { group, names, scope, versions } = crd.spec;
  const storage = versions.find((version) => version.storage)?.name ?? "";
  const singular = names.singular ?? names.kind.toLowerCase();
  return {
    group,
    plural: names.plural,
    singular,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === "Namespaced",
    custom: true,
    versions: [...versions]
      .sort((a, b) => compareKubeVersions(a.name, b.name))
      .map((version) => versionOf(crd, version)),
    stored: { folder: `${group}/${names.plural}`, apiVersion: `${group}/${storage}` },
    ...(options.terminating && { terminating: true }),
    rules: {
      nameRule: "subdomain",
      tracksGeneration: true,
      allowsUnconditionalUpdate: false,
      allowsCreateOnUpdate: false,
      returnsDeleted: false,
      statusTakesMetadata: false,
      microTimes: [],
      verbs: allVerbs,
    },
  };
}

function versionOf(crd: CustomResourceDefinition, version: CustomVersion): ResourceVersion {
  const scale = version.subresources?.scale;
  return {
    name: version.name,
    served: version.served,
    schema: compileSchema(version.schema?.openAPIV3Schema ?? anything),
    hasStatus: version.subresources?.status !== undefined,
    ...(scale !== undefined && {
      scale: {
        specReplicas: dottedPath(scale.specReplicasPath),
        statusReplicas: dottedPath(scale.statusReplicasPath),
        ...(scale.labelSelectorPath !== undefined && { labelSelector: dottedPath(scale.labelSelectorPath) }),
      },
    }),
    columns: (version.additionalPrinterColumns ?? []).map(columnOf),
    selectableFields: new Map(
      (version.selectableFields ?? []).map(({ jsonPath }) => [
        jsonPath.replace(/^\./, ""),
        dottedPath(jsonPath),
      ]),
    ),
    ...(version.deprecated === true && { deprecationWarning: deprecationOf(crd, version) }),
  };
}

const anything: StructuralSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function dottedPath(path: string): readonly string[] {
  return path.split(".").filter((field) => field !== "");
}

function columnOf(column: NonNullable<CustomVersion["additionalPrinterColumns"]>[number]): PrinterColumn {
  const { description, format, jsonPath, name, priority, type } = column;
  return {
    name,
    type: type as PrinterColumn["type"],
    cell: jsonPath,
    ...(description !== undefined && { description }),
    ...(format !== undefined && { format }),
    ...(priority !== undefined && { priority }),
  };
}

/** What clients of a deprecated version are told: the author's words, or where to go instead. */
function deprecationOf(crd: CustomResourceDefinition, version: CustomVersion): string {
  if (version.deprecationWarning !== undefined && version.deprecationWarning !== null)
    return version.deprecationWarning;
  const { group, names, versions } = crd.spec;
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  const better = versions
    .filter(({ deprecated, served }) => served && deprecated !== true)
    .map(({ name }) => name)
    .sort(compareKubeVersions)
    .find((name) => compareKubeVersions(name, version.name) < 0);
  return better === undefined ? text : `${text}; use ${group}/${better} ${names.kind}`;
}
