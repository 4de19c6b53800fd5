import { apiSamples, otherPaths } from "./api-samples.ts";
import { pick, type Integers } from "./fuzz-seed.ts";
import { hostileNames, mutatedJsonText, mutateJson } from "./json-mutator.ts";
import { mutateOctets } from "./octet-mutator.ts";

/** A request as the handler takes it, without client and signal. */
export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const methods = [
  "GET",
  "GET",
  "GET",
  "POST",
  "POST",
  "POST",
  "PUT",
  "PUT",
  "PATCH",
  "PATCH",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "get",
  "",
];

const bodyTypes = [
  "application/json",
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
  "multipart/form-data; boundary=x",
  "",
  ";;;",
  "application/json; =",
];

const patchTypes = [
  "application/merge-patch+json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/apply-patch+yaml",
  "application/apply-patch+cbor",
  "application/json",
  "",
];

const accepts = [
  "application/json",
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "application/vnd.kubernetes.protobuf",
  "application/yaml",
  "*/*",
  "text/html;q=x",
  ",,,;;;=",
  `${"a/b,".repeat(500)}`,
];

const queryNames = [
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "labelSelector",
  "fieldSelector",
  "watch",
  "timeoutSeconds",
  "allowWatchBookmarks",
  "sendInitialEvents",
  "dryRun",
  "fieldManager",
  "fieldValidation",
  "force",
  "propagationPolicy",
  "gracePeriodSeconds",
  "orphanDependents",
  "pretty",
  "includeObject",
  "timeout",
  "__proto__",
];

const queryValues = [
  "",
  "0",
  "1",
  "-1",
  "true",
  "false",
  "All",
  "Strict",
  "Warn",
  "Exact",
  "NotOlderThan",
  "Background",
  "Foreground",
  "Orphan",
  "1e9",
  "99999999999999999999999999",
  "9007199254740993",
  "0x10",
  "NaN",
  "a=b",
  "a in (b,c),!d,e!=f",
  "a in (",
  "a==b,,,",
  "!".repeat(2_000),
  `${"a=b,".repeat(2_000)}a=b`,
  `a in (${"x,".repeat(5_000)}x)`,
  "metadata.name=sample",
  "metadata.name=..%2f",
  "metadata.namespace!=default",
  "status.phase=Running",
  "type=\\,\\=",
  "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0",
  "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4vIn0=",
  "eyJydiI6OTk5OTk5OTk5OTk5OTk5OTk5LCJzdGFydCI6W119",
  "bm90IGpzb24",
  "%",
  "\u0000",
  "\ud800",
];

const pathPieces = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2F",
  "%00",
  "%",
  "%zz",
  "%c3%28",
  "status",
  "scale",
  "finalize",
  "watch",
  "x".repeat(400),
  "A B",
  "sample",
  "namespaces",
  "api",
  "apis",
  "v1",
];

/** One hostile request, for a user who may do everything. */
export function hostileRequest(integer: Integers): FuzzRequest {
  const sample = pick(apiSamples, integer);
  const method = pick(methods, integer);
  const target = targetOf(sample.path, method, integer);
  const contentType = pick(method === "PATCH" ? patchTypes : bodyTypes, integer);
  const body =
    ["POST", "PUT", "PATCH", "DELETE"].includes(method) || integer(10) === 0
      ? bodyOf(sample.object, contentType, integer)
      : new Uint8Array();
  return {
    method,
    target,
    headers: {
      ...(body.length > 0 || integer(4) === 0 ? { "content-type": contentType } : {}),
      ...(integer(3) === 0 ? { accept: pick(accepts, integer) } : {}),
      ...(integer(20) === 0 ? { "user-agent": "kubectl/v1.34 (linux/amd64)" } : {}),
      ...(integer(40) === 0 ? { "impersonate-user": "root", "x-forwarded-for": "127.0.0.1" } : {}),
    },
    body,
  };
}

function targetOf(collection: string, method: string, integer: Integers): string {
  let path = integer(12) === 0 ? pick(otherPaths, integer) : collection;
  const named = method === "POST" ? integer(6) === 0 : integer(4) > 0;
  if (named)
    path += `/${pick(["sample", "sample", "sample", "sample", "other", ...hostileNames.map(encoded)], integer)}`;
  if (integer(8) === 0) path += `/${pick(["status", "scale", "finalize", "nonsense"], integer)}`;
  if (integer(15) === 0) {
    const parts = path.split("/");
    parts.splice(integer(parts.length + 1), integer(2), pick(pathPieces, integer));
    path = parts.join("/");
  }
  if (integer(60) === 0) path = path.replace("/api", "/api/../api");
  const parameters: string[] = [];
  if (method === "PATCH" && integer(3) > 0) parameters.push("fieldManager=fuzz", "force=true");
  for (let count = integer(3); count > 0; count--) {
    const value = pick(queryValues, integer);
    parameters.push(`${pick(queryNames, integer)}=${integer(3) === 0 ? value : encoded(value)}`);
  }
  return parameters.length === 0 ? path : `${path}?${parameters.join("&")}`;
}

function bodyOf(sample: object, contentType: string, integer: Integers): Uint8Array {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  if (integer(25) === 0)
    return new Uint8Array(integer(4) === 0 ? 3 * 1024 * 1024 + 1 : integer(50)).fill(0x20 + integer(90));
  if (contentType === "application/json-patch+json" && integer(6) > 0)
    return encode(JSON.stringify(jsonPatch(integer)));
  if (integer(5) === 0) return encode(JSON.stringify(sample));
  const text = mutatedJsonText(sample, integer);
  if (contentType.includes("yaml") && integer(3) === 0) {
    return encode(
      pick(
        [
          "a: &a [*a]",
          "a: &x {b: *x}",
          `${"- ".repeat(2_000)}x`,
          "%TAG ! x\n---\n!!js/function x",
          "a: 1\na: 2",
          "? [b]\n: c",
          text,
        ],
        integer,
      ),
    );
  }
  if (contentType.includes("protobuf") || integer(15) === 0) {
    const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x0a, 4, 0x0a, 2, 0x76, 0x31, 0x12, 9);
    return mutateOctets([magic, encode(text.slice(0, 10_000))], integer);
  }
  return encode(text);
}

function jsonPatch(integer: Integers): unknown {
  const paths = [
    "",
    "/",
    "/metadata/labels/app",
    "/data/a",
    "/spec",
    "/spec/ports/-",
    "/spec/ports/99999999999",
    "/__proto__/x",
    "/metadata/name",
    "/a~2b",
    "/status",
  ];
  return Array.from({ length: 1 + integer(4) }, () => ({
    op: pick(["add", "remove", "replace", "move", "copy", "test", "nonsense", null], integer),
    path: pick(paths, integer),
    from: pick(paths, integer),
    value: mutateJson({ a: ["b"], c: 1 }, integer),
  }));
}

/** Percent-encoded; what has no encoding goes as U+FFFD. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
