import assert from "node:assert/strict";
import { test } from "node:test";
import { parseApiPath } from "./api-path.ts";

const paths: readonly (readonly [path: string, parsed: unknown])[] = [
  ["/api/v1/pods", { group: "", version: "v1", plural: "pods" }],
  ["/api/v1/namespaces/n/pods/p", { group: "", version: "v1", namespace: "n", plural: "pods", name: "p" }],
  [
    "/api/v1/namespaces/n/pods/p/log",
    { group: "", version: "v1", namespace: "n", plural: "pods", name: "p", subresource: "log" },
  ],
  ["/api/v1/namespaces/n", { group: "", version: "v1", plural: "namespaces", name: "n" }],
  [
    "/api/v1/namespaces/n/status",
    { group: "", version: "v1", plural: "namespaces", name: "n", subresource: "status" },
  ],
  [
    "/api/v1/namespaces/n/finalize",
    { group: "", version: "v1", plural: "namespaces", name: "n", subresource: "finalize" },
  ],
  ["/apis/g/v1/namespaces/n/status", { group: "g", version: "v1", namespace: "n", plural: "status" }],
  ["/apis/apps/v1/deployments/", { group: "apps", version: "v1", plural: "deployments" }],
  ["/apis/g/v1/things/system%3Ax", { group: "g", version: "v1", plural: "things", name: "system:x" }],
];
for (const [path, parsed] of paths) {
  test(`${path} names a resource`, () => {
    assert.deepEqual(parseApiPath(path), { kind: "resource", watchPrefix: false, ...(parsed as object) });
  });
}

test("the older form of watches is known", () => {
  assert.deepEqual(parseApiPath("/api/v1/watch/namespaces/n/pods/p"), {
    kind: "resource",
    watchPrefix: true,
    group: "",
    version: "v1",
    namespace: "n",
    plural: "pods",
    name: "p",
  });
});

const nothing = [
  "/api/v1/namespaces/../secrets",
  "/api/v1/namespaces/n/pods/..",
  "/api/v1/namespaces/n/pods/%2e%2e",
  "/api/v1/namespaces/n/pods/a%2Fb",
  "/api/v1/namespaces/n/pods/a%25b",
  "/api/v1/namespaces/n/pods/a%00b",
  "/api/v1/namespaces/n/pods/%zz",
  "/api/v1//pods",
  "/api/v1/namespaces/n/pods/p/log/more",
];
for (const path of nothing) {
  test(`${path} names nothing`, () => {
    assert.equal(parseApiPath(path), undefined);
  });
}
