import {
  badRequest,
  formatMicroTime,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  parseTime,
  type StatusCause,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validatePathSegmentName,
} from "@meridian/kube";
import {
  type ApiObject,
  asJson,
  asObject,
  type NameRule,
  type ServedResource,
} from "../resource/definition.ts";
import { decodeErrorPrefix } from "./decode-object.ts";

/** Prunes, defaults and completes an object as it comes in. `old` is absent on create. Pure. */
export function shapeObject(
  resource: ServedResource,
  object: ApiObject,
  old: ApiObject | undefined,
): ApiObject {
  const { schema } = resource.version;
  const { custom, rules } = resource.definition;
  const given = custom ? asJson(object) : (withoutNulls(asJson(object)) as JsonObject);
  let shaped = asObject(schema.applyDefaults(schema.prune(given)));
  for (const path of rules.microTimes) shaped = withMicroTime(shaped, path);
  return rules.complete?.(shaped, old) ?? shaped;
}

/** For built-in kinds `null` says the same as leaving the field out: typed clients send it for empty lists. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, content]) => content !== null)
      .map(([field, content]) => [field, withoutNulls(content)]),
  );
}

/**
 * Checks an object against the rules of metadata, of its schema and of its kind.
 *
 * @throws StatusError 422 with one cause for each broken rule; 400 for a built-in kind whose `wholeBody` has a field of
 *   another type, since typed servers cannot even decode that.
 */
export function validateObject(
  resource: ServedResource,
  object: ApiObject,
  options: {
    readonly old: ApiObject | undefined;
    readonly statusOnly?: boolean;
    readonly wholeBody?: boolean;
  },
): void {
  const { definition, version } = resource;
  const { old } = options;
  const schemaCauses = version.schema.validate(
    asJson(object),
    old === undefined ? undefined : asJson(old),
    options.statusOnly === true ? { onlyFields: ["status"] } : {},
  );
  const mistyped = schemaCauses.find(({ reason }) => reason === "FieldValueTypeInvalid");
  if (mistyped !== undefined && !definition.custom && options.wholeBody === true) {
    throw badRequest(`${decodeErrorPrefix(resource)}${mistyped.message}`);
  }
  const causes: StatusCause[] = [
    ...validateObjectMeta(object.metadata, {
      namespaced: definition.namespaced,
      validateName: nameValidators[definition.rules.nameRule],
    }),
    ...(old === undefined ? [] : validateObjectMetaUpdate(object.metadata, old.metadata)),
    ...schemaCauses,
    ...(options.statusOnly === true ? [] : (definition.rules.validate?.(object, old) ?? [])),
  ];
  const { mayRepeat } = definition.rules;
  const broken =
    mayRepeat === undefined
      ? causes
      : causes.filter(({ field = "", reason }) => reason !== "FieldValueDuplicate" || !mayRepeat.test(field));
  if (broken.length > 0) {
    throw invalid({ group: definition.group, kind: definition.kind }, object.metadata.name ?? "", broken);
  }
}

const nameValidators: Readonly<Record<NameRule, (name: string) => string[]>> = {
  subdomain: validateDns1123Subdomain,
  label: validateDns1123Label,
  "label-1035": validateDns1035Label,
  "path-segment": validatePathSegmentName,
};

/** Clients send times with 0 to 9 digits after the point; MicroTime rests with six. */
function withMicroTime(object: ApiObject, path: readonly string[]): ApiObject {
  return asObject(
    mapAt(object, path, (value) => {
      const time = typeof value === "string" ? parseTime(value) : undefined;
      return time === undefined ? value : microTimeText(value as string, time);
    }),
  );
}

/** Keeps the digits as text: milliseconds in a double would lose the last microseconds. */
function microTimeText(text: string, time: number): string {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  return formatMicroTime(Math.floor(time / 1000) * 1000).replace(
    ".000000",
    `.${fraction.slice(0, 6).padEnd(6, "0")}`,
  );
}

function mapAt(value: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [field, ...rest] = path;
  if (field === undefined) return change(value);
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [field]: mapAt(fields[field], rest, change) };
}
