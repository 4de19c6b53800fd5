import type { Random } from "@meridian/runtime";

/** Octets as connections deliver them: mostly as they are, some in two pieces, and some one by one. */
export function* randomChunks(
  octets: Uint8Array,
  random: Pick<Random, "uint32">,
): Generator<Uint8Array, void> {
  const how = random.uint32() % 4;
  if (how === 0 && octets.length > 1) {
    const at = 1 + (random.uint32() % (octets.length - 1));
    yield octets.subarray(0, at);
    yield octets.subarray(at);
  } else if (how === 1 && octets.length < 2_000) {
    for (const octet of octets) yield Uint8Array.of(octet);
  } else {
    yield octets;
  }
}
