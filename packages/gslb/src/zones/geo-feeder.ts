import { Informer, type CollectionClient } from "@meridian/controller";
import { GeoSource, type Authority, type GeoStatus, type WatchedFile } from "@meridian/dns";
import { configMapType, deepEqual, type ConfigMap } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { GeoConfig } from "../config/geo-config.ts";
import type { GeoKnowledge } from "../decide/geo-knowledge.ts";

/** What geography is fed from, and who is told. */
export interface GeoFeederOptions {
  readonly config: GeoConfig;
  readonly client: CollectionClient;
  /** Where the ConfigMap is. */
  readonly namespace: string;
  readonly authority: Pick<Authority, "setGeo">;
  readonly openFile?: (path: string) => WatchedFile;
  /** `knowledge` is another. */
  readonly onChange: () => void;
}

/** The key of the ConfigMap under which the map stands. */
const mapKey = "geo.yaml";
/** How long the first look waits for the ConfigMap. */
const copyWaitMs = 5000;

/**
 * Tells the DNS server where clients and targets are: from a database, and a map in a file or a ConfigMap. Whatever is
 * missing or broken is told, and costs only what it would have told.
 */
export class GeoFeeder {
  /** Resolves when everything was looked at once. */
  readonly opened: Promise<void>;
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: GeoFeederOptions;
  readonly #source: GeoSource;
  readonly #configMaps: Informer<ConfigMap> | undefined;
  #knowledge: GeoKnowledge | undefined;
  #open = (): void => {};

  constructor(runtime: Pick<Runtime, "clock" | "log" | "random">, options: GeoFeederOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.opened = new Promise((resolve) => (this.#open = resolve));
    const { config, client, namespace, authority } = options;
    if (config.mapPath === undefined)
      this.#configMaps = new Informer<ConfigMap>(runtime, {
        client,
        type: configMapType,
        namespace,
        fieldSelector: `metadata.name=${config.configMapName}`,
      });
    const open = options.openFile ?? unreadableFile;
    this.#source = new GeoSource(runtime, {
      fields: config.fields,
      map: config.mapPath === undefined ? this.#configMapFile() : open(config.mapPath),
      ...(config.databasePath === undefined ? {} : { database: open(config.databasePath) }),
      ...(config.trusted === undefined ? {} : { trusted: config.trusted }),
      onState: (state) => {
        authority.setGeo(state);
        if (this.#knowledge !== undefined) this.#note();
      },
      onProblems: (problems) => {
        for (const { reason, message } of problems)
          runtime.log.error("a geo source is not as it should be", { reason, problem: message });
        if (problems.length === 0) runtime.log.info("all geo sources are as they should be");
        if (this.#knowledge !== undefined) this.#note();
      },
    });
    const wake = (): void => this.#source.wake();
    this.#configMaps?.addHandler({ onAdd: wake, onUpdate: wake, onDelete: wake });
  }

  /** Absent until everything was looked at once. */
  get knowledge(): GeoKnowledge | undefined {
    return this.#knowledge;
  }

  /** For metrics and people. */
  get status(): GeoStatus {
    return this.#source.status;
  }

  /** Follows the sources until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const copying = this.#configMaps?.run(signal);
    // Where the API server forbids or is silent, the other sources count without it.
    const waiting = this.#runtime.clock.sleep(copyWaitMs, signal).catch(() => {});
    await Promise.race([this.#configMaps?.synced, waiting]);
    await this.#source.refresh();
    this.#note();
    this.#open();
    await Promise.all([copying, this.#source.run(signal)]);
  }

  #note(): void {
    const { databaseType, mapEntries, problems } = this.#source.status;
    const [first] = problems;
    const message = problems.map((problem) => problem.message).join("; ");
    const knowledge: GeoKnowledge = {
      isEmpty: databaseType === undefined && mapEntries === 0,
      ...(first === undefined ? {} : { problem: { reason: first.reason, message } }),
    };
    if (deepEqual(knowledge, this.#knowledge)) return;
    this.#knowledge = knowledge;
    this.#options.onChange();
  }

  #configMapFile(): WatchedFile {
    const { namespace, config } = this.#options;
    const stored = (): ConfigMap | undefined =>
      this.#configMaps?.lister.get(`${namespace}/${config.configMapName}`);
    return {
      path: `in ConfigMap ${namespace}/${config.configMapName}`,
      // One that is not there says nothing: nobody need have it.
      stamp: () => Promise.resolve(stored()?.metadata.resourceVersion ?? "absent"),
      read: () => Promise.resolve(new TextEncoder().encode(stored()?.data?.[mapKey] ?? "")),
    };
  }
}

function unreadableFile(path: string): WatchedFile {
  const fail = (): Promise<never> => Promise.reject(new Error("this process reads no files"));
  return { path, stamp: fail, read: fail };
}
