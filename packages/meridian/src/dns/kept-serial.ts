import { isNewerSerial, type Zone } from "@meridian/dns";
import type { Disk, Logger } from "@meridian/runtime";

/** Whose serial is kept, and where: a path on the disk. */
export interface KeptSerialOptions {
  readonly zone: Zone;
  readonly path: string;
}

/** What is stored is so far ahead of what is served, so that a crash before the next write loses no step. */
const aheadSteps = 10;

/**
 * Keeps the serial of a signed zone from going back at a restart. Keys that come and go step it, and nothing else remembers
 * those steps: secondaries would take no change until the zone's file had caught up.
 */
export class KeptSerial implements AsyncDisposable {
  readonly #disk: Disk;
  readonly #log: Logger;
  readonly #zone: Zone;
  readonly #path: string;
  readonly #following: Disposable;
  #stored: number;
  #writing: Promise<void> | undefined;

  private constructor(
    { disk, log }: { readonly disk: Disk; readonly log: Logger },
    { zone, path }: KeptSerialOptions,
  ) {
    this.#disk = disk;
    this.#log = log.child({ zone: zone.origin });
    this.#zone = zone;
    this.#path = path;
    this.#stored = zone.serial;
    this.#following = zone.observe(() => {
      if (this.#isBehind) void this.#store();
    });
  }

  /**
   * Brings a zone that is not served yet to a serial newer than all that were served before. What cannot be read or written
   * is logged: the zone is better served than not.
   */
  static async open(
    runtime: { readonly disk: Disk; readonly log: Logger },
    options: KeptSerialOptions,
  ): Promise<KeptSerial> {
    const { zone, path } = options;
    try {
      const text = new TextDecoder().decode((await runtime.disk.read(path)) ?? new Uint8Array()).trim();
      const serial = Number(text);
      if (/^\d{1,10}$/.test(text) && serial < 2 ** 32 && isNewerSerial(serial, zone.serial))
        zone.setSoa({ serial });
    } catch (error) {
      runtime.log.warn("the kept serial of a signed zone cannot be read", { error, zone: zone.origin });
    }
    const kept = new KeptSerial(runtime, options);
    await kept.#store();
    return kept;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#writing;
  }

  get #isBehind(): boolean {
    return !isNewerSerial(this.#stored, (this.#zone.serial + aheadSteps / 2) >>> 0);
  }

  #store(): Promise<void> {
    return (this.#writing ??= this.#write().finally(() => (this.#writing = undefined)));
  }

  /** One write at a time, until what is stored is ahead of all steps that were made meanwhile. */
  async #write(): Promise<void> {
    try {
      do {
        const serial = (this.#zone.serial + aheadSteps) >>> 0;
        await this.#disk.replace(this.#path, new TextEncoder().encode(`${serial}\n`));
        this.#stored = serial;
      } while (this.#isBehind);
    } catch (error) {
      this.#log.warn("the serial of a signed zone cannot be stored and may go back at a restart", { error });
    }
  }
}
