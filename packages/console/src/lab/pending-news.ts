import type { HistoryRecord, LabEvent } from "../lab-state.ts";

/**
 * What happened around writes that the lab has not seen in the history yet: a copy may hear of a write before the lab does. Told
 * with its write, the log reads as it happened: what the controller did, the write, what the wire made of its event.
 */
export class PendingNews {
  #events: readonly LabEvent[] = [];

  add(event: LabEvent): void {
    this.#events = [...this.#events, event];
  }

  clear(): void {
    this.#events = [];
  }

  /** What the controller did that became this write. */
  takeActs(write: Pick<HistoryRecord, "change" | "name">): readonly LabEvent[] {
    return this.#take(
      (event) =>
        event.code === "controllerActed" &&
        event.name === write.name &&
        (event.action === "create") === (write.change === "created"),
    );
  }

  /** What befell the events of writes up to this version. */
  takeIncidents(version: number): readonly LabEvent[] {
    return this.#take(
      (event) => event.code !== "controllerActed" && "version" in event && (event.version ?? 0) <= version,
    );
  }

  takeAll(): readonly LabEvent[] {
    return this.#take(() => true);
  }

  #take(fits: (event: LabEvent) => boolean): readonly LabEvent[] {
    const taken = this.#events.filter(fits);
    this.#events = this.#events.filter((event) => !fits(event));
    return taken;
  }
}
