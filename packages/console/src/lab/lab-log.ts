import type { Clock } from "@meridian/runtime";
import { labLimits } from "../lab-state.ts";
import type { LabEvent, LabLogEntry } from "../lab-state.ts";

/** What happened, the newest of it. */
export class LabLog {
  readonly #clock: Pick<Clock, "now">;
  #entries: readonly LabLogEntry[] = [];
  #written = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  get entries(): readonly LabLogEntry[] {
    return this.#entries;
  }

  add(event: LabEvent): void {
    const entry: LabLogEntry = { number: ++this.#written, atMs: this.#clock.now(), event };
    this.#entries = [...this.#entries.slice(1 - labLimits.logEntries), entry];
  }

  clear(): void {
    this.#entries = [];
  }
}
