import { internalFieldError, invalidValue } from "../field-error.ts";
import { isJsonObject, ownField } from "../json.ts";
import type { Json } from "../json.ts";
import type { StatusCause } from "../status.ts";
import { applyDefaults } from "./apply-defaults.ts";
import { CostMeter } from "./cel/cost-meter.ts";
import { compileRules } from "./cel/rule-node.ts";
import { validateRules } from "./cel/validate-rules.ts";
import { prune } from "./prune.ts";
import { compileNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { validateEmbedded } from "./validate-embedded.ts";
import { validateLists } from "./validate-lists.ts";
import { validateValue } from "./validate-value.ts";

/** How a schema is read. */
export interface CompileSchemaOptions {
  /**
   * `resource` (default): the root is a whole object; its apiVersion, kind and metadata are always known, and
   * metadata follows ObjectMeta. `value`: the root is plain data.
   */
  readonly root?: "resource" | "value";
}

/** What a value is judged against, beside the schema. */
export interface ValidateOptions {
  /** Check only these fields of the root, and what is below them (the status endpoint gives `["status"]`). Rules of the root always run. */
  readonly onlyFields?: readonly string[];
}

/** A structural schema, made ready once and used for every request. All functions are pure; none changes what it is given. */
export interface CompiledSchema {
  /** What this was compiled from. */
  readonly schema: StructuralSchema;
  /** The value without fields that the schema does not know. Same reference if there are none. */
  readonly prune: (value: Json) => Json;
  /** Paths of the fields that `prune` would drop: `spec.foo`, `spec.endpoints[0].bar`. */
  readonly unknownFields: (value: Json) => string[];
  /** The value with defaults filled in, nulls handled as the API does. Same reference if nothing changed. */
  readonly applyDefaults: (value: Json) => Json;
  /**
   * Every rule that the value breaks, first those of the schema's keywords, then embedded metadata and repeated list items, then the CEL
   * rules. With `old` (an update) transition rules run, and what did not change is not checked again. Metadata of the root is not checked
   * here; see `validateObjectMeta`.
   */
  readonly validate: (value: Json, old?: Json, options?: ValidateOptions) => StatusCause[];
}

/**
 * Makes a schema ready. A CEL rule that does not compile is no error here but one of every object: a schema is checked by
 * `validateStructuralSchema` when it comes in, and a stored one must stay usable.
 *
 * @throws RangeError for a schema that is nested too deeply, PatternError for a pattern that does not compile; `validateStructuralSchema` finds both.
 */
export function compileSchema(schema: StructuralSchema, options: CompileSchemaOptions = {}): CompiledSchema {
  const isResource = options.root !== "value";
  const root = compileNode(schema);
  const place = { node: root, path: "", isResource };
  const meter = new CostMeter();
  const brokenRules: StatusCause[] = [];
  const rules = compileRules(root, {
    isResource,
    meter,
    onProblem: (path, index, { field, message }) =>
      void brokenRules.push(
        internalFieldError(`x-kubernetes-validations${path}[${index}].${field}`, message),
      ),
  });

  function validate(value: Json, old?: Json, { onlyFields }: ValidateOptions = {}): StatusCause[] {
    const causes =
      onlyFields === undefined
        ? validateAll(value, root, old)
        : validateSome(value, root, { old, onlyFields });
    if (rules === undefined && brokenRules.length === 0) return causes;
    if (causes.some(({ reason }) => blockingReasons.has(reason ?? ""))) return [...causes, rulesSkipped];
    if (rules === undefined) return [...causes, ...brokenRules];
    meter.startObject();
    return [...causes, ...brokenRules, ...validateRules(value, rules, { path: "", old, meter })];
  }

  return {
    schema,
    prune: (value) => prune(value, place),
    unknownFields: (value) => {
      const paths: string[] = [];
      prune(value, { ...place, report: (path) => void paths.push(path) });
      return paths;
    },
    applyDefaults: (value) => applyDefaults(value, root),
    validate,
  };
}

function validateAll(value: Json, root: SchemaNode, old: Json | undefined): StatusCause[] {
  return [
    ...validateValue(value, root, { path: "", old }),
    ...validateEmbedded(value, root, ""),
    ...validateLists(value, root, { path: "", old }),
  ];
}

function validateSome(
  value: Json,
  root: SchemaNode,
  { old, onlyFields }: { readonly old: Json | undefined; readonly onlyFields: readonly string[] },
): StatusCause[] {
  if (!isJsonObject(value)) return validateValue(value, root, { path: "" });
  const oldFields = old !== undefined && isJsonObject(old) ? old : {};
  return onlyFields.flatMap((name) => {
    const field = ownField(value, name);
    const node = root.properties.get(name);
    if (field === undefined || node === undefined) return [];
    const place = { path: name, old: ownField(oldFields, name) };
    return [
      ...validateValue(field, node, place),
      ...validateEmbedded(field, node, name),
      ...validateLists(field, node, place),
    ];
  });
}

/** After these, rules would run on values that are not what they were written for. */
const blockingReasons = new Set([
  "FieldValueRequired",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const rulesSkipped: StatusCause = invalidValue(
  "",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);
