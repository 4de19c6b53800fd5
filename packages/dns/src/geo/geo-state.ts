/**
 * Where every address is, as shared memory: made by `compileGeo`, read by `GeoSelector` in any thread.
 *
 * One binary trie for each family, in which databases and networks are merged already, so that the depth of the leaf found
 * is the widest prefix for which the location holds. A reference is the number of a node, or `~location` for a leaf.
 */
export interface GeoState {
  /** Int32 pairs: what bit 0 and bit 1 lead to. */
  readonly trie: SharedArrayBuffer;
  /** References to the roots for IPv4 and IPv6. */
  readonly roots: GeoRoots;
  /** Tries with leaf 1 where resolvers are whose client subnets are believed; absent: everywhere. */
  readonly trusted?: GeoRoots & { readonly trie: SharedArrayBuffer };
  /** Int32, `fieldCount` for each location: `geoTagId` of the values, 0 where it has none. Location 0 is the unknown one. */
  readonly values: SharedArrayBuffer;
  readonly fieldCount: number;
  /** Int32: for each location where its tags start; then the end of the last, then the tags (`geoTagId`), nearest first. */
  readonly tags: SharedArrayBuffer;
  readonly locationCount: number;
}

/** References to what a trie starts with, by family. */
export interface GeoRoots {
  readonly v4: number;
  readonly v6: number;
}
