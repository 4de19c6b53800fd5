import { settingDefinitions, settingKey, type SettingDefinition } from "@meridian/gslb";
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Pair } from "yaml";

/** Where settings may be given, the first before the others. */
export interface GivenSettings {
  /** By flag, without `--`. */
  readonly flags: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly path: string; readonly text: string };
}

/** Settings of all sources under the names of environment variables. */
export interface ReadSettings {
  readonly values: Readonly<Record<string, string>>;
  /** By variable, where a value was given that is not from the environment: `--ns-record-ttl`, `settings.yaml:3 nsRecordTtl`. */
  readonly origins: ReadonlyMap<string, string>;
  /** What is wrong with the file. */
  readonly problems: readonly string[];
  /** The file is no YAML, so nobody knows what it was meant to set. */
  readonly isUnreadable: boolean;
}

/** Puts flags before the environment, and that before the file. An empty variable counts as none, but that of a prefix. */
export function readSettings({ flags, environment, file }: GivenSettings): ReadSettings {
  const values: Record<string, string> = {};
  const origins = new Map<string, string>();
  const problems: string[] = [];
  const inFile = file === undefined ? [] : fileSettings(file, problems);
  for (const { definition, value, origin } of inFile ?? []) {
    values[definition.variable] = value;
    origins.set(definition.variable, origin);
  }
  for (const definition of settingDefinitions) {
    const { variable, flag } = definition;
    const fromEnvironment = environment[variable];
    if (fromEnvironment !== undefined && (fromEnvironment !== "" || variable === "GLUEA_PREFIX")) {
      values[variable] = fromEnvironment;
      origins.delete(variable);
    }
    const fromFlag = flags.get(flag);
    if (fromFlag === undefined) continue;
    values[variable] = fromFlag;
    origins.set(variable, `--${flag}`);
  }
  return { values, origins, problems, isUnreadable: inFile === undefined };
}

interface FileSetting {
  readonly definition: SettingDefinition;
  readonly value: string;
  readonly origin: string;
}

/** k8gb's chart spells some keys otherwise, as `edgeDNSServers`; so case does not count. */
const byKey: ReadonlyMap<string, SettingDefinition> = new Map(
  settingDefinitions.map((definition) => [settingKey(definition).toLowerCase(), definition]),
);

/** `undefined` where the file is no YAML. */
function fileSettings(
  { path, text }: { readonly path: string; readonly text: string },
  problems: string[],
): readonly FileSetting[] | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number | undefined): string => `${path}:${lines.linePos(offset ?? 0).line}`;
  for (const { message, pos } of document.errors) problems.push(`${at(pos[0])}: ${message}`);
  if (document.errors.length > 0) return undefined;
  if (isEmpty(document)) return [];
  if (!isMap(document.contents)) {
    problems.push(`${at(0)}: must hold settings as "key: value", for example clusterGeoTag: eu`);
    return [];
  }
  return document.contents.items.flatMap((pair) => {
    const key = String(isScalar(pair.key) ? pair.key.value : pair.key);
    const origin = `${at(isScalar(pair.key) ? pair.key.range?.[0] : undefined)} ${key}`;
    const definition = byKey.get(key.toLowerCase());
    if (definition === undefined) {
      problems.push(`${origin}: there is no such setting; see meridian operator --help`);
      return [];
    }
    const value = valueText(definition, pair);
    if (typeof value === "string") return [{ definition, value, origin }];
    problems.push(`${origin}: must be ${value.must}`);
    return [];
  });
}

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

/** Lists are joined as the variable has them. */
function valueText(definition: SettingDefinition, { value }: Pair): string | { readonly must: string } {
  if (isScalar(value)) return scalarText(value.value);
  const isZones = definition.variable === "DNS_ZONES";
  if (!isSeq(value)) return { must: "one value or a list" };
  const items = value.items.map((item) => {
    if (isScalar(item)) return scalarText(item.value);
    if (!isZones || !isMap(item)) return undefined;
    const part = (name: string): string => scalarText(item.get(name));
    return [part("parentZone"), part("loadBalancedZone"), part("dnsZoneNegTTL")].join(":");
  });
  if (items.includes(undefined))
    return {
      must: isZones ? "a list of parentZone, loadBalancedZone and dnsZoneNegTTL" : "a list of values",
    };
  return items.join(isZones ? ";" : ",");
}

function scalarText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : "";
}
