import { createHash } from "node:crypto";
import type { ServedResource } from "../resource/definition.ts";
import type { ResourceRegistry } from "../resource/registry.ts";
import { pathItems } from "./path-items.ts";
import {
  kindSchema,
  listSchema,
  listSchemaName,
  type OpenApiNode,
  schemaName,
  sharedSchemas,
} from "./schema-document.ts";

/** A document as it is sent, and its hash: clients keep it for as long as the hash stands. */
export interface OpenApiDocument {
  readonly text: string;
  readonly hash: string;
}

/** The OpenAPI documents of what a registry serves, built when first asked for and again after each change. */
export class OpenApiDocuments {
  readonly #registry: ResourceRegistry;
  #generation = -1;
  #byPath = new Map<string, readonly ServedResource[]>();
  readonly #built = new Map<string, OpenApiDocument>();

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** Paths of group versions, such as `api/v1` and `apis/apps/v1`. */
  paths(): readonly string[] {
    this.#refresh();
    return [...this.#byPath.keys()];
  }

  /** The OpenAPI 3.0 document of one group version. */
  v3(path: string): OpenApiDocument | undefined {
    this.#refresh();
    const resources = this.#byPath.get(path);
    return resources && this.#build(path, () => v3Document(resources));
  }

  /** One Swagger 2.0 document of everything. */
  v2(): OpenApiDocument {
    this.#refresh();
    return this.#build("v2", () => v2Document([...this.#byPath.values()].flat()));
  }

  #build(key: string, build: () => OpenApiNode): OpenApiDocument {
    let document = this.#built.get(key);
    if (document === undefined) {
      const text = JSON.stringify(build());
      document = { text, hash: createHash("sha256").update(text).digest("hex").toUpperCase() };
      this.#built.set(key, document);
    }
    return document;
  }

  #refresh(): void {
    if (this.#generation === this.#registry.generation) return;
    this.#generation = this.#registry.generation;
    this.#built.clear();
    this.#byPath = new Map();
    for (const { name: group, versions } of this.#registry.groups()) {
      for (const { name, resources } of versions) {
        this.#byPath.set(group === "" ? `api/${name}` : `apis/${group}/${name}`, resources);
      }
    }
  }
}

const info = { title: "Kubernetes", version: "v1.33.0" };

function v3Document(resources: readonly ServedResource[]): OpenApiNode {
  return {
    openapi: "3.0.0",
    info,
    paths: pathsOf(resources),
    components: { schemas: schemasOf(resources) },
  };
}

function pathsOf(resources: readonly ServedResource[]): OpenApiNode {
  return Object.assign({}, ...resources.map(pathItems)) as OpenApiNode;
}

function schemasOf(resources: readonly ServedResource[]): OpenApiNode {
  return {
    ...sharedSchemas,
    ...Object.fromEntries(
      resources.flatMap((resource) => [
        [schemaName(resource), kindSchema(resource)],
        [listSchemaName(resource), listSchema(resource)],
      ]),
    ),
  };
}

/** Definitions only, as far as Swagger 2.0 can say them: enough for clients that read nothing newer. */
function v2Document(resources: readonly ServedResource[]): OpenApiNode {
  return {
    swagger: "2.0",
    info,
    paths: {},
    definitions: downgrade(schemasOf(resources)),
  };
}

const v3Only = new Set(["oneOf", "anyOf", "not", "nullable", "example", "externalDocs"]);

function downgrade(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => downgrade(item));
  if (typeof value !== "object" || value === null) {
    return key === "$ref" && typeof value === "string"
      ? value.replace("#/components/schemas/", "#/definitions/")
      : value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !v3Only.has(field))
      .map(([field, content]) => [field, downgrade(content, field)]),
  );
}
