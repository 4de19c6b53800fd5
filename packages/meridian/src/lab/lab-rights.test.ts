import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestAttributes } from "@meridian/apiserver";
import { labUsers } from "@meridian/console";
import { labIdentities, labRights } from "./lab-rights.ts";

const pods = (verb: string, more: { subresource?: string; resource?: string } = {}): RequestAttributes => ({
  ...{ kind: "resource", verb, group: "", version: "v1", resource: "pods", namespace: "default" },
  ...more,
});
const path = (verb: string, of: string): RequestAttributes => ({ kind: "path", verb, path: of });

const requests: readonly (readonly [name: string, attributes: RequestAttributes, allowed: string])[] = [
  ["list Pods", pods("list"), "lab lab-page small-controller copy-1"],
  ["watch Pods", pods("watch"), "lab lab-page small-controller copy-1"],
  ["create Pods", pods("create"), "lab-page small-controller"],
  ["update Pods", pods("update"), "lab-page small-controller"],
  ["delete Pods", pods("delete"), "lab-page small-controller"],
  ["compact", path("post", "/meridian/compact"), "lab"],
  ["read the history", path("get", "/meridian/history"), "lab"],
  ["read other paths", path("get", "/api"), ""],
  ["read Secrets", pods("list", { resource: "secrets" }), ""],
  ["run something in a Pod", pods("create", { subresource: "exec" }), ""],
  ["stand in for others", { ...pods("impersonate"), resource: "users" } as RequestAttributes, ""],
];
for (const [name, attributes, allowed] of requests) {
  test(`to ${name} is allowed to: ${allowed === "" ? "nobody" : allowed}`, () => {
    const users = ["lab", "lab-page", "small-controller", "copy-1", "admin", ""];
    const may = users.filter((username) => {
      const groups = ["system:authenticated"];
      return labRights.authorize({ username, groups }, attributes).allowed;
    });
    assert.deepEqual(may, allowed.split(" ").filter(Boolean));
  });
}

test("each user has a token of its own", () => {
  let next = 0;
  const identities = labIdentities({ bytes: (length) => new Uint8Array(length).fill(next++) });
  assert.equal(new Set(identities.map(({ token }) => token)).size, labUsers.length);
  assert.ok(identities.every(({ token }) => token.length === 32));
});
