/** A mistake on the bench's command line; its message is one line. */
export class BenchUsageError extends Error {
  override readonly name = "BenchUsageError";
}
