import { compilePattern } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * One node of a schema, made ready for walking values: children in maps (a property may be called `constructor`), patterns
 * compiled. The tree has the shape of the schema.
 */
export interface SchemaNode {
  readonly schema: StructuralSchema;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** What other fields must follow: a schema, anything, nothing; `undefined` where the schema does not say. */
  readonly additional: SchemaNode | "anything" | "nothing" | undefined;
  readonly items: SchemaNode | undefined;
  readonly required: readonly string[];
  readonly preservesUnknownFields: boolean;
  readonly embedsResource: boolean;
  readonly intOrString: boolean;
  readonly pattern: Pattern | undefined;
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
}

/** Depth of a schema: every walk over a value is as deep as its schema at most. */
export const schemaDepthMax: number = 100;

/** @throws RangeError if the schema is deeper than `schemaDepthMax`; PatternError for a pattern that does not compile. */
export function compileNode(schema: StructuralSchema, depth: number = 0): SchemaNode {
  if (depth > schemaDepthMax) {
    throw new RangeError(`the schema is nested deeper than ${schemaDepthMax} levels`);
  }
  const compile = (child: StructuralSchema): SchemaNode => compileNode(child, depth + 1);
  const { additionalProperties: additional } = schema;
  return {
    schema,
    properties: new Map(
      Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compile(child)]),
    ),
    additional:
      typeof additional === "object"
        ? compile(additional)
        : additional === undefined
          ? undefined
          : additional
            ? "anything"
            : "nothing",
    items: schema.items === undefined ? undefined : compile(schema.items),
    required: schema.required ?? [],
    preservesUnknownFields: schema["x-kubernetes-preserve-unknown-fields"] === true,
    embedsResource: schema["x-kubernetes-embedded-resource"] === true,
    intOrString: schema["x-kubernetes-int-or-string"] === true,
    pattern:
      schema.pattern === undefined || schema.pattern === "" ? undefined : compilePattern(schema.pattern),
    allOf: (schema.allOf ?? []).map(compile),
    anyOf: (schema.anyOf ?? []).map(compile),
    oneOf: (schema.oneOf ?? []).map(compile),
    not: schema.not === undefined ? undefined : compile(schema.not),
  };
}

/** The node that a field of an object follows: its property, or what holds for all others. */
export function fieldNode(node: SchemaNode, name: string): SchemaNode | undefined {
  const property = node.properties.get(name);
  if (property !== undefined) return property;
  return typeof node.additional === "object" ? node.additional : undefined;
}
