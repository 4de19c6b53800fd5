/**
 * How a zone lies in shared memory. Everything is found by word index; a block that was published is not changed any more,
 * save where noted, and whoever replaces one frees it.
 *
 * For the zone `p.test` with `www A 192.0.2.1, 192.0.2.2`: the header names a table; the slot for the hash of `www.p.test`
 * names a node; the node has the name, its parent `p.test`, and a content; the content has one set; the set has 32 octets
 * that go into an answer as they are.
 */

/** Words of the header. The origin's octets start at `origin`. */
export const header = {
  /** Octets that the memory has by now; readers compare it with their views. */
  length: 0,
  /** Odd while a change is being published; one that changes during an answer makes the answer void. */
  sequence: 1,
  /** The hash table: a directory of segments, which hold pairs of hash and node, 0 for none. */
  table: 2,
  /** Slots of a segment less one; the low bits of a hash are its slot. */
  mask: 3,
  apex: 4,
  /** The SOA set as negative answers have it: TTL min(own TTL, minimum), RFC 2308 §3. */
  negativeSoa: 5,
  ready: 6,
  /** How many nodes are zone cuts, own a DNAME or are hidden; where there is none, lookups need not walk up. */
  breaks: 7,
  names: 8,
  /** What names are hashed with. */
  seed: 9,
  originLabels: 10,
  originLength: 11,
  /** Segments in the directory less one; the bits of a hash above `segmentBits` are its place. */
  directoryMask: 12,
  /** 1 where the apex has signatures: the zone was signed elsewhere and is served with what it has. */
  presigned: 13,
  /** The nodes that own NSEC and NSEC3, each list in canonical order (`DenialIndex`), and how many there are. */
  nsec: 14,
  nsecCount: 15,
  nsec3: 16,
  nsec3Count: 17,
  origin: 20,
  words: 84,
} as const;

/** A segment of the hash table has at most two to the power of so many slots, and exactly so many where there are several. */
export const segmentBits = 12;

/** Words of a node, one for each name: an owner, or an empty non-terminal above one. Its name's octets, folded, follow. */
export const node = {
  hash: 0,
  parent: 1,
  /** What it owns, or 0. */
  content: 2,
  /** The child `*`, or 0. */
  wildcard: 3,
  children: 4,
  /** All nodes are chained, the newest first. */
  next: 5,
  previous: 6,
  /** Octets of the name (the low 8 bits) and flags. */
  info: 7,
  name: 8,
} as const;

export const nodeFlag = {
  /** An NS set below the apex: a zone cut. */
  cut: 0x100,
  dname: 0x200,
  /** Gone from the table; kept only for snapshots. */
  dead: 0x400,
  /** Owns NSEC3 and its signatures only: no name of the zone to those who ask (RFC 5155 §7.2.8). */
  hidden: 0x800,
} as const;

/** Words of a content: what one owner has. Its sets follow, one behind the other. */
export const content = {
  /** Words of the whole block. */
  size: 0,
  /** Number of sets in the low 16 bits, and flags. */
  info: 1,
  sets: 2,
} as const;

export const contentFlag = {
  cname: 0x1_0000,
  dname: 0x2_0000,
  cut: 0x4_0000,
  nsec: 0x8_0000,
  nsec3: 0x10_0000,
  rrsig: 0x20_0000,
  /** Any type but NSEC3 and RRSIG. */
  visible: 0x40_0000,
} as const;

/**
 * Words of a record set. Its body follows: records as they stand in an answer, each owner a pointer to the question.
 *
 * Names in rdata that end like the zone's origin end in a pointer whose value depends on where the origin stands in the
 * message: for zone `cloud.example.com` and a target `ns.example.com` the body has `2 ns` and a pointer, and `patches`
 * holds that pointer's place and 6, the offset of `example.com` within the origin.
 */
export const set = {
  /** Type in the low 16 bits, and flags. */
  info: 0,
  /** Words to the next set. */
  size: 1,
  /** Octets of the body in the low 16 bits, number of records above. A set without records makes its owner exist. */
  extent: 2,
  ttl: 3,
  /** Word offset of the tail from the set's start in the low 16 bits; octets of a record, where all have the same, above. */
  tail: 4,
  body: 5,
} as const;

/** What a set's tail has, in this order. */
export const setFlag = {
  /** Each answer starts one record further on. */
  rotates: 0x1_0000,
  /** The policy is `rotate`, whether or not there is anything to turn. */
  isRotate: 0x2_0000,
  /** Two octets for each record: where it starts in the body. */
  varied: 0x4_0000,
  /** A word with their number, then one for each: place in the low, offset in the origin in the high half. */
  patched: 0x8_0000,
  /** A word with their number, then for each its place in the low half, its length in the high half, its octets. */
  targets: 0x10_0000,
  /** A word with its length, then the policy in JSON, for `recordSets`. */
  policy: 0x100_0000,
  /** A word with their number, then two for each: the sum of weights up to it, the word offset of its set. */
  choice: 0x20_0000,
  /** A word with their number, then for each group its weight, how many records it has, and a word for each with its index. */
  order: 0x40_0000,
  /** A word that is 1 where tags decide, then the tag id of each record. */
  geo: 0x80_0000,
} as const;

/** The sets whose records are chosen or ordered for each answer by more than their turn. */
export const tailored: number = setFlag.choice | setFlag.order | setFlag.geo;
