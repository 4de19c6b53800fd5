/** What the DNS server knows of where addresses are. */
export interface GeoKnowledge {
  /** There is neither a database nor a map that says anything. */
  readonly isEmpty: boolean;
  /** What is wrong with the sources, if anything. */
  readonly problem?: { readonly reason: string; readonly message: string };
}
