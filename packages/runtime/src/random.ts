/**
 * A source of random numbers. The real one is cryptographic, since DNS message ids, ports and uids come from it;
 * the simulated one is a function of its seed.
 */
export interface Random {
  /** A uniform integer from 0 to 2^32 - 1. */
  uint32(): number;
  /** A uniform number in [0, 1). */
  float(): number;
  /** `length` uniform octets, owned by the caller. */
  bytes(length: number): Uint8Array;
  /** A version 4 UUID in its text form (RFC 9562 §5.4). */
  uuid(): string;
}
