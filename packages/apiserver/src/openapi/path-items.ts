import type { ServedResource } from "../resource/definition.ts";
import { listSchemaName, metaPrefix, type OpenApiNode, schemaName, schemaRef } from "./schema-document.ts";

/** The paths of one resource with their operations. Clients read from them which parameters a kind takes. */
export function pathItems(resource: ServedResource): Readonly<Record<string, OpenApiNode>> {
  const { definition, version } = resource;
  const root = definition.group === "" ? `/api/${version.name}` : `/apis/${definition.group}/${version.name}`;
  const collection = definition.namespaced
    ? `${root}/namespaces/{namespace}/${definition.plural}`
    : `${root}/${definition.plural}`;
  const item = `${collection}/{name}`;
  return {
    [collection]: collectionItem(resource),
    [item]: objectItem(resource),
    ...(version.hasStatus && { [`${item}/status`]: statusItem(resource) }),
    ...(definition.namespaced && {
      [`${root}/${definition.plural}`]: {
        get: listOperation(resource, "ForAllNamespaces"),
        parameters: listParameters,
      },
    }),
  };
}

function collectionItem(resource: ServedResource): OpenApiNode {
  return {
    parameters: pathParameters(resource, { named: false }),
    get: { ...listOperation(resource, ""), parameters: listParameters },
    post: operation(resource, {
      action: "post",
      name: "create",
      body: schemaRef(schemaName(resource)),
      parameters: writeParameters,
    }),
    delete: operation(resource, {
      action: "deletecollection",
      name: "deletecollection",
      body: schemaRef(`${metaPrefix}.DeleteOptions`),
      answer: `${metaPrefix}.Status`,
      parameters: listParameters,
    }),
  };
}

function objectItem(resource: ServedResource): OpenApiNode {
  return {
    parameters: pathParameters(resource, { named: true }),
    get: operation(resource, { action: "get", name: "read" }),
    put: operation(resource, {
      action: "put",
      name: "replace",
      body: schemaRef(schemaName(resource)),
      parameters: writeParameters,
    }),
    patch: patchOperation(resource, "patch"),
    delete: operation(resource, {
      action: "delete",
      name: "delete",
      body: schemaRef(`${metaPrefix}.DeleteOptions`),
      answer: `${metaPrefix}.Status`,
      parameters: deleteParameters,
    }),
  };
}

function statusItem(resource: ServedResource): OpenApiNode {
  return {
    parameters: pathParameters(resource, { named: true }),
    get: operation(resource, { action: "get", name: "readStatus" }),
    put: operation(resource, {
      action: "put",
      name: "replaceStatus",
      body: schemaRef(schemaName(resource)),
      parameters: writeParameters,
    }),
    patch: patchOperation(resource, "patchStatus"),
  };
}

interface Operation {
  readonly action: string;
  readonly name: string;
  readonly body?: OpenApiNode;
  readonly bodyTypes?: readonly string[];
  /** Name of the answer's schema; that of the kind by default. */
  readonly answer?: string;
  readonly parameters?: readonly OpenApiNode[];
}

function operation(resource: ServedResource, of: Operation): OpenApiNode {
  const { definition, version } = resource;
  const answer = schemaRef(of.answer ?? schemaName(resource));
  const response = {
    description: "OK",
    content: { "application/json": { schema: answer }, "application/yaml": { schema: answer } },
  };
  const scope = definition.namespaced ? "Namespaced" : "";
  const groupText = `${definition.group === "" ? "core" : definition.group}.${version.name}`;
  return {
    description: `${of.name} ${definition.kind}`,
    operationId: `${of.name}${camel(groupText)}${scope}${definition.kind}`,
    tags: [groupText.replace(/[.]/g, "_")],
    ...(of.parameters !== undefined && { parameters: of.parameters }),
    ...(of.body !== undefined && {
      requestBody: {
        content: Object.fromEntries(
          (of.bodyTypes ?? ["application/json"]).map((type) => [type, { schema: of.body }]),
        ),
      },
    }),
    responses: {
      "200": response,
      ...(of.action === "post" && { "201": { ...response, description: "Created" } }),
      "401": { description: "Unauthorized" },
    },
    "x-kubernetes-action": of.action,
    "x-kubernetes-group-version-kind": {
      group: definition.group,
      version: version.name,
      kind: definition.kind,
    },
  };
}

function listOperation(resource: ServedResource, suffix: string): OpenApiNode {
  return operation(resource, { action: "list", name: `list${suffix}`, answer: listSchemaName(resource) });
}

function patchOperation(resource: ServedResource, name: string): OpenApiNode {
  return operation(resource, {
    action: "patch",
    name,
    body: schemaRef(`${metaPrefix}.Patch`),
    bodyTypes: [
      "application/apply-patch+yaml",
      "application/json-patch+json",
      "application/merge-patch+json",
      ...(resource.definition.custom ? [] : ["application/strategic-merge-patch+json"]),
    ],
    parameters: [
      ...writeParameters,
      queryParameter("force", "boolean", "Apply only: take fields over from other managers."),
    ],
  });
}

function pathParameters(
  resource: ServedResource,
  options: { readonly named: boolean },
): readonly OpenApiNode[] {
  const parameter = (name: string) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", uniqueItems: true },
  });
  return [
    ...(options.named ? [parameter("name")] : []),
    ...(resource.definition.namespaced ? [parameter("namespace")] : []),
    queryParameter("pretty", "string", "Ignored."),
  ];
}

function queryParameter(name: string, type: string, description: string): OpenApiNode {
  return { name, in: "query", description, schema: { type, uniqueItems: true } };
}

const writeParameters: readonly OpenApiNode[] = [
  queryParameter("dryRun", "string", "`All` does everything but write."),
  queryParameter("fieldManager", "string", "Who makes the change."),
  queryParameter(
    "fieldValidation",
    "string",
    "What becomes of unknown and duplicate fields: Ignore, Warn or Strict.",
  ),
];

const deleteParameters: readonly OpenApiNode[] = [
  queryParameter("dryRun", "string", "`All` does everything but write."),
  queryParameter("gracePeriodSeconds", "integer", "How long the object may take to end."),
  queryParameter(
    "propagationPolicy",
    "string",
    "What becomes of dependents: Background, Foreground or Orphan.",
  ),
];

const listParameters: readonly OpenApiNode[] = [
  queryParameter("allowWatchBookmarks", "boolean", "Whether a watch sends bookmarks."),
  queryParameter("continue", "string", "Token of the page before."),
  queryParameter("fieldSelector", "string", "Which objects, by fields."),
  queryParameter("labelSelector", "string", "Which objects, by labels."),
  queryParameter("limit", "integer", "Most objects of one page."),
  queryParameter("resourceVersion", "string", "Which state to show."),
  queryParameter("resourceVersionMatch", "string", "How the version is meant: Exact or NotOlderThan."),
  queryParameter("sendInitialEvents", "boolean", "Whether a watch begins with the state."),
  queryParameter("timeoutSeconds", "integer", "How long a watch lasts."),
  queryParameter("watch", "boolean", "Follow the changes instead of showing the state."),
];

function camel(text: string): string {
  return text
    .split(/[.-]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}
