/**
 * Orders API versions as discovery does, best first: GA before beta before alpha, higher numbers first, and all other texts last in alphabetic order.
 * For `Array.prototype.toSorted`: `["v1alpha1", "v1", "v2beta1"]` becomes `["v1", "v2beta1", "v1alpha1"]`.
 */
export function compareKubeVersions(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left !== right) return left === undefined ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor;
}

interface KubeVersion {
  readonly major: number;
  readonly stability: number;
  readonly minor: number;
}

function parse(text: string): KubeVersion | undefined {
  const parts = /^v(?<major>[1-9]\d{0,8})(?:(?<stability>alpha|beta)(?<minor>[1-9]\d{0,8}))?$/.exec(
    text,
  )?.groups;
  if (parts === undefined) return undefined;
  const stability = parts["stability"] === undefined ? 2 : parts["stability"] === "beta" ? 1 : 0;
  return { major: Number(parts["major"]), stability, minor: Number(parts["minor"] ?? 0) };
}
