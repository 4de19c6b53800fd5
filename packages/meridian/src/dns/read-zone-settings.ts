import type { UpdateRule } from "@meridian/dns";
import { readChoice } from "./read-choice.ts";
import type { ConfigValue } from "./config-text.ts";
import type {
  FileZoneSettings,
  GrantSettings,
  KeyReference,
  SecondaryZoneSettings,
  ServerSettings,
  SigningSettings,
  ZoneSettings,
} from "./dns-settings.ts";

const keysOfAll = ["origin", "transfers", "notify"] as const;
const keysOfFileZones = ["file", "choices", "updates", "journal", "signing"] as const;
const keysOfSecondaries = ["primaries", "copyFolder"] as const;
type Fields = ReadonlyMap<string, ConfigValue>;

/** The zones of a configuration file. */
export function readZones(value: ConfigValue): readonly ZoneSettings[] {
  const items = value.items();
  if (items.length === 0) value.problem("is empty; list at least one zone");
  return items.flatMap((item) => readZone(item) ?? []);
}

function readZone(value: ConfigValue): ZoneSettings | undefined {
  const fields = value.fields([...keysOfAll, ...keysOfFileZones, ...keysOfSecondaries]);
  if (fields.has("file") === fields.has("primaries"))
    return value.problem(
      "needs either file, for a zone that is kept here, or primaries, for a copy of theirs",
    );
  const foreign = fields.has("file") ? keysOfSecondaries : keysOfFileZones;
  for (const key of foreign)
    fields.get(key)?.problem(`is only for zones with ${fields.has("file") ? "primaries" : "a file"}`);
  const common = {
    at: value.at,
    transfers: readList(fields.get("transfers"), readGrant),
    notify: readList(fields.get("notify"), readServer),
  };
  const origin = fields.get("origin")?.text();
  const file = fields.get("file");
  if (file === undefined) {
    const secondary = readSecondary(value, fields);
    return secondary && { ...common, ...secondary };
  }
  const named = file.file();
  if (named === undefined) return undefined;
  const updates = readUpdates(fields);
  const signing = fields.get("signing");
  const signed = signing && readSigning(signing);
  return {
    ...common,
    kind: "file",
    file: named,
    choices: readList(fields.get("choices"), readChoice),
    ...(origin === undefined ? {} : { origin }),
    ...(updates === undefined ? {} : { updates }),
    ...(signed === undefined ? {} : { signing: signed }),
  };
}

function readSecondary(
  value: ConfigValue,
  fields: Fields,
): Pick<SecondaryZoneSettings, "kind" | "origin" | "primaries" | "copyFolder"> | undefined {
  const origin = fields.get("origin")?.text();
  const primaries = fields.get("primaries")?.items() ?? [];
  if (!fields.has("origin")) value.problem("has primaries and no origin; name the zone");
  if (primaries.length === 0) fields.get("primaries")?.problem("is empty; list at least one server");
  const copyFolder = fields.get("copyFolder")?.file()?.path;
  if (origin === undefined) return undefined;
  return {
    kind: "secondary",
    origin,
    primaries: primaries.flatMap((item) => readPrimary(item) ?? []),
    ...(copyFolder === undefined ? {} : { copyFolder }),
  };
}

/** Rules and the journal that keeps what they allowed: one without the other is a mistake. */
function readUpdates(fields: Fields): FileZoneSettings["updates"] {
  const updates = fields.get("updates");
  const journal = fields.get("journal");
  if (updates !== undefined && journal === undefined)
    return updates.problem("needs journal beside it: the path of a file that keeps the updates");
  if (updates === undefined || journal === undefined)
    return journal?.problem("is for zones with updates; list who may change what under updates");
  const named = journal.file();
  return named && { journal: named, rules: readList(updates, readRule) };
}

function readRule(
  value: ConfigValue,
): (Omit<UpdateRule, "key"> & { readonly key: KeyReference }) | undefined {
  const fields = value.fields(["key", "match", "name", "types"]);
  const key = readKeyReference(fields.get("key"));
  const match = fields.has("match")
    ? fields.get("match")?.oneOf(["self", "exact", "subdomain"])
    : "subdomain";
  if (!fields.has("key")) return value.problem("needs key: the name of the key that may change something");
  if (match === "exact" && !fields.has("name"))
    return value.problem("matches exactly one name and has none; set name");
  const name = fields.get("name")?.text();
  const types = fields.get("types")?.texts();
  if (key === undefined || match === undefined) return undefined;
  return { key, match, ...(name === undefined ? {} : { name }), ...(types === undefined ? {} : { types }) };
}

function readSigning(value: ConfigValue): SigningSettings | undefined {
  const fields = value.fields(["keys", "foreignKeys", "keyTtl", "lifetimeSeconds", "ownKeysLabel"]);
  const folder = fields.get("keys");
  if (folder === undefined) return value.problem("needs keys: a folder of key files");
  const keys = folder.file();
  const keyTtl = fields.get("keyTtl")?.number({ min: 0, max: 604_800 });
  const lifetimeSeconds = fields.get("lifetimeSeconds")?.number({ min: 3_600, max: 31_536_000 });
  const ownKeysLabel = fields.get("ownKeysLabel")?.text();
  if (keys === undefined) return undefined;
  return {
    keys,
    foreignKeys: readList(fields.get("foreignKeys"), (item) => item.file()),
    ...(keyTtl === undefined ? {} : { keyTtl }),
    ...(lifetimeSeconds === undefined ? {} : { lifetimeSeconds }),
    ...(ownKeysLabel === undefined ? {} : { ownKeysLabel }),
  };
}

function readGrant(value: ConfigValue): GrantSettings | undefined {
  const fields = value.fields(["key", "clients"]);
  if (fields.size === 0)
    return value.problem("names nobody; set key, clients (a network), or both: then both must hold");
  const key = readKeyReference(fields.get("key"));
  const clients = fields.get("clients")?.network();
  return { ...(key === undefined ? {} : { key }), ...(clients === undefined ? {} : { clients }) };
}

function readServer(value: ConfigValue): ServerSettings | undefined {
  const fields = value.fields(["server", "key"]);
  return readServerFields(value, fields);
}

function readPrimary(value: ConfigValue): SecondaryZoneSettings["primaries"][number] | undefined {
  const fields = value.fields(["server", "key", "tls"]);
  const server = readServerFields(value, fields);
  const tls = fields.get("tls");
  if (server === undefined || tls === undefined) return server;
  const tlsFields = tls.fields(["serverName", "ca"]);
  const serverName = tlsFields.get("serverName")?.text();
  const caName = tlsFields.get("ca");
  const ca = caName?.file();
  return {
    ...server,
    tls: { ...(serverName === undefined ? {} : { serverName }), ...(ca === undefined ? {} : { ca }) },
  };
}

function readServerFields(value: ConfigValue, fields: Fields): ServerSettings | undefined {
  const endpoint = fields.get("server")?.endpoint();
  if (!fields.has("server")) return value.problem("needs server: an address and a port");
  const key = readKeyReference(fields.get("key"));
  return endpoint && { ...endpoint, ...(key === undefined ? {} : { key }) };
}

function readKeyReference(value: ConfigValue | undefined): KeyReference | undefined {
  const name = value?.text();
  return value === undefined || name === undefined ? undefined : { name, at: value.at };
}

function readList<T>(
  value: ConfigValue | undefined,
  reader: (item: ConfigValue) => T | undefined,
): readonly T[] {
  return value === undefined ? [] : value.items().flatMap((item) => reader(item) ?? []);
}
