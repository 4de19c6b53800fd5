/** How the records of one set are chosen and ordered for each answer. */
export type AnswerPolicy =
  /** All records, in the order given. */
  | { readonly kind: "fixed" }
  /** All records; each answer starts one record further on. */
  | { readonly kind: "rotate" }
  /**
   * One group per answer, drawn with probability weight / sum of weights; so the share survives resolvers that shuffle.
   * Groups of weight 0 are drawn only where all are 0. Weights are integers from 0 to 1,000,000.
   */
  | { readonly kind: "weighted"; readonly groups: readonly WeightedGroup[] }
  /**
   * All records, in an order drawn anew: groups without replacement, each with probability weight / what is left, those of
   * weight 0 last; within a group at random. What k8gb does; it steers only clients that take the first and are asked
   * directly, since resolvers shuffle.
   */
  | { readonly kind: "weightedOrder"; readonly groups: readonly WeightedGroup[] }
  /**
   * Records near the client, in the order given; all where nothing is known of the client or nothing is near. With
   * `groups`: those of the first of the location's tags that has any. Without: those whose own address has the value that
   * the client's has in the first field in which any do (k8gb's way).
   */
  | { readonly kind: "geo"; readonly groups?: readonly GeoGroup[] };

/** Records of one place. */
export interface GeoGroup {
  /** Compared exactly with the tags and field values of a client's location. */
  readonly tag: string;
  /** In presentation form. */
  readonly data: readonly string[];
}

/** Records that are answered together, and how often. */
export interface WeightedGroup {
  readonly weight: number;
  /** The geo tag under which answers with this group are counted. */
  readonly tag?: string;
  /** In presentation form; a group without data is left out. */
  readonly data: readonly string[];
}

/** The records of one owner name and type, in presentation form. */
export interface RecordSet {
  /** Absolute, without trailing dot (one is tolerated), in any case; compared without case. */
  readonly name: string;
  /** A mnemonic such as `A`, or `TYPE666`. */
  readonly type: string;
  /** In seconds. */
  readonly ttl: number;
  /**
   * One entry per record, in presentation form, names in it absolute. Empty: the name exists without data, so it is
   * answered NODATA and no wildcard covers it.
   */
  readonly data: readonly string[];
  /** Absent: `fixed`. */
  readonly policy?: AnswerPolicy;
}
