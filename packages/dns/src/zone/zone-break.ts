import { node as nodeWord, nodeFlag } from "./zone-layout.ts";

/** More names than that are above no name. */
const ancestorsMax = 128;

/** The zone cut or DNAME nearest to the apex, at or above a node, or 0; a DNAME does not apply to its own owner, `exact`. */
export function topmostBreak(words: Int32Array, from: number, exact: number): number {
  let top = 0;
  let node = from;
  for (let steps = 0; node !== 0 && steps < ancestorsMax; steps++) {
    const info = words[node + nodeWord.info]!;
    if ((info & nodeFlag.cut) !== 0 || ((info & nodeFlag.dname) !== 0 && node !== exact)) top = node;
    node = words[node + nodeWord.parent]!;
  }
  return top;
}

/** Whether a node owns nothing but NSEC3 and its signatures, and nothing is below it (RFC 5155 §7.2.8). */
export function isHidden(words: Int32Array, node: number): boolean {
  return (words[node + nodeWord.info]! & nodeFlag.hidden) !== 0 && words[node + nodeWord.children] === 0;
}
