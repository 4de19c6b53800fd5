import type { Sample } from "../report/sample.ts";
import type { SampleJournal } from "../report/sample-journal.ts";
import type { BenchClient } from "./bench-clients.ts";
import type { BenchServer } from "./bench-server.ts";
import type { ControllerSectionName } from "./section-names.ts";

export interface ControllerSettings {
  /** Numbers of objects; all but the first are only synchronised. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Rounds of sizes above the first, which take long and vary less. */
  readonly largeRounds: number;
  readonly liveSeconds: number;
  readonly updatesPerSecond: number;
  /** How long a half-open connection is waited for. */
  readonly halfOpenMs: number;
  readonly reconcileKeys: number;
}

/** What all sections share. */
export class ControllerRun {
  readonly settings: ControllerSettings;
  readonly journal: SampleJournal;
  readonly clients: readonly BenchClient[];
  readonly servers: readonly BenchServer[];
  readonly #remarks: { readonly text: string; readonly section: ControllerSectionName | undefined }[] = [];
  /** What makes the run useless as a proof. */
  readonly failures: string[] = [];
  /** Writes the result as far as it is known. */
  readonly save: (section: ControllerSectionName) => Promise<void>;

  constructor(given: Pick<ControllerRun, "settings" | "journal" | "clients" | "servers" | "save">) {
    this.settings = given.settings;
    this.journal = given.journal;
    this.clients = given.clients;
    this.servers = given.servers;
    this.save = given.save;
  }

  /** The size that sections with one size use. */
  get mainSize(): number {
    return this.settings.sizes[0] ?? 0;
  }

  /** Those that speak what the server speaks. */
  clientsOf(server: BenchServer): readonly BenchClient[] {
    return this.clients.filter(({ onlyReal }) => !onlyReal || server.name === "kube-apiserver");
  }

  /** What was skipped or went wrong, in this section or before all of them: it belongs into the result. */
  remarksOf(name: ControllerSectionName): readonly string[] {
    return this.#remarks.flatMap(({ text, section }) =>
      section === undefined || section === name ? [text] : [],
    );
  }

  remark(text: string, section?: ControllerSectionName): void {
    console.error(`! ${text}`);
    this.#remarks.push({ text, section });
  }

  /** A remark that makes the run useless as a proof. */
  fail(text: string, section?: ControllerSectionName): void {
    this.remark(text, section);
    this.failures.push(text);
  }

  /** Keeps a sample, so that an aborted run loses nothing that was measured. */
  async record(sample: Sample<ControllerSectionName>): Promise<void> {
    await this.journal.add(sample);
    await this.save(sample.section);
    const values = Object.entries(sample.values).map(
      ([key, value]) => `${key} ${Math.round(value * 10) / 10}`,
    );
    console.error(
      `${sample.section} ${sample.case}, round ${sample.round + 1}: ${sample.server}: ${values.join(", ")}`,
    );
  }
}

/** `20,000 objects of kube-apiserver` */
export function caseText(server: BenchServer, objects: number): string {
  return `${objects.toLocaleString("en-US")} objects of ${server.name}`;
}
