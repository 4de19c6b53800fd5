import type { Clock, LocalSystem } from "@meridian/runtime";

/** Which files to follow. */
export interface RotatedFilesOptions {
  readonly paths: readonly string[];
  /** What a good content is; others are not taken. Default: no file is empty. */
  readonly isWhole?: (texts: readonly string[]) => boolean;
}

/** A projected token lives for minutes, and kubelet replaces it at 80 % of that: one look a minute is soon enough. */
const rereadMs = 60_000;
/** Pause before the next look after one that failed. */
const retryMs = 1000;
/** A new content counts when it is the same this much later: a writer that is at it, or between two files, has gone on. */
const settleMs = 20;
const looksMax = 10;

/**
 * Files that somebody replaces from time to time and that belong together: a token, or a certificate and its key.
 *
 * They are read again a minute after the last look, by one request; the others go on with what is known. What cannot be
 * read, is empty, or still changes is never taken: the last good content stays.
 */
export class RotatedFiles {
  readonly #clock: Pick<Clock, "monotonicMs" | "sleep">;
  readonly #system: Pick<LocalSystem, "readFile">;
  readonly #paths: readonly string[];
  readonly #isWhole: (texts: readonly string[]) => boolean;
  #texts: readonly string[] | undefined;
  #nextLookMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<readonly string[]> | undefined;

  constructor(
    clock: Pick<Clock, "monotonicMs" | "sleep">,
    system: Pick<LocalSystem, "readFile">,
    options: RotatedFilesOptions,
  ) {
    this.#clock = clock;
    this.#system = system;
    this.#paths = options.paths;
    this.#isWhole = options.isWhole ?? ((texts) => texts.every((text) => text.trim() !== ""));
  }

  /** The texts in the order of the paths. The same array as long as nothing changes. */
  current(): Promise<readonly string[]> {
    const due = this.#clock.monotonicMs() >= this.#nextLookMs;
    if (this.#texts !== undefined && (!due || this.#looking !== undefined)) {
      return Promise.resolve(this.#texts);
    }
    return this.look();
  }

  /** What is known failed: the next request reads the files again, at most once a second. */
  expire(): void {
    this.#nextLookMs = Math.min(this.#nextLookMs, this.#lookedAtMs + retryMs);
  }

  /** Reads the files now, whenever they were read last. */
  look(): Promise<readonly string[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<readonly string[]> {
    this.#lookedAtMs = this.#clock.monotonicMs();
    try {
      this.#texts = await this.#settled();
      this.#nextLookMs = this.#clock.monotonicMs() + rereadMs;
    } catch (error) {
      if (this.#texts === undefined) throw error;
      this.#nextLookMs = this.#clock.monotonicMs() + retryMs;
    }
    return this.#texts;
  }

  async #settled(): Promise<readonly string[]> {
    let texts = await this.#read();
    // The first time there is nothing to fall back to, and nobody replaces files that have just been made.
    if (this.#texts === undefined && this.#isWhole(texts)) return texts;
    for (let looks = 1; !isSame(texts, this.#texts); looks++) {
      if (looks === looksMax)
        throw new Error(
          `${this.#paths.join(", ")}: empty, half written, not fitting each other, or changing all the time`,
        );
      await this.#clock.sleep(settleMs);
      const again = await this.#read();
      if (isSame(texts, again) && this.#isWhole(again)) return again;
      texts = again;
    }
    return this.#texts ?? texts;
  }

  async #read(): Promise<readonly string[]> {
    const octets = await Promise.all(this.#paths.map((path) => this.#system.readFile(path)));
    return octets.map((content) => new TextDecoder().decode(content));
  }
}

function isSame(one: readonly string[], other: readonly string[] | undefined): boolean {
  return other !== undefined && one.every((text, index) => text === other[index]);
}
