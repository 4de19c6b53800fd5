import type { ClientReports } from "../client-report.ts";
import { cpuMs } from "./own-figures.ts";

/** Counts the updates that a handler is told of. */
export class UpdateLog {
  readonly #onSeen: (report: ClientReports["seen"]) => void;
  #expected = 0;
  #seen = 0;
  #firstMs = 0;
  #cpuBeforeMs = 0;
  #recording = false;
  #arrivals: [number, number][] = [];

  constructor(onSeen: (report: ClientReports["seen"]) => void) {
    this.#onSeen = onSeen;
  }

  /** `name`: `object-17`, with or without its namespace. */
  add(name: string): void {
    if (this.#recording) {
      const index = Number(name.slice(name.lastIndexOf("-") + 1));
      this.#arrivals.push([index, Math.round((performance.timeOrigin + performance.now()) * 1000)]);
    }
    if (this.#expected === 0) return;
    this.#seen++;
    if (this.#seen === 1) this.#firstMs = performance.now();
    if (this.#seen < this.#expected) return;
    const ms = performance.now() - this.#firstMs;
    this.#expected = 0;
    this.#onSeen({ events: this.#seen, ms, cpuMs: cpuMs() - this.#cpuBeforeMs });
  }

  expect(count: number): void {
    this.#expected = count;
    this.#seen = 0;
    this.#cpuBeforeMs = cpuMs();
  }

  record(): void {
    this.#recording = true;
    this.#arrivals = [];
    this.#cpuBeforeMs = cpuMs();
  }

  recorded(): ClientReports["recorded"] {
    this.#recording = false;
    return { cpuMs: cpuMs() - this.#cpuBeforeMs, arrivals: this.#arrivals };
  }
}
