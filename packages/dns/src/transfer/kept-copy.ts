import type { Logger, Runtime } from "@meridian/runtime";
import type { Zone } from "../zone/zone.ts";
import type { TakeRecord } from "./transfer-reader.ts";
import { ZoneCopy } from "./zone-copy.ts";

/** Differences are stored at most this often; a crash loses those since, and they are fetched again. */
const gapMs = 60_000;

/** Decides when the copy of a zone on the disk is stored again. A copy that cannot be stored is tried again, and told. */
export class KeptCopy {
  readonly #clock: Runtime["clock"];
  readonly #log: Logger;
  readonly #copy: ZoneCopy;
  #dirty: "no" | "time" | "content" = "no";
  #storedMs: number = Number.NEGATIVE_INFINITY;

  constructor(
    { disk, clock }: Pick<Runtime, "disk" | "clock">,
    options: { readonly folder: string; readonly origin: string; readonly log: Logger },
  ) {
    const { folder, origin, log } = options;
    this.#clock = clock;
    this.#log = log;
    this.#copy = new ZoneCopy({ disk, clock, folder, origin });
  }

  /** As `ZoneCopy.read`. */
  read(take: TakeRecord): Promise<number | undefined> {
    return this.#copy.read(take);
  }

  /** The zone has other content, or was vouched for once more. */
  mark(what: "time" | "content"): void {
    if (this.#dirty !== "content") this.#dirty = what;
  }

  /** When it is to be stored, in monotonic ms; `undefined` where it is as the zone is. */
  get dueMs(): number | undefined {
    return this.#dirty === "no" ? undefined : this.#storedMs + gapMs;
  }

  async storeIfDue(zone: Zone, checkedAtMs: number): Promise<void> {
    if (this.dueMs !== undefined && this.dueMs <= this.#clock.monotonicMs())
      await this.store(zone, checkedAtMs);
  }

  /** @param checkedAtMs when a primary last vouched for the zone, as wall time */
  async store(zone: Zone, checkedAtMs: number): Promise<void> {
    const dirty = this.#dirty;
    if (dirty === "no") return;
    this.#dirty = "no";
    this.#storedMs = this.#clock.monotonicMs();
    try {
      if (dirty === "time") return await this.#copy.markChecked(checkedAtMs);
      using snapshot = zone.snapshot();
      await this.#copy.write(snapshot, checkedAtMs);
    } catch (error) {
      this.mark(dirty);
      this.#log.warn("the copy of a secondary zone cannot be stored", { error });
    }
  }
}
