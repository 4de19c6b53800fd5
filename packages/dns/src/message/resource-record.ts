/** One record in presentation form: `{ name: "www.example.com", type: "A", ttl: 30, data: "192.0.2.1" }`. */
export interface ResourceRecord {
  /** Absolute, without the trailing dot (the root is `.`), in the case that was sent. */
  readonly name: string;
  /** A mnemonic, or `TYPE666` (RFC 3597) for a type that has none. */
  readonly type: string;
  readonly ttl: number;
  /** The rdata in presentation form; names in it end with a dot. */
  readonly data: string;
}
