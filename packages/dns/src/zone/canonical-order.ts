const labelsMax = 128;
const leftStarts = new Uint8Array(labelsMax);
const rightStarts = new Uint8Array(labelsMax);

/**
 * Compares two names in lower case, each at an offset of octets, in canonical order (RFC 4034 §6.1): negative where the left
 * one comes first. What is no name comes to an end, too.
 */
// oxlint-disable-next-line max-params -- called millions of times, and for each denial
export function compareNames(left: Uint8Array, leftAt: number, right: Uint8Array, rightAt: number): number {
  let leftCount = readStarts(left, leftAt, leftStarts);
  let rightCount = readStarts(right, rightAt, rightStarts);
  while (leftCount > 0 && rightCount > 0) {
    const leftLabel = leftAt + leftStarts[--leftCount]!;
    const rightLabel = rightAt + rightStarts[--rightCount]!;
    const leftLength = left[leftLabel]!;
    const rightLength = right[rightLabel]!;
    for (let index = 1; index <= leftLength && index <= rightLength; index++) {
      const difference = left[leftLabel + index]! - right[rightLabel + index]!;
      if (difference !== 0) return difference;
    }
    if (leftLength !== rightLength) return leftLength - rightLength;
  }
  return leftCount - rightCount;
}

/** Where the labels of a name start, from the name's start; how many there are. */
function readStarts(octets: Uint8Array, at: number, starts: Uint8Array): number {
  let count = 0;
  for (let start = 0; start < 255 && count < labelsMax; start += octets[at + start]! + 1) {
    if (!(octets[at + start]! > 0)) break;
    starts[count++] = start;
  }
  return count;
}
