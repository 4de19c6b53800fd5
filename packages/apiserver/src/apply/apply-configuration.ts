import {
  applyConflict,
  deepEqual,
  isJsonObject,
  type StatusCause,
  type StructuralSchema,
} from "@meridian/kube";
import { decodeTrustedJson, encodeJson } from "../json/json-text.ts";
import { type ApiObject, asJson, asObject, type ServedResource } from "../resource/definition.ts";
import { compareFields, fieldsOf, mergeFields, removeFields } from "./field-ownership.ts";
import { FieldSet } from "./field-set.ts";
import { type ManagerEntry, parseManagedFields, sameManager } from "./managed-fields.ts";
import { withEntries } from "./record-update.ts";
import { checkDistinct, pathText, withObjectMeta } from "./typed-value.ts";

/** What one server-side apply asks for. */
export interface Application {
  /** What the manager wants, and nothing else. */
  readonly configuration: ApiObject;
  readonly manager: string;
  /** Take fields over from other managers. */
  readonly force: boolean;
  /** RFC 3339, whole seconds. */
  readonly time: string;
  readonly subresource: string;
}

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
/** Owns what was there before anybody kept track. */
const untrackedManager = "before-first-apply";

/**
 * Lays a configuration over the live object (KEP-555): what it names is set and owned; what this manager named last
 * time and nobody else owns is removed. Pure.
 *
 * @throws StatusError 400, 409 naming each field that another manager has set otherwise.
 */
export function applyConfiguration(
  resource: ServedResource,
  live: ApiObject,
  application: Application,
): ApiObject {
  const schema = withObjectMeta(resource.version.schema.schema);
  const configuration = writablePart(resource, application.configuration, application.subresource);
  checkDistinct(asJson(configuration), schema, "");
  const entries = trackedEntries(live, { ...application, schema });
  const own: Omit<ManagerEntry, "time" | "fields"> = {
    manager: application.manager,
    operation: "Apply",
    apiVersion: live.apiVersion,
    subresource: application.subresource,
  };
  const ownBefore = entries.find((entry) => sameManager(entry, own));
  const others = entries.filter((entry) => entry !== ownBefore);
  const fields = fieldsOf(configuration, schema);

  const merged = asObject(mergeFields(asJson(live), asJson(withoutServerFields(configuration)), schema));
  const contested = compareFields(live, merged, schema).set;
  const tolerated = application.manager === "kubectl" ? lastAppliedFields(live, schema) : FieldSet.empty;
  const conflicts = others.flatMap((entry) => {
    const overlap = entry.fields.intersection(contested).difference(tolerated);
    return overlap.isEmpty ? [] : [{ entry, fields: overlap }];
  });
  if (conflicts.length > 0 && !application.force) throw conflictError(conflicts);

  const kept = others.reduce((set, entry) => set.union(entry.fields.difference(contested)), fields);
  const gone = (ownBefore?.fields ?? FieldSet.empty).difference(kept);
  const owned = asObject(removeFields(asJson(merged), schema, { gone, kept }));
  const result = withLastApplied(owned, live, application);
  const unchanged = ownBefore !== undefined && fields.equals(ownBefore.fields) && deepEqual(result, live);
  return withEntries({ ...result, metadata: { ...result.metadata } }, [
    ...others.map((entry) => ({ ...entry, fields: entry.fields.difference(contested).difference(gone) })),
    { ...own, fields, time: unchanged ? ownBefore.time : application.time },
  ]);
}

/** What the path lets a configuration set: the status, or everything else. */
function writablePart(resource: ServedResource, configuration: ApiObject, subresource: string): ApiObject {
  const { status, ...rest } = configuration;
  if (subresource === "status") {
    const { apiVersion, kind, metadata } = configuration;
    return { apiVersion, kind, metadata, ...(status !== undefined && { status }) };
  }
  return resource.version.hasStatus ? asObject(rest) : configuration;
}

/** The managers of the live object; an object that nobody kept track of belongs to an unknown one. */
function trackedEntries(
  live: ApiObject,
  application: Application & { readonly schema: StructuralSchema },
): readonly ManagerEntry[] {
  const entries = parseManagedFields(live.metadata.managedFields) ?? [];
  if (entries.length > 0 || live.metadata.uid === undefined) return entries;
  return [
    {
      manager: untrackedManager,
      operation: "Update",
      apiVersion: live.apiVersion,
      subresource: "",
      time: application.time,
      fields: fieldsOf(live, application.schema),
    },
  ];
}

/** kubectl's own annotation goes on being kept up, owned by nobody, so that client-side apply works afterwards. */
function withLastApplied(
  result: ApiObject,
  live: ApiObject,
  { configuration, manager }: Application,
): ApiObject {
  if (manager !== "kubectl" || live.metadata.annotations?.[lastAppliedAnnotation] === undefined)
    return result;
  const { annotations = {}, ...metadata } = result.metadata;
  const applied = { ...annotations, [lastAppliedAnnotation]: `${encodeJson(configuration)}\n` };
  return { ...result, metadata: { ...metadata, annotations: applied } };
}

/** What client-side apply set last, as far as it still stands: where somebody set another value since, it is theirs. */
function lastAppliedFields(live: ApiObject, schema: StructuralSchema): FieldSet {
  const text = live.metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return FieldSet.empty;
  try {
    const value = decodeTrustedJson(text);
    if (!isJsonObject(value)) return FieldSet.empty;
    const lastApplied = asObject({ metadata: {}, ...value });
    const { removed, set } = compareFields(lastApplied, live, schema);
    return fieldsOf(lastApplied, schema).difference(set).difference(removed);
  } catch {
    return FieldSet.empty;
  }
}

function withoutServerFields(configuration: ApiObject): ApiObject {
  const { creationTimestamp: _c, generation: _g, managedFields: _m, ...metadata } = configuration.metadata;
  return { ...configuration, metadata };
}

function conflictError(
  conflicts: readonly { readonly entry: ManagerEntry; readonly fields: FieldSet }[],
): Error {
  const all = conflicts
    .map(({ entry, fields }) => ({ manager: managerText(entry), paths: [...fields.paths()].map(pathText) }))
    .sort((a, b) => (a.manager < b.manager ? -1 : 1));
  const causes: readonly StatusCause[] = all.flatMap(({ manager, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${manager}`, field })),
  );
  const text =
    causes.length === 1
      ? `conflict with ${all[0]?.manager ?? ""}: ${causes[0]?.field ?? ""}`
      : all
          .flatMap(({ manager, paths }) => [
            `conflicts with ${manager}:`,
            ...paths.map((path) => `- ${path}`),
          ])
          .join("\n");
  return applyConflict(
    causes,
    `Apply failed with ${causes.length} ${causes.length === 1 ? "conflict" : "conflicts"}: ${text}`,
  );
}

function managerText({ apiVersion, manager, operation, subresource, time }: ManagerEntry): string {
  const via = subresource === "" ? "" : ` with subresource "${subresource}"`;
  if (operation === "Apply") return `"${manager}"${via}`;
  return `"${manager}"${via} using ${apiVersion}${time === "" ? "" : ` at ${time}`}`;
}
