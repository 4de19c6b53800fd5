/**
 * The versions that the page shows: counted from the start of the lab, so that they are as small as in a book. Kubernetes allows
 * resourceVersions to be compared as decimal numbers since 1.35; nothing but the page's numbers depends on it here.
 */
export class VersionLine {
  readonly #zero: bigint;

  /** `zero` is the resourceVersion that the page calls version 0. */
  constructor(zero: string) {
    this.#zero = BigInt(zero);
  }

  versionOf(resourceVersion: string): number {
    return /^\d+$/.test(resourceVersion) ? Number(BigInt(resourceVersion) - this.#zero) : 0;
  }

  /** `versionOf`, and `null` for the empty text of a copy that has none yet. */
  versionIfAny(resourceVersion: string): number | null {
    return resourceVersion === "" ? null : this.versionOf(resourceVersion);
  }
}
