import type { AnswerPolicy, RecordSet } from "@meridian/dns";
import type { ConfigValue } from "./config-text.ts";
import type { FileZoneSettings } from "./dns-settings.ts";

const kinds = ["weighted", "weightedOrder", "geo", "rotate", "fixed"] as const;
const weightMax = 1_000_000;
const ttlDefault = 30;

/** A record set of which each answer is another choice or order: by weight, or by the client's place. */
export function readChoice(value: ConfigValue): FileZoneSettings["choices"][number] | undefined {
  const fields = value.fields(["name", "type", "ttl", "by", "groups", "data"]);
  const name = fields.get("name")?.text();
  const kind = fields.get("by")?.oneOf(kinds);
  if (!fields.has("name")) value.problem("needs name: the whole name");
  if (!fields.has("by")) value.problem(`needs by: one of ${kinds.join(", ")}`);
  const type = fields.has("type") ? fields.get("type")?.text() : "A";
  const ttl = fields.has("ttl") ? fields.get("ttl")?.number({ min: 0, max: 2_147_483_647 }) : ttlDefault;
  if (fields.has("groups") === fields.has("data"))
    return value.problem("needs either data, or groups, each of data and its weight or tag");
  const groups = fields.get("groups")?.items() ?? [];
  const data = fields.get("data")?.texts() ?? [];
  if (name === undefined || kind === undefined || type === undefined || ttl === undefined) return undefined;
  const common = { name, type, ttl };
  const withPolicy = (
    policy: AnswerPolicy,
    all: readonly string[] = data,
  ): { at: string; set: RecordSet } => ({
    at: value.at,
    set: { ...common, data: all, policy },
  });
  if (kind === "weighted" || kind === "weightedOrder") {
    if (!fields.has("groups")) return value.problem(`needs groups, since it answers by ${kind}`);
    const read = groups.map((group) => readGroup(group, "weight"));
    const policy = { kind, groups: read.map(({ weight = 0, data: some }) => ({ weight, data: some })) };
    return withPolicy(policy, allOf(read));
  }
  if (kind === "geo" && fields.has("groups")) {
    const read = groups.map((group) => readGroup(group, "tag"));
    return withPolicy(
      { kind, groups: read.map(({ tag = "", data: some }) => ({ tag, data: some })) },
      allOf(read),
    );
  }
  return fields.has("groups")
    ? value.problem(`has no groups where it answers by ${kind}; set data`)
    : withPolicy({ kind });
}

interface Group {
  readonly weight?: number | undefined;
  readonly tag?: string | undefined;
  readonly data: readonly string[];
}

function readGroup(value: ConfigValue, by: "weight" | "tag"): Group {
  const fields = value.fields([by, "data"]);
  if (!fields.has(by)) value.problem(`needs ${by}`);
  if (!fields.has("data")) value.problem("needs data: a list of records");
  return {
    weight: by === "weight" ? fields.get(by)?.number({ min: 0, max: weightMax }) : undefined,
    tag: by === "tag" ? fields.get(by)?.text() : undefined,
    data: fields.get("data")?.texts() ?? [],
  };
}

/** Every record of all groups, once. */
function allOf(groups: readonly Group[]): readonly string[] {
  return [...new Set(groups.flatMap(({ data }) => data))];
}
