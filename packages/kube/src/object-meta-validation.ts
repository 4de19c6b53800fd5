import { parseApiVersion } from "./group-version.ts";
import { forbiddenField, invalidValue, required, tooLong } from "./field-error.ts";
import type { Json } from "./json.ts";
import type { ObjectMeta, OwnerReference } from "./metadata.ts";
import {
  utf8Length,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedName,
} from "./names.ts";
import type { StatusCause } from "./status.ts";

/** Bytes of all annotation keys and values of one object together. */
export const annotationsBytesMax: number = 256 * 1024;

/** What metadata must follow beyond the rules for every kind. */
export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** Rule for the name; `validateDns1123Subdomain` unless the kind has a stricter one. */
  readonly validateName?: (name: string) => string[];
  /** Where the metadata stands; `metadata` unless it is that of an embedded object. */
  readonly path?: string;
}

/** Every rule that the metadata of an object breaks, whether new or changed. */
export function validateObjectMeta(metadata: ObjectMeta, rules: ObjectMetaRules): StatusCause[] {
  const path = rules.path ?? "metadata";
  return [
    ...validateNames(metadata, rules, path),
    ...validateNamespace(metadata, rules, path),
    ...(metadata.generation !== undefined && metadata.generation < 0
      ? [invalidValue(`${path}.generation`, metadata.generation, "must be greater than or equal to 0")]
      : []),
    ...validateLabels(metadata.labels ?? {}, `${path}.labels`),
    ...validateAnnotations(metadata.annotations ?? {}, `${path}.annotations`),
    ...validateOwnerReferences(metadata.ownerReferences ?? [], `${path}.ownerReferences`),
    ...validateFinalizers(metadata.finalizers ?? [], `${path}.finalizers`),
  ];
}

/** Every rule that a change of metadata breaks: immutable fields, finalizers while deleting, a shrinking generation. */
export function validateObjectMetaUpdate(metadata: ObjectMeta, old: ObjectMeta): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of immutableFields) {
    if (metadata[field] === old[field]) continue;
    causes.push(invalidValue(`metadata.${field}`, metadata[field] ?? null, "field is immutable"));
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    causes.push(invalidValue("metadata.generation", metadata.generation ?? 0, "must not be decremented"));
  }
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((each) => !(old.finalizers ?? []).includes(each));
    if (added.length > 0) {
      const list = `[]string{${added.map((each) => JSON.stringify(each)).join(", ")}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      causes.push(forbiddenField("metadata.finalizers", detail));
    }
  }
  return causes;
}

/** Every rule that labels break; keys are qualified names. */
export function validateLabels(labels: Readonly<Record<string, string>>, path: string): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...validateQualifiedName(key).map((rule) => invalidValue(path, key, rule)),
    ...validateLabelValue(value).map((rule) => invalidValue(path, value, rule)),
  ]);
}

const immutableFields = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

function validateNames(metadata: ObjectMeta, rules: ObjectMetaRules, path: string): StatusCause[] {
  const validateName = rules.validateName ?? validateDns1123Subdomain;
  const causes: StatusCause[] = [];
  const { name = "", generateName = "" } = metadata;
  if (generateName !== "") {
    // The suffix follows, so a dash at the end of the prefix does no harm.
    const prefix = generateName.replace(/-$/, "a");
    for (const rule of validateName(prefix)) {
      causes.push(invalidValue(`${path}.generateName`, generateName, rule));
    }
  }
  if (name === "") causes.push(required(`${path}.name`, "name or generateName is required"));
  else for (const rule of validateName(name)) causes.push(invalidValue(`${path}.name`, name, rule));
  return causes;
}

function validateNamespace(metadata: ObjectMeta, rules: ObjectMetaRules, path: string): StatusCause[] {
  const { namespace = "" } = metadata;
  if (!rules.namespaced) {
    return namespace === "" ? [] : [forbiddenField(`${path}.namespace`, "not allowed on this type")];
  }
  if (namespace === "") return [required(`${path}.namespace`)];
  return validateDns1123Label(namespace).map((rule) => invalidValue(`${path}.namespace`, namespace, rule));
}

function validateAnnotations(annotations: Readonly<Record<string, string>>, path: string): StatusCause[] {
  let bytes = 0;
  const causes: StatusCause[] = [];
  for (const [key, value] of Object.entries(annotations)) {
    bytes += utf8Length(key) + utf8Length(value);
    // Annotation keys are compared case-insensitively by this rule only.
    for (const rule of validateQualifiedName(key.toLowerCase())) causes.push(invalidValue(path, key, rule));
  }
  if (bytes > annotationsBytesMax) causes.push(tooLong(path, annotationsBytesMax));
  return causes;
}

function validateOwnerReferences(references: readonly OwnerReference[], path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  let controller: string | undefined;
  for (const reference of references) {
    causes.push(...validateOwnerReference(reference, path));
    if (reference.controller !== true) continue;
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${reference.name}`;
      causes.push(invalidValue(path, references as unknown as Json, detail));
    }
    controller = reference.name;
  }
  return causes;
}

function validateOwnerReference(reference: OwnerReference, path: string): StatusCause[] {
  const { apiVersion = "", kind = "", name = "", uid = "" } = reference as Partial<OwnerReference>;
  const causes: StatusCause[] = [];
  const { group, version } = parseApiVersion(apiVersion);
  if (version === "") {
    causes.push(invalidValue(`${path}.apiVersion`, apiVersion, "version must not be empty"));
  }
  for (const [field, value] of Object.entries({ kind, name, uid })) {
    if (value === "") causes.push(invalidValue(`${path}.${field}`, value, "must not be empty"));
  }
  // Events come in thousands and go by themselves; an object owned by one would vanish with it.
  if (kind === "Event" && group === "") {
    const detail = `${apiVersion}, Kind=${kind} is disallowed from being an owner`;
    causes.push(invalidValue(path, reference as unknown as Json, detail));
  }
  return causes;
}

function validateFinalizers(finalizers: readonly string[], path: string): StatusCause[] {
  const causes = finalizers.flatMap((finalizer) =>
    validateQualifiedName(finalizer).map((rule) => invalidValue(path, finalizer, rule)),
  );
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const detail = "finalizer orphan and foregroundDeletion cannot be both set";
    causes.push(invalidValue(path, finalizers, detail));
  }
  return causes;
}
