import {
  deepEqual,
  forbiddenField,
  invalidValue,
  isJsonObject,
  type StatusCause,
  tooLong,
  utf8Length,
} from "@meridian/kube";
import type { ApiObject, ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import { at, sizeAt, textAt, textColumn, textOf } from "./cells.ts";
import { flag, kind, text, texts } from "./schema-nodes.ts";

/** ConfigMaps (v1). */
export const configMaps: ResourceDefinition = builtIn({
  kind: "ConfigMap",
  shortNames: ["cm"],
  schema: kind("ConfigMap holds configuration as texts by name.", {
    data: texts("Texts by name. A name consists of letters, digits, `-`, `_` and `.`."),
    binaryData: texts("Octets in base64 by name."),
    immutable: flag("Whether the content may never change again."),
  }),
  columns: [
    {
      name: "Data",
      type: "string",
      description: "How many texts and octet strings there are.",
      cell: (map) => String(sizeAt(map, "data") + sizeAt(map, "binaryData")),
    },
  ],
  rules: {
    validate: (map, old) => [
      ...keyProblems(map, "data"),
      ...keyProblems(map, "binaryData"),
      ...base64Problems(map, "binaryData"),
      ...sizeProblems("[]", [...textSizes(map, "data"), ...octetSizes(map, "binaryData")]),
      ...immutableProblems(map, old, ["data", "binaryData"]),
    ],
  },
});

/** Secrets (v1). */
export const secrets: ResourceDefinition = builtIn({
  kind: "Secret",
  schema: kind("Secret holds passwords, keys and the like, in base64 by name.", {
    data: texts("Octets in base64 by name."),
    stringData: texts("Texts by name; written only: the server moves them into `data`."),
    type: text("What the secret is for, such as `kubernetes.io/tls`.", { default: "Opaque" }),
    immutable: flag("Whether the content may never change again."),
  }),
  columns: [
    textColumn("Type", "What the secret is for.", (secret) => textAt(secret, "type")),
    {
      name: "Data",
      type: "integer",
      description: "How many values there are.",
      cell: (secret) => sizeAt(secret, "data"),
    },
  ],
  selectable: ["type"],
  rules: {
    complete: moveStringData,
    validate: (secret, old) => [
      ...keyProblems(secret, "data"),
      ...base64Problems(secret, "data"),
      ...sizeProblems("data", octetSizes(secret, "data")),
      ...immutableProblems(secret, old, ["data"]),
      ...(old !== undefined && textAt(old, "type") !== textAt(secret, "type")
        ? [invalidValue("type", textAt(secret, "type"), "field is immutable")]
        : []),
    ],
  },
});

function moveStringData(secret: ApiObject): ApiObject {
  const { stringData, ...rest } = secret;
  if (!isJsonObject(stringData)) return stringData === undefined ? secret : rest;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(textOf(value), "utf8").toString("base64"),
  ]);
  const data = isJsonObject(rest["data"]) ? rest["data"] : {};
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } };
}

function keyProblems(object: ApiObject, field: string): readonly StatusCause[] {
  return entriesOf(object, field)
    .filter(([key]) => !/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === "." || key.startsWith(".."))
    .map(([key]) =>
      invalidValue(
        `${field}[${key}]`,
        key,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ),
    );
}

/** The values stay out of the message: they may be secret. */
function base64Problems(object: ApiObject, field: string): readonly StatusCause[] {
  return entriesOf(object, field)
    .filter(
      ([, value]) =>
        typeof value === "string" &&
        !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value),
    )
    .map(([key]) => ({
      reason: "FieldValueInvalid",
      field: `${field}[${key}]`,
      message: "Invalid value: must be base64",
    }));
}

/** Most octets of all values of one object together. */
const contentBytesMax = 1024 * 1024;

function sizeProblems(path: string, sizes: readonly number[]): readonly StatusCause[] {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes > contentBytesMax ? [tooLong(path, contentBytesMax)] : [];
}

function textSizes(object: ApiObject, field: string): readonly number[] {
  return entriesOf(object, field).map(([, value]) => utf8Length(textOf(value)));
}

/** What the octets take that stand there in base64. */
function octetSizes(object: ApiObject, field: string): readonly number[] {
  return entriesOf(object, field).map(([, value]) =>
    Math.floor((textOf(value).replace(/=+$/, "").length * 3) / 4),
  );
}

function immutableProblems(
  object: ApiObject,
  old: ApiObject | undefined,
  fields: readonly string[],
): readonly StatusCause[] {
  if (old === undefined || at(old, "immutable") !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  return [
    ...(at(object, "immutable") === true ? [] : [forbiddenField("immutable", detail)]),
    ...fields
      .filter((field) => !deepEqual(object[field] ?? {}, old[field] ?? {}))
      .map((field) => forbiddenField(field, detail)),
  ];
}

function entriesOf(object: ApiObject, field: string): readonly (readonly [string, unknown])[] {
  const value = object[field];
  return isJsonObject(value) ? Object.entries(value) : [];
}
