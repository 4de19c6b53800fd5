/**
 * A geo tag as a number, so that answering compares numbers: the FNV-1a hash of its UTF-16 code units. 0 is no tag.
 *
 * A hash and not an index into a table, since record sets, geo states and worker threads are then made independently. Two
 * of a hundred tags collide once in a million fleets.
 */
export function geoTagId(tag: string): number {
  if (tag === "") return 0;
  let hash = 0x811c9dc5;
  for (let index = 0; index < tag.length; index++) hash = Math.imul(hash ^ tag.charCodeAt(index), 0x01000193);
  return hash | 0 || 1;
}
