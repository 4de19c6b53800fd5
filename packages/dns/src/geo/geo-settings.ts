import { networkFromText, type GeoNetwork } from "./geo-network.ts";
import type { GeoSourceOptions, WatchedFile } from "./geo-source.ts";

/** Geography as a configuration file has it. */
export interface GeoSettings {
  /** Path of a MaxMind DB. */
  readonly database?: string;
  /** What of its records is compared, dotted paths in order. Default `datacenter`. */
  readonly fields?: readonly string[];
  /** Path of a map of networks, countries and continents. */
  readonly map?: string;
  /** Networks of resolvers whose client subnets are used. Absent: all. */
  readonly resolvers?: readonly string[];
  /** How often the files are looked at. Default 10. */
  readonly pollSeconds?: number;
}

/** What a source is opened with, or everything that is wrong with the settings. */
export type ReadGeoSettings =
  | { readonly options: Omit<GeoSourceOptions, "onState" | "onProblems">; readonly problems?: undefined }
  | { readonly options?: undefined; readonly problems: readonly string[] };

/** Reads settings whose types were checked before. `open` gives the files that they name. */
export function readGeoSettings(settings: GeoSettings, open: (path: string) => WatchedFile): ReadGeoSettings {
  const problems: string[] = [];
  const { database, map, fields = ["datacenter"], resolvers, pollSeconds } = settings;
  for (const field of fields)
    if (!/^[^.\s]+(\.[^.\s]+)*$/.test(field))
      problems.push(`geo.fields: ${JSON.stringify(field)} is no dotted path; write it like country.iso_code`);
  const trusted: GeoNetwork[] = [];
  for (const text of resolvers ?? []) {
    const network = networkFromText(text);
    if (typeof network === "string") problems.push(`geo.resolvers: ${network}`);
    else trusted.push(network);
  }
  if (pollSeconds !== undefined && !(pollSeconds > 0))
    problems.push(`geo.pollSeconds is ${pollSeconds}; it must be more than 0`);
  if (problems.length > 0) return { problems };
  return {
    options: {
      fields,
      ...(database === undefined ? {} : { database: open(database) }),
      ...(map === undefined ? {} : { map: open(map) }),
      ...(resolvers === undefined ? {} : { trusted }),
      ...(pollSeconds === undefined ? {} : { pollMs: pollSeconds * 1000 }),
    },
  };
}
