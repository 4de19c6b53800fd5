/** Steps that one evaluation of a rule may take. */
const ruleCostMax: number = 1_000_000;

/** Steps that all rules of one object may take together. */
const objectCostMax: number = 3_000_000;

/** A rule took more steps than it may, or the object's rules together did. */
export class CostError extends Error {
  override readonly name = "CostError";
}

/**
 * Counts what rules cost, and stops them. Rules are rewritten so that they report here what they are about to do: the length of a list
 * before it is walked, the size of a text before it is compared. What counts is work, not time, so the same rule on the same
 * object fails everywhere or nowhere.
 */
export class CostMeter {
  #objectLeft: number = objectCostMax;
  #ruleLeft: number = ruleCostMax;
  readonly #sizes = new WeakMap<object, number>();

  startObject(): void {
    this.#objectLeft = objectCostMax;
  }

  startRule(): void {
    this.#ruleLeft = ruleCostMax;
    this.charge(1);
  }

  /** @throws CostError once either bound is passed; from then on every further charge throws too. */
  charge(steps: number): void {
    if (this.#objectLeft < 0) throw objectCostError;
    if (this.#ruleLeft < 0) throw ruleCostError;
    this.#ruleLeft -= steps;
    // A single charge can be far beyond what is left; only what was really worked off counts for the object.
    this.#objectLeft -= Math.min(steps, ruleCostMax);
    if (this.#objectLeft < 0) throw objectCostError;
    if (this.#ruleLeft < 0) throw ruleCostError;
  }

  get objectExhausted(): boolean {
    return this.#objectLeft < 0;
  }

  /** Remembers how many values a container holds on all levels. */
  setSize(container: object, values: number): void {
    this.#sizes.set(container, values);
  }

  /** Charges for reading all of a value once: a tenth of a step per character, as kube-apiserver counts. */
  chargeFor(value: unknown): void {
    if (typeof value === "string") this.charge(Math.ceil(value.length / 10));
    else if (value instanceof Uint8Array) this.charge(Math.ceil(value.length / 10));
    else if (typeof value === "object" && value !== null) this.charge(this.sizeOf(value));
    else this.charge(1);
  }

  sizeOf(container: object): number {
    const known = this.#sizes.get(container);
    if (known !== undefined) return known;
    const parts = Array.isArray(container) ? container : container instanceof Map ? container.values() : [];
    let size = 1;
    for (const part of parts as Iterable<unknown>) {
      size += typeof part === "object" && part !== null ? this.sizeOf(part) : 1 + textCost(part);
    }
    this.#sizes.set(container, size);
    return size;
  }
}

/** What a text inside a container adds to the container's size. */
export function textCost(value: unknown): number {
  return typeof value === "string" ? Math.floor(value.length / 10) : 0;
}

// Made once: in a loop that runs dry an error per step, each with its stack, would cost more than the steps.
const ruleCostError = new CostError("actual cost limit exceeded");
const objectCostError = new CostError("cost budget of the object exhausted");
