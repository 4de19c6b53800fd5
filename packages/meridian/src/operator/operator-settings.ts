import { parseOperatorConfig, settingDefinitions, settingKey, type OperatorConfig } from "@meridian/gslb";
import { readSettings, type GivenSettings } from "./read-settings.ts";

/** The operator's settings of all sources, or everything that is wrong with them. */
export type OperatorSettings =
  | {
      readonly config: OperatorConfig;
      /** What was given, for a log: by key, with secrets hidden. */
      readonly shown: Readonly<Record<string, string>>;
      readonly problems?: undefined;
    }
  | { readonly config?: undefined; readonly problems: readonly string[] };

/** Reads settings from flags, the environment and a file, and checks them as a whole. */
export function operatorSettings(given: GivenSettings): OperatorSettings {
  const { values, origins, problems, isUnreadable } = readSettings(given);
  // What it does not say would be told as missing.
  if (isUnreadable) return { problems };
  const parsed = parseOperatorConfig(values, origins);
  const all = [...problems, ...(parsed.problems ?? []).map(({ message }) => message)];
  if (parsed.config === undefined || all.length > 0) return { problems: all };
  const shown = settingDefinitions.flatMap((definition) => {
    const value = values[definition.variable];
    return value === undefined
      ? []
      : [[settingKey(definition), definition.isSecret ? "[hidden]" : value] as const];
  });
  return { config: parsed.config, shown: Object.fromEntries(shown) };
}

/** The settings, by key, that are read once at the start: where they differ, a restart is needed. */
export function neededRestarts(before: OperatorConfig, after: OperatorConfig): readonly string[] {
  const rows = [
    ["metricsAddress", before.metricsAddress, after.metricsAddress],
    ["tracing", before.tracing, after.tracing],
    ["log", before.log, after.log],
  ] as const;
  return rows.filter(([, one, other]) => JSON.stringify(one) !== JSON.stringify(other)).map(([name]) => name);
}
