import type { Clock } from "@meridian/runtime";
import { dnsErrorText } from "../dns-error.ts";
import { compileGeo } from "./compile-geo.ts";
import { parseGeoMap, type GeoMap } from "./geo-map.ts";
import type { GeoNetwork } from "./geo-network.ts";
import type { GeoState } from "./geo-state.ts";
import { MmdbFile } from "./mmdb-file.ts";

/** A file that may change, come and go at any time. */
export interface WatchedFile {
  readonly path: string;
  /** Another text whenever the content may be another; `undefined` where there is no such file. Rejects where it cannot be known. */
  stamp(): Promise<string | undefined>;
  read(): Promise<Uint8Array>;
}

/** Where a `GeoSource` gets to know where addresses are. */
export interface GeoSourceOptions {
  /** See `GeoInputs.fields`. */
  readonly fields: readonly string[];
  /** A MaxMind DB. */
  readonly database?: WatchedFile;
  /** A `GeoMap` as text. */
  readonly map?: WatchedFile;
  /** See `GeoInputs.trusted`. */
  readonly trusted?: readonly GeoNetwork[];
  /** How often files are looked at. Default 10,000. */
  readonly pollMs?: number;
  /** Called with each new state, whole and ready for `Authority`. */
  readonly onState: (state: GeoState) => void;
  /** Called whenever what is wrong changes; with none when all is well again. Tell a person: log, metric, condition, event. */
  readonly onProblems: (problems: readonly GeoProblem[]) => void;
}

/** What is wrong with a database or a map. Answers go by what was known before, and choose all where nothing was. */
export interface GeoProblem {
  readonly reason: "DatabaseMissing" | "DatabaseUnusable" | "MapMissing" | "MapUnusable";
  /** One line: the file, what is wrong with it and what answers go by meanwhile. */
  readonly message: string;
}

/** What a source goes by. */
export interface GeoStatus {
  readonly problems: readonly GeoProblem[];
  readonly databaseType: string | undefined;
  /** When the database in use was made, in seconds since the epoch: its age belongs on a dashboard. */
  readonly databaseBuildEpochSeconds: number | undefined;
  /** Networks and places of the map in use. */
  readonly mapEntries: number;
}

/**
 * Keeps a `GeoState` up to date with files: reads them again when they change, swaps whole states, and keeps what was good
 * last where a file is missing, damaged or half written. The octets of the database stay in memory, since a change of the map
 * needs them again.
 */
export class GeoSource {
  readonly #clock: Pick<Clock, "sleep">;
  readonly #options: GeoSourceOptions;
  readonly #databaseFile: ChangingFile | undefined;
  readonly #mapFile: ChangingFile | undefined;
  #database: MmdbFile | undefined;
  #map: GeoMap | undefined;
  #unusableDatabase: string | undefined;
  #unusableMap: string | undefined;
  #isCompiled = false;
  #rest = new AbortController();
  #told = "[]";

  constructor(runtime: { readonly clock: Pick<Clock, "sleep"> }, options: GeoSourceOptions) {
    this.#clock = runtime.clock;
    this.#options = options;
    this.#databaseFile = options.database && new ChangingFile(options.database);
    this.#mapFile = options.map && new ChangingFile(options.map);
  }

  get status(): GeoStatus {
    const map = this.#map;
    return {
      problems: this.#problems(),
      databaseType: this.#database?.databaseType,
      databaseBuildEpochSeconds: this.#database?.buildEpochSeconds,
      mapEntries: map === undefined ? 0 : map.networks.length + map.countries.size + map.continents.size,
    };
  }

  /** Follows the files until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#rest = new AbortController();
      const resting = AbortSignal.any([signal, this.#rest.signal]);
      await this.refresh();
      await this.#clock.sleep(this.#options.pollMs ?? 10_000, resting).catch(() => {});
    }
  }

  /** Has `run` look at the files at once, or again where it is looking now. */
  wake(): void {
    this.#rest.abort();
  }

  /** Looks at the files now. Rejects only with what a callback throws. */
  async refresh(): Promise<void> {
    const mapOctets = await this.#mapFile?.changed();
    const databaseOctets = await this.#databaseFile?.changed();
    const hasNewMap = mapOctets !== undefined && this.#takeMap(mapOctets);
    const hasNewDatabase = databaseOctets !== undefined && (await this.#takeDatabase(databaseOctets));
    // Whom to believe counts from the start, whatever becomes of the files.
    const isDue = hasNewMap || (!this.#isCompiled && this.#options.trusted !== undefined);
    if (isDue && !hasNewDatabase) await this.#compile(this.#database);
    const problems = this.#problems();
    const told = JSON.stringify(problems);
    if (told !== this.#told) this.#options.onProblems(problems);
    this.#told = told;
  }

  #takeMap(octets: Uint8Array): boolean {
    const { map, problems = [] } = parseGeoMap(new TextDecoder().decode(octets));
    const lines = problems
      .slice(0, 5)
      .map(({ line, message }) => (line === 0 ? message : `line ${line}: ${message}`));
    this.#unusableMap = map === undefined ? lines.join("; ") : undefined;
    if (map !== undefined) this.#map = map;
    return map !== undefined;
  }

  async #takeDatabase(octets: Uint8Array): Promise<boolean> {
    try {
      await this.#compile(new MmdbFile(octets));
      this.#unusableDatabase = undefined;
      return true;
    } catch (error) {
      this.#unusableDatabase = dnsErrorText(error);
      return false;
    }
  }

  /** @throws DnsError `BadGeoData`; then the database in use stays */
  async #compile(database: MmdbFile | undefined): Promise<void> {
    const { fields, trusted, onState } = this.#options;
    const state = await compileGeo({ fields, database, map: this.#map, trusted }, () => this.#clock.sleep(0));
    this.#database = database;
    this.#isCompiled = true;
    onState(state);
  }

  #problems(): readonly GeoProblem[] {
    const meanwhile = (hasValue: boolean): string =>
      hasValue ? "the last good one stays in use" : "answers hold all targets until it can be read";
    const problems: GeoProblem[] = [];
    const add = (file: ChangingFile | undefined, of: FileState): void => {
      if (file?.isMissing === true)
        problems.push({
          reason: of.missing,
          message: `${of.what} ${file.path} ${file.trouble}; ${meanwhile(of.hasValue)}`,
        });
      else if (file !== undefined && of.trouble !== undefined)
        problems.push({
          reason: of.unusable,
          message: `${of.what} ${file.path} cannot be used: ${of.trouble}; ${meanwhile(of.hasValue)}`,
        });
    };
    add(this.#databaseFile, {
      what: "the geo database",
      missing: "DatabaseMissing",
      unusable: "DatabaseUnusable",
      trouble: this.#unusableDatabase,
      hasValue: this.#database !== undefined,
    });
    add(this.#mapFile, {
      what: "the geo map",
      missing: "MapMissing",
      unusable: "MapUnusable",
      trouble: this.#unusableMap,
      hasValue: this.#map !== undefined,
    });
    return problems;
  }
}

interface FileState {
  readonly what: string;
  readonly missing: GeoProblem["reason"];
  readonly unusable: GeoProblem["reason"];
  readonly trouble: string | undefined;
  readonly hasValue: boolean;
}

/** Reads a file whenever it has changed and nobody is writing it. */
class ChangingFile {
  isMissing = false;
  /** Why it is missing; reads on after the path. */
  trouble = "";
  readonly #file: WatchedFile;
  #read: string | undefined;

  constructor(file: WatchedFile) {
    this.#file = file;
  }

  get path(): string {
    return this.#file.path;
  }

  /** The content, where it is another than at the last call. */
  async changed(): Promise<Uint8Array | undefined> {
    try {
      const before = await this.#file.stamp();
      this.isMissing = before === undefined;
      this.trouble = "is not there";
      if (before === undefined || before === this.#read) return undefined;
      const octets = await this.#file.read();
      // One that changed meanwhile may be half of each; the next round sees more.
      if ((await this.#file.stamp()) !== before) return undefined;
      this.#read = before;
      return octets;
    } catch (error) {
      this.isMissing = true;
      this.trouble = `cannot be read (${error instanceof Error ? error.message : String(error)})`;
      return undefined;
    }
  }
}
