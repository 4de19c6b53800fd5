import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { BenchUsageError } from "../bench-usage-error.ts";
import type { Sample } from "./sample.ts";

/** Samples of this run, one JSON line each, so that an aborted run is gone on with by `--resume`. */
export class SampleJournal {
  readonly #file: string;
  readonly #samples: Sample[];

  private constructor(file: string, samples: Sample[]) {
    this.#file = file;
    this.#samples = samples;
  }

  /**
   * Opens the journal. Its first line is `settings`; samples of other settings are never mixed in.
   *
   * @throws BenchUsageError where `resume` is asked for and the journal is of other settings
   */
  static async open(
    file: string,
    options: { readonly settings: string; readonly resume: boolean },
  ): Promise<SampleJournal> {
    await mkdir(path.dirname(file), { recursive: true });
    const text = options.resume ? await readFile(file, "utf8").catch(() => "") : "";
    const [first, ...lines] = text.split("\n").filter((line) => line !== "");
    if (first === undefined) {
      await writeFile(file, `${options.settings}\n`);
      return new SampleJournal(file, []);
    }
    if (first !== options.settings) {
      throw new BenchUsageError(
        `cannot resume: ${file} was measured with ${first}, asked is ${options.settings}; leave out --resume to start anew`,
      );
    }
    return new SampleJournal(
      file,
      lines.map((line) => JSON.parse(line) as Sample),
    );
  }

  get samples(): readonly Sample[] {
    return this.#samples;
  }

  has(sample: Omit<Sample, "values">): boolean {
    return this.#samples.some(
      (other) =>
        other.section === sample.section &&
        other.case === sample.case &&
        other.server === sample.server &&
        other.round === sample.round,
    );
  }

  async add(sample: Sample): Promise<void> {
    this.#samples.push(sample);
    await appendFile(this.#file, `${JSON.stringify(sample)}\n`);
  }
}
