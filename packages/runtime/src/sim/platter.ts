import type { Prng } from "./prng.ts";

/** How a simulated disk behaves. */
export interface DiskConditions {
  /** The time that one operation takes. */
  readonly latencyMs: { readonly min: number; readonly max: number };
  /** The chance that an append which was not synced is on the disk after a crash; the rest is torn or lost. */
  readonly unsyncedSurvival: number;
}

interface StoredFile {
  /** What a crash cannot take. */
  durable: Uint8Array[];
  /** Appends since the last sync, oldest first. */
  unsynced: Uint8Array[];
}

/** An operation that has begun and whose outcome a crash would leave open. */
export interface PendingEffect {
  readonly apply: () => unknown;
}

/** What a disk keeps while its node is down: the files, and what of them is durable. */
export class Platter {
  readonly #random: Prng;
  readonly #files = new Map<string, StoredFile>();
  readonly #pending = new Set<PendingEffect>();
  conditions: DiskConditions;
  #failure: Error | undefined;

  constructor(random: Prng, conditions: DiskConditions) {
    this.#random = random;
    this.conditions = conditions;
  }

  latencyMs(): number {
    return this.#random.between(this.conditions.latencyMs.min, this.conditions.latencyMs.max);
  }

  /** Makes every operation fail with `error` until called with `undefined`. */
  fail(error: Error | undefined): void {
    this.#failure = error;
  }

  checkHealth(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  begin(apply: () => unknown): PendingEffect {
    const pending: PendingEffect = { apply };
    this.#pending.add(pending);
    return pending;
  }

  finish(pending: PendingEffect): void {
    this.#pending.delete(pending);
  }

  read(path: string): Uint8Array | undefined {
    const file = this.#files.get(path);
    return file === undefined ? undefined : concatenate([...file.durable, ...file.unsynced]);
  }

  sizeBytes(path: string): number {
    const file = this.#files.get(path);
    return file === undefined ? 0 : sizeOf(file.durable) + sizeOf(file.unsynced);
  }

  write(path: string, content: Uint8Array): void {
    this.#files.set(path, { durable: [content], unsynced: [] });
  }

  create(path: string): void {
    if (!this.#files.has(path)) this.#files.set(path, { durable: [], unsynced: [] });
  }

  append(path: string, bytes: Uint8Array): void {
    this.#log(path).unsynced.push(bytes);
  }

  sync(path: string): void {
    const file = this.#log(path);
    file.durable.push(...file.unsynced);
    file.unsynced = [];
  }

  truncate(path: string, sizeBytes: number): void {
    const content = this.read(path) ?? new Uint8Array();
    this.#files.set(path, { durable: [content.slice(0, sizeBytes)], unsynced: [] });
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  list(folder: string): readonly string[] {
    const prefix = folder === "" ? "" : `${folder}/`;
    const names = [...this.#files.keys()]
      .filter((path) => path.startsWith(prefix) && !path.slice(prefix.length).includes("/"))
      .map((path) => path.slice(prefix.length));
    return names.sort();
  }

  /** The process is gone: what it had begun happened or not; what reached the operating system stays. */
  loseProcess(): void {
    for (const pending of this.#pending) {
      if (this.#random.chance(0.5)) pending.apply();
    }
    this.#pending.clear();
  }

  /** The power is gone: of the unsynced appends each one survives, is torn or is lost, as the seed has it. */
  losePower(): void {
    this.loseProcess();
    for (const file of this.#files.values()) {
      if (file.unsynced.length === 0) continue;
      file.durable.push(...this.#survivors(file.unsynced));
      file.unsynced = [];
    }
  }

  /** A lost append in front of a surviving one leaves a hole of zeros, as on file systems that write out of order. */
  #survivors(unsynced: readonly Uint8Array[]): Uint8Array[] {
    const fates = unsynced.map((bytes) => {
      if (this.#random.chance(this.conditions.unsyncedSurvival)) return { bytes, keptBytes: bytes.length };
      const torn = this.#random.chance(0.5);
      return { bytes, keptBytes: torn ? this.#random.below(bytes.length) : 0 };
    });
    const lastKept = fates.findLastIndex((fate) => fate.keptBytes > 0);
    return fates.slice(0, lastKept + 1).map(({ bytes, keptBytes }, index) => {
      if (index === lastKept) return bytes.slice(0, keptBytes);
      const withHole = new Uint8Array(bytes.length);
      withHole.set(bytes.subarray(0, keptBytes));
      return withHole;
    });
  }

  #log(path: string): StoredFile {
    const file = this.#files.get(path);
    if (file === undefined) throw new Error(`cannot write to ${path}: it was removed while its log was open`);
    return file;
  }
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(sizeOf(chunks));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
