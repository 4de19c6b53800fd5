import type { Disk, DiskLog, DiskLogOptions } from "../disk.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import type { Platter } from "./platter.ts";
import type { World } from "./world.ts";
import { afterIn } from "./world.ts";

/** The disk as one boot sees it. Every operation takes virtual time; those of one file are applied in order. */
export class SimDisk implements Disk {
  readonly #world: World;
  readonly #boot: Boot;
  readonly #platter: Platter;
  readonly #lastByPath = new Map<string, Promise<void>>();

  constructor(world: World, boot: Boot, platter: Platter) {
    this.#world = world;
    this.#boot = boot;
    this.#platter = platter;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#inOrder(path, () => this.#platter.read(path));
  }

  async replace(path: string, content: Uint8Array): Promise<void> {
    const copy = new Uint8Array(content);
    return this.#inOrder(path, () => this.#platter.write(path, copy));
  }

  async remove(path: string): Promise<void> {
    return this.#inOrder(path, () => this.#platter.remove(path));
  }

  async list(folder: string): Promise<readonly string[]> {
    return this.#inOrder(folder, () => this.#platter.list(folder));
  }

  async openLog(path: string, { durableAppends = false }: DiskLogOptions = {}): Promise<DiskLog> {
    await this.#inOrder(path, () => this.#platter.create(path));
    const platter = this.#platter;
    const inOrder = (effect: () => void): Promise<void> => this.#inOrder(path, effect);
    return new SimDiskLog(path, { platter, inOrder, durableAppends });
  }

  /**
   * Applies `effect` after the earlier operations of the file and after its latency. A crash in between makes it
   * happen or not, as an operation under way at a real crash may or may not have reached the disk.
   */
  #inOrder<T>(path: string, effect: () => T): Promise<T> {
    if (!this.#boot.alive) return never();
    checkPath(path);
    const earlier = this.#lastByPath.get(path) ?? Promise.resolve();
    const result = earlier.then(() => this.#afterLatency(effect));
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#lastByPath.set(path, settled);
    void settled.then(() => {
      if (this.#lastByPath.get(path) === settled) this.#lastByPath.delete(path);
    });
    return result;
  }

  #afterLatency<T>(effect: () => T): Promise<T> {
    if (!this.#boot.alive) return never();
    const pending = this.#platter.begin(effect);
    return new Promise((resolve, reject) => {
      const callback = (): void => {
        this.#platter.finish(pending);
        try {
          this.#platter.checkHealth();
          resolve(effect());
        } catch (error) {
          reject(error);
        }
      };
      afterIn(this.#world, this.#platter.latencyMs(), { callback, owner: this.#boot });
    });
  }
}

class SimDiskLog implements DiskLog {
  readonly #path: string;
  readonly #platter: Platter;
  readonly #inOrder: (effect: () => void) => Promise<void>;
  readonly #durableAppends: boolean;
  #sizeBytes: number;
  #closed = false;

  constructor(
    path: string,
    options: {
      readonly platter: Platter;
      readonly inOrder: (effect: () => void) => Promise<void>;
      readonly durableAppends: boolean;
    },
  ) {
    const { platter } = options;
    this.#path = path;
    this.#platter = platter;
    this.#inOrder = options.inOrder;
    this.#durableAppends = options.durableAppends;
    this.#sizeBytes = platter.sizeBytes(path);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#checkOpen();
    const copy = new Uint8Array(bytes);
    this.#sizeBytes += copy.length;
    const appended = this.#inOrder(() => this.#platter.append(this.#path, copy));
    // Two effects, so that a crash in between tears it, as it may a write that waits for the disk.
    await (this.#durableAppends ? Promise.all([appended, this.sync()]) : appended);
  }

  async sync(): Promise<void> {
    this.#checkOpen();
    return this.#inOrder(() => this.#platter.sync(this.#path));
  }

  async truncate(sizeBytes: number): Promise<void> {
    this.#checkOpen();
    this.#sizeBytes = Math.min(this.#sizeBytes, sizeBytes);
    return this.#inOrder(() => this.#platter.truncate(this.#path, sizeBytes));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error(`cannot write to ${this.#path}: this log was closed; open it again`);
  }
}

function checkPath(path: string): void {
  const parts = path.split("/");
  if (path.startsWith("/") || parts.includes("..")) {
    throw new Error(
      `cannot use the path ${JSON.stringify(path)}: paths are relative to the disk and never leave it`,
    );
  }
}
