/** What a request's path names: an object or a collection, a discovery document, or something that is no resource. */
export type ApiPath =
  | {
      readonly kind: "resource";
      readonly group: string;
      readonly version: string;
      readonly plural: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly subresource?: string;
      /** The deprecated form `/api/v1/watch/...`. */
      readonly watchPrefix: boolean;
    }
  | { readonly kind: "other"; readonly segments: readonly string[] };

/**
 * Parses a path (without its query).
 *
 * `/apis/apps/v1/namespaces/x/deployments/y/scale` names the subresource `scale` of Deployment `y` in `x`;
 * `/api/v1/namespaces/x/status` names the subresource `status` of Namespace `x`.
 *
 * Returns `undefined` for a path that can name nothing: bad escapes, or segments that could leave their collection.
 */
export function parseApiPath(path: string): ApiPath | undefined {
  const segments: string[] = [];
  for (const raw of path.split("/").slice(1)) {
    const segment = decodeSegment(raw);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  if (segments.at(-1) === "") segments.pop();
  if (segments.includes("")) return undefined;

  const root = segments[0];
  if (root === "api" && segments.length > 2)
    return parseResource({ group: "", version: segments[1] ?? "" }, segments.slice(2));
  if (root === "apis" && segments.length > 3) {
    return parseResource({ group: segments[1] ?? "", version: segments[2] ?? "" }, segments.slice(3));
  }
  return { kind: "other", segments };
}

/** Segments are what a storage key is made of, so nothing that could change the key's shape passes. */
function decodeSegment(raw: string): string | undefined {
  let segment;
  try {
    segment = decodeURIComponent(raw);
  } catch {
    return undefined;
  }
  if (segment === "." || segment === ".." || /[/%\p{Cc}]/u.test(segment)) return undefined;
  return segment;
}

function parseResource(
  groupVersion: { readonly group: string; readonly version: string },
  segments: readonly string[],
): ApiPath | undefined {
  const watchPrefix = segments[0] === "watch" && segments.length > 1;
  const rest = watchPrefix ? segments.slice(1) : segments;
  const base = { kind: "resource" as const, ...groupVersion, watchPrefix };
  const [first = "", second, third, ...more] = rest;

  const inNamespace =
    first === "namespaces" &&
    second !== undefined &&
    third !== undefined &&
    !(groupVersion.group === "" && more.length === 0 && (third === "status" || third === "finalize"));
  if (!inNamespace) {
    if (more.length > 0) return undefined;
    return {
      ...base,
      plural: first,
      ...(second !== undefined && { name: second }),
      ...(third !== undefined && { subresource: third }),
    };
  }

  const [name, subresource, ...tooMuch] = more;
  if (tooMuch.length > 0) return undefined;
  return {
    ...base,
    namespace: second,
    plural: third,
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}
