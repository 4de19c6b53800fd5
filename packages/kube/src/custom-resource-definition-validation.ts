import { forbiddenField, invalidValue, notSupported, required } from "./field-error.ts";
import { isJsonObject } from "./json.ts";
import type { Json } from "./json.ts";
import { compileJsonPath } from "./json-path.ts";
import type {
  CustomResourceDefinition,
  CustomResourceNames,
  CustomResourceVersion,
} from "./kinds/custom-resource-definition.ts";
import { validateDns1035Label, validateDns1123Subdomain } from "./names.ts";
import { validateCustomResourceNames } from "./custom-resource-names-validation.ts";
import { validateSelectableFields } from "./selectable-fields-validation.ts";
import { validateStructuralSchema } from "./schema/validate-structural-schema.ts";
import type { StatusCause } from "./status.ts";

/** The definition with its defaults: singular name, list kind, no conversion. */
export function defaultCustomResourceDefinition(
  definition: CustomResourceDefinition,
): CustomResourceDefinition {
  const names: CustomResourceNames | undefined = definition.spec?.names;
  if (!isJsonObject(names)) return definition;
  const defaults = {
    singular: (names.kind ?? "").toLowerCase(),
    listKind: `${names.kind ?? ""}List`,
  };
  return {
    ...definition,
    spec: {
      conversion: { strategy: "None" },
      ...definition.spec,
      names: {
        ...names,
        singular: names.singular || defaults.singular,
        listKind: names.listKind || defaults.listKind,
      },
    },
  };
}

/**
 * Every rule that a definition breaks, defaults already applied; with `old` also the rules of updates: what is immutable once established, and stored
 * versions that must stay. Metadata is not checked here but for the name.
 */
export function validateCustomResourceDefinition(
  definition: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): StatusCause[] {
  const { spec } = definition;
  if (!isJsonObject(spec)) return [required("spec")];
  if (!isJsonObject(spec.names)) return [required("spec.names")];
  const name = `${spec.names.plural}.${spec.group}`;
  return [
    ...(definition.metadata.name === name
      ? []
      : [
          invalidValue(
            "metadata.name",
            definition.metadata.name ?? "",
            `must be spec.names.plural+"."+spec.group`,
          ),
        ]),
    ...validateApproval(definition),
    ...validateGroup(spec.group),
    ...validateScope(spec.scope),
    ...validateVersionList(spec.versions ?? []),
    ...(spec.versions ?? []).flatMap((version, index) => validateVersion(version, `spec.versions[${index}]`)),
    ...validateCustomResourceNames(spec.names, "spec.names"),
    ...validateConversion(definition),
    ...(spec.preserveUnknownFields === true
      ? [
          invalidValue(
            "spec.preserveUnknownFields",
            true,
            "must be false in order to use defaults in the schema",
          ),
        ]
      : []),
    ...(old === undefined ? [] : validateUpdate(definition, old)),
  ];
}

const approvalAnnotation = "api-approved.kubernetes.io";

/** Groups of the Kubernetes project are protected: a definition in one must say where it was approved. */
function validateApproval({ metadata, spec }: CustomResourceDefinition): StatusCause[] {
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(spec.group);
  const value = metadata.annotations?.[approvalAnnotation];
  const field = `metadata.annotations[${approvalAnnotation}]`;
  if (!isProtected) return [];
  if (value === undefined) {
    return [required(field, 'protected groups must have approval annotation "api-approved.kubernetes.io"')];
  }
  if (value.startsWith("unapproved") || /^https?:\/\/\S+$/.test(value)) return [];
  const detail =
    'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved"';
  return [invalidValue(field, value, detail)];
}

function validateGroup(group: string | undefined): StatusCause[] {
  if (group === undefined || group === "") return [required("spec.group")];
  const broken = validateDns1123Subdomain(group);
  if (broken.length > 0) return [invalidValue("spec.group", group, broken.join(","))];
  return group.includes(".")
    ? []
    : [invalidValue("spec.group", group, "should be a domain with at least one dot")];
}

function validateScope(scope: string | undefined): StatusCause[] {
  if (scope === undefined || scope === "") return [required("spec.scope")];
  return scope === "Cluster" || scope === "Namespaced"
    ? []
    : [notSupported("spec.scope", scope, ["Cluster", "Namespaced"])];
}

function validateVersionList(versions: readonly CustomResourceVersion[]): StatusCause[] {
  const shown = versions.map(({ name, served, storage }) => ({ name, served, storage })) as Json;
  const causes: StatusCause[] = [];
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    causes.push(invalidValue("spec.versions", shown, "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = "must have exactly one version marked as storage version";
    causes.push(invalidValue("spec.versions", shown, detail));
  }
  return causes;
}

function validateVersion(version: CustomResourceVersion, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const broken = validateDns1035Label(version.name ?? "");
  if (broken.length > 0) causes.push(invalidValue(`${path}.name`, version.name ?? "", broken.join(",")));
  if (version.deprecationWarning !== undefined && version.deprecated !== true) {
    const detail = "can only be set for deprecated versions";
    causes.push(invalidValue(`${path}.deprecationWarning`, version.deprecationWarning, detail));
  }
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) causes.push(required(`${path}.schema.openAPIV3Schema`, "schemas are required"));
  else causes.push(...validateStructuralSchema(schema, `${path}.schema.openAPIV3Schema`));
  return [
    ...causes,
    ...validateScale(version, `${path}.subresources.scale`),
    ...validateColumns(version, `${path}.additionalPrinterColumns`),
    ...validateSelectableFields(version, `${path}.selectableFields`),
  ];
}

function validateScale(version: CustomResourceVersion, path: string): StatusCause[] {
  const scale = version.subresources?.scale;
  if (scale === undefined) return [];
  const check = (field: string, value: string | undefined, roots: readonly string[]): StatusCause[] => {
    if (value === undefined || value === "") return [required(`${path}.${field}`)];
    if (!/^(?:\.[A-Za-z_][A-Za-z0-9_-]*)+$/.test(value)) {
      return [invalidValue(`${path}.${field}`, value, "should be a simple json path starting with .")];
    }
    if (roots.some((root) => value.startsWith(`${root}.`))) return [];
    return [invalidValue(`${path}.${field}`, value, `should be a json path under ${roots.join(" or ")}`)];
  };
  return [
    ...check("specReplicasPath", scale.specReplicasPath, [".spec"]),
    ...check("statusReplicasPath", scale.statusReplicasPath, [".status"]),
    ...(scale.labelSelectorPath === undefined
      ? []
      : check("labelSelectorPath", scale.labelSelectorPath, [".spec", ".status"])),
  ];
}

const columnTypes = ["integer", "number", "string", "boolean", "date"];

function validateColumns(version: CustomResourceVersion, path: string): StatusCause[] {
  return (version.additionalPrinterColumns ?? []).flatMap((column, index) => {
    const at = `${path}[${index}]`;
    const causes: StatusCause[] = [];
    if ((column.name ?? "") === "") causes.push(required(`${at}.name`));
    if ((column.type ?? "") === "") {
      causes.push(required(`${at}.type`, `must be one of ${columnTypes.join(",")}`));
    } else if (!columnTypes.includes(column.type)) {
      causes.push(invalidValue(`${at}.type`, column.type, `must be one of ${columnTypes.join(",")}`));
    }
    if ((column.jsonPath ?? "") === "") return [...causes, required(`${at}.jsonPath`)];
    try {
      compileJsonPath(column.jsonPath);
    } catch (error) {
      causes.push(
        invalidValue(
          `${at}.jsonPath`,
          column.jsonPath,
          error instanceof Error ? error.message : String(error),
        ),
      );
    }
    return causes;
  });
}

function validateConversion({ spec }: CustomResourceDefinition): StatusCause[] {
  const strategy = spec.conversion?.strategy;
  if (strategy === undefined || strategy === "None") {
    if (spec.conversion?.webhook === undefined) return [];
    return [
      forbiddenField("spec.conversion.webhook", "should not be set when strategy is not set to Webhook"),
    ];
  }
  if (strategy !== "Webhook")
    return [notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"])];
  return spec.conversion?.webhook === undefined
    ? [required("spec.conversion.webhook", "required when strategy is set to Webhook")]
    : [];
}

function validateUpdate(definition: CustomResourceDefinition, old: CustomResourceDefinition): StatusCause[] {
  const { spec } = definition;
  const causes: StatusCause[] = [];
  const keep = (field: string, [now, before]: readonly [string, string]): void => {
    if (now !== before) causes.push(invalidValue(field, now, "field is immutable"));
  };
  const established = old.status?.conditions?.some(
    ({ type, status }) => type === "Established" && status === "True",
  );
  if (established === true) {
    keep("spec.scope", [spec.scope, old.spec.scope]);
    keep("spec.names.kind", [spec.names.kind, old.spec.names.kind]);
  }
  keep("spec.group", [spec.group, old.spec.group]);
  keep("spec.names.plural", [spec.names.plural, old.spec.names.plural]);
  const names = new Set(spec.versions.map(({ name }) => name));
  (definition.status?.storedVersions ?? old.status?.storedVersions ?? []).forEach((version, index) => {
    if (names.has(version)) return;
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    causes.push(invalidValue(`status.storedVersions[${index}]`, version, detail));
  });
  return causes;
}
