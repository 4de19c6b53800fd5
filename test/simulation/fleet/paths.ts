import type { Simulation } from "@meridian/runtime/sim";

export type Weather = Parameters<Simulation["setLink"]>[2];

/** The links between all nodes, and what the scenario did to them. */
export class Paths {
  readonly #simulation: Simulation;
  readonly #calm: Weather;
  readonly #cut = new Set<string>();
  readonly #stormy = new Set<string>();
  #unchangedSinceMs = 0;

  constructor(simulation: Simulation, calm: Weather) {
    this.#simulation = simulation;
    this.#calm = calm;
  }

  /** When any link was last changed. */
  get unchangedSinceMs(): number {
    return this.#unchangedSinceMs;
  }

  /** Cuts the way from `a` to `b`, and back where `both`. */
  cut(a: string, b: string, both: boolean): void {
    this.#simulation.partition(a, b, both ? "both" : "one");
    this.#cut.add(pair(a, b));
    this.#note();
  }

  heal(a: string, b: string): void {
    this.#simulation.heal(a, b);
    this.#cut.delete(pair(a, b));
    this.#note();
  }

  /** Makes the link between two nodes lossy, slow or both. */
  storm(a: string, b: string, weather: Weather): void {
    this.#simulation.setLink(a, b, weather);
    this.#stormy.add(pair(a, b));
    this.#note();
  }

  calm(a: string, b: string): void {
    this.#simulation.setLink(a, b, this.#calm);
    this.#stormy.delete(pair(a, b));
    this.#note();
  }

  /** Whether a question of one of the two to the other is surely answered, may be, or surely is not. */
  between(a: string, b: string): "clear" | "unsure" | "cut" {
    const key = pair(a, b);
    if (this.#cut.has(key)) return "cut";
    return this.#stormy.has(key) ? "unsure" : "clear";
  }

  #note(): void {
    this.#unchangedSinceMs = this.#simulation.nowMs;
  }
}

function pair(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
