import type { Prng } from "./prng.ts";

/** How packets travel from one node to another. */
export interface LinkConditions {
  /** One-way delay, uniform between the two. Datagrams overtake each other; connections keep their order. */
  readonly delayMs: { readonly min: number; readonly max: number };
  /** The chance that a datagram is lost. On a connection a loss costs a retransmission instead. */
  readonly loss: number;
  /** The chance that a datagram arrives twice. */
  readonly duplication: number;
}

/** A quiet local network. */
export const defaultLinkConditions: LinkConditions = {
  delayMs: { min: 1, max: 10 },
  loss: 0,
  duplication: 0,
};

/** A node's way to itself: fast and never cut. */
const loopbackConditions: LinkConditions = {
  delayMs: { min: 0.02, max: 0.05 },
  loss: 0,
  duplication: 0,
};

/** The one-way links between nodes, by node name: their conditions, and which are cut. */
export class Links {
  readonly #default: LinkConditions;
  readonly #conditions = new Map<string, LinkConditions>();
  readonly #cut = new Set<string>();

  constructor(defaults: LinkConditions) {
    this.#default = defaults;
  }

  conditions(from: string, to: string): LinkConditions {
    if (from === to) return loopbackConditions;
    return this.#conditions.get(key(from, to)) ?? this.#default;
  }

  setConditions(from: string, to: string, conditions: Partial<LinkConditions>): void {
    this.#conditions.set(key(from, to), { ...this.conditions(from, to), ...conditions });
  }

  cut(from: string, to: string): void {
    if (from !== to) this.#cut.add(key(from, to));
  }

  heal(from: string, to: string): void {
    this.#cut.delete(key(from, to));
  }

  healAll(): void {
    this.#cut.clear();
  }

  isCut(from: string, to: string): boolean {
    return this.#cut.size > 0 && this.#cut.has(key(from, to));
  }
}

/** How long one packet is under way. */
export function drawDelayMs(random: Prng, conditions: LinkConditions): number {
  return random.between(conditions.delayMs.min, conditions.delayMs.max);
}

function key(from: string, to: string): string {
  return `${from}>${to}`;
}
