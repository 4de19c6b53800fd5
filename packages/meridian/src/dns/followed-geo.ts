import { isDeepStrictEqual } from "node:util";
import {
  GeoSource,
  readGeoSettings,
  type Authority,
  type GeoProblem,
  type GeoSettings,
  type GeoSourceOptions,
  type GeoStatus,
} from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import { watchedFile } from "../cluster/watched-file.ts";
import { MeridianError } from "../meridian-error.ts";

const nothingKnown: GeoStatus = {
  problems: [],
  databaseType: undefined,
  databaseBuildEpochSeconds: undefined,
  mapEntries: 0,
};

/** Keeps an authority's geography as the files have it that the settings name. */
export class FollowedGeo implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #authority: Pick<Authority, "setGeo">;
  #settings: GeoSettings | undefined;
  #source: GeoSource | undefined;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(runtime: Runtime, authority: Pick<Authority, "setGeo">) {
    this.#runtime = runtime;
    this.#authority = authority;
  }

  get status(): GeoStatus {
    return this.#source?.status ?? nothingKnown;
  }

  /**
   * Goes by these settings from now on; resolves when their files were looked at. Files that are missing or broken are
   * logged, and cost only what they would have told.
   */
  async follow(settings: GeoSettings | undefined): Promise<void> {
    if (this.#source !== undefined && isDeepStrictEqual(settings, this.#settings)) return this.#source.wake();
    await this[Symbol.asyncDispose]();
    this.#settings = settings;
    if (settings === undefined) return;
    const options = optionsOf(settings);
    const { log } = this.#runtime;
    const source = new GeoSource(this.#runtime, {
      ...options,
      onState: (state) => this.#authority.setGeo(state),
      onProblems: (found) => {
        for (const { reason, message } of found)
          log.error("a geo source is not as it should be", { reason, problem: message });
        if (found.length === 0) log.info("all geo sources are as they should be");
      },
    });
    await source.refresh();
    this.#source = source;
    this.#stop = new AbortController();
    this.#running = source.run(this.#stop.signal);
  }

  /** What is wrong with the files that the settings name; nothing goes by them. */
  async check(settings: GeoSettings | undefined): Promise<readonly GeoProblem[]> {
    if (settings === undefined) return [];
    const source = new GeoSource(this.#runtime, {
      ...optionsOf(settings),
      onState: () => {},
      onProblems: () => {},
    });
    await source.refresh();
    return source.status.problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#source = undefined;
  }
}

function optionsOf(settings: GeoSettings): Omit<GeoSourceOptions, "onState" | "onProblems"> {
  const { options, problems } = readGeoSettings(settings, watchedFile);
  if (options === undefined) throw new MeridianError("BadFile", problems.join("\n"));
  return options;
}
