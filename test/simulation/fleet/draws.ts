import type { Random } from "@meridian/runtime";

/** True with the given probability. */
export function chance(random: Random, probability: number): boolean {
  return random.float() < probability;
}

/** One of the items. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random.float() * items.length)]!;
}

/** A number from `min` up to `max`. */
export function between(random: Random, min: number, max: number): number {
  return min + random.float() * (max - min);
}

/** An integer from `min` to `max`, both included. */
export function integer(random: Random, min: number, max: number): number {
  return Math.floor(between(random, min, max + 1));
}

/** The same items in another order. */
export function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, at: random.float() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
