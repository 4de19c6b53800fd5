import type { Environment } from "@marcbachmann/cel-js";
import type { SchemaNode } from "../schema-node.ts";
import { escapedFieldName } from "./field-escaping.ts";

/** The type that a rule sees for a node of the schema; `name` is how declarations of the library write it. */
export type CelType = { readonly name: string; readonly dynamic: CelType } & (
  | { readonly kind: "string" | "int" | "double" | "bool" | "bytes" | "timestamp" | "duration" | "dyn" }
  | { readonly kind: "list"; readonly item: CelType }
  | { readonly kind: "map"; readonly value: CelType }
  | {
      readonly kind: "message";
      readonly fields: ReadonlyMap<string, CelField>;
      readonly constructor: MessageConstructor;
    }
);

/** A field of a message. */
export interface CelField {
  readonly escaped: string;
  readonly nullable: boolean;
  readonly type: CelType;
}

/** The library tells messages of different types apart by their constructors. */
export type MessageConstructor = new (fields: Record<string, unknown>) => object;

interface DynamicType {
  readonly name: "dyn";
  readonly kind: "dyn";
  readonly dynamic: DynamicType;
}

function dynamicType(): DynamicType {
  const type: { name: "dyn"; kind: "dyn"; dynamic?: DynamicType } = { name: "dyn", kind: "dyn" };
  type.dynamic = type as DynamicType;
  return type as DynamicType;
}

const dynamic: DynamicType = dynamicType();

const scalar = (
  name: string,
  kind: "string" | "int" | "double" | "bool" | "bytes" | "timestamp" | "duration",
): CelType => ({
  name,
  kind,
  dynamic,
});

const stringType: CelType = scalar("string", "string");
const textTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["date", scalar("google.protobuf.Timestamp", "timestamp")],
  ["date-time", scalar("google.protobuf.Timestamp", "timestamp")],
  ["datetime", scalar("google.protobuf.Timestamp", "timestamp")],
  ["duration", scalar("google.protobuf.Duration", "duration")],
  ["byte", scalar("bytes", "bytes")],
]);
const scalarTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["integer", scalar("int", "int")],
  ["number", scalar("double", "double")],
  ["boolean", scalar("bool", "bool")],
]);

/** Declares the types of a node and of all below it in an environment. */
export function declareCelType(env: Environment, node: SchemaNode, isResource: boolean): CelType {
  let messages = 0;
  return declare(node, isResource || node.embedsResource);

  function declare(at: SchemaNode, asResource: boolean): CelType {
    const { type, format, nullable } = at.schema;
    if (at.intOrString || nullable === true || type === undefined) return dynamic;
    switch (type) {
      case "string":
        return textTypes.get(format ?? "") ?? stringType;
      case "integer":
      case "number":
      case "boolean":
        return scalarTypes.get(type) ?? dynamic;
      case "array": {
        const item = at.items === undefined ? dynamic : declare(at.items, at.items.embedsResource);
        return { kind: "list", name: `list<${item.name}>`, item, dynamic };
      }
      case "object":
        return declareObject(at, asResource);
    }
  }

  function declareObject(at: SchemaNode, asResource: boolean): CelType {
    if (at.properties.size === 0 && !asResource) {
      const value =
        typeof at.additional === "object" ? declare(at.additional, at.additional.embedsResource) : dynamic;
      return { kind: "map", name: `map<string, ${value.name}>`, value, dynamic };
    }
    const fields = new Map<string, CelField>();
    for (const [name, child] of at.properties) {
      const escaped = escapedFieldName(name);
      // `constructor` is what the library reads to know the type of a message.
      if (escaped === undefined || escaped === "constructor") continue;
      const nullable = child.schema.nullable === true;
      fields.set(name, { escaped, nullable, type: declare(child, child.embedsResource) });
    }
    if (asResource) declareResourceFields(fields);
    return declareMessage(fields);
  }

  function declareResourceFields(fields: Map<string, CelField>): void {
    const field = (escaped: string, type: CelType): CelField => ({ escaped, nullable: false, type });
    fields.set("apiVersion", field("apiVersion", stringType));
    fields.set("kind", field("kind", stringType));
    const metadata = new Map<string, CelField>();
    for (const name of ["name", "generateName"]) metadata.set(name, field(name, stringType));
    fields.set("metadata", field("metadata", declareMessage(metadata)));
  }

  function declareMessage(fields: ReadonlyMap<string, CelField>): CelType {
    const name = `Object${++messages}`;
    class Message {
      constructor(values: Record<string, unknown>) {
        Object.assign(this, values);
      }
    }
    const declared = Array.from(fields.values(), ({ escaped, type }) => [escaped, type.name]);
    env.registerType(name, { ctor: Message, fields: Object.fromEntries(declared) as Record<string, string> });
    return { kind: "message", name, fields, constructor: Message, dynamic };
  }
}
