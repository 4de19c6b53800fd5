/**
 * Orders two resourceVersions of one collection: negative, zero or positive; `undefined` where they cannot be ordered.
 *
 * Since Kubernetes 1.35 (KEP-5504) clients may compare versions of one resource as decimal integers of any length.
 * A server whose versions are something else is followed as well, only without this check.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

const decimal = /^[1-9][0-9]{0,63}$/;
