import path from "node:path";
import { writeBenchZone } from "./bench-zone.ts";
import type { CorePlacement } from "./core-placement.ts";
import { writeQueryFile } from "./query-file.ts";
import type { QueryMix } from "./query-file.ts";
import { RunningServer } from "./running-server.ts";
import type { StartOptions } from "./running-server.ts";
import type { Sample } from "../report/sample.ts";
import type { SectionName } from "./section-names.ts";
import type { SampleJournal } from "../report/sample-journal.ts";
import type { ServerDriver } from "./server-driver.ts";

export interface BenchSettings {
  /** Numbers of hosts. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Of one load. */
  readonly seconds: number;
  /** Of the load before the first round, which fills caches and lets compilers work. */
  readonly warmSeconds: number;
  readonly startWithinMs: number;
  /** Lines of a query file. */
  readonly queries: number;
}

/** What all sections share: the settings, where samples go, the files made once, and what went wrong. */
export class BenchRun {
  readonly settings: BenchSettings;
  readonly placement: CorePlacement;
  readonly journal: SampleJournal;
  /** Writes the result as far as it is known. */
  readonly save: (section: SectionName) => Promise<void>;
  /** A folder for this run alone. */
  readonly folder: string;
  readonly drivers: readonly ServerDriver[];
  /** Servers that were skipped, wrong answers, lost datagrams: all of it belongs into the result. */
  readonly remarks: string[] = [];
  /** Those of the remarks that make a run useless as a proof. */
  readonly failures: string[] = [];
  /** Servers that did not come up with a zone of a size: not tried again, as each try may take minutes. */
  readonly #broken = new Set<string>();
  readonly #files = new Map<string, Promise<string>>();

  constructor(given: Pick<BenchRun, "settings" | "placement" | "journal" | "save" | "folder" | "drivers">) {
    this.settings = given.settings;
    this.placement = given.placement;
    this.journal = given.journal;
    this.save = given.save;
    this.folder = given.folder;
    this.drivers = given.drivers;
  }

  /** The size that sections with one size use. */
  get mainSize(): number {
    return this.settings.sizes.includes(10_000) ? 10_000 : this.settings.sizes.at(-1)!;
  }

  remark(text: string): void {
    console.error(`! ${text}`);
    this.remarks.push(text);
  }

  fail(text: string): void {
    this.remark(text);
    this.failures.push(text);
  }

  /** Keeps a sample, so that an aborted run loses nothing that was measured. */
  async record(sample: Sample<SectionName>): Promise<void> {
    await this.journal.add(sample);
    await this.save(sample.section);
  }

  zoneFile(hosts: number): Promise<string> {
    return this.#made(`zone-${hosts}`, (file) => writeBenchZone(file, hosts));
  }

  queryFile(mix: QueryMix, hosts: number): Promise<string> {
    const { queries } = this.settings;
    return this.#made(`queries-${mix}-${hosts}`, (file) =>
      writeQueryFile(file, { mix, hosts, queries, seed: hosts }),
    );
  }

  /** Starts a server; `undefined`, with the failure noted, where it does not come up. */
  async start(
    driver: ServerDriver,
    options: { readonly hosts: number } & Partial<Omit<StartOptions, "zoneFile">>,
  ): Promise<RunningServer | undefined> {
    const zoneFile = await this.zoneFile(options.hosts);
    const attempt = `${driver.name} ${options.hosts}`;
    if (this.#broken.has(attempt)) return undefined;
    try {
      return await RunningServer.start(driver, {
        folder: path.join(this.folder, `servers-${options.workers ?? 1}`),
        placement: this.placement,
        cores: "0",
        workers: 1,
        cookies: false,
        updates: false,
        startWithinMs: this.settings.startWithinMs,
        ...options,
        zoneFile,
      });
    } catch (error) {
      this.#broken.add(attempt);
      this.fail(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #made(name: string, write: (file: string) => Promise<void>): Promise<string> {
    const file = path.join(this.folder, name);
    const made = this.#files.get(name) ?? write(file).then(() => file);
    this.#files.set(name, made);
    return made;
  }
}
