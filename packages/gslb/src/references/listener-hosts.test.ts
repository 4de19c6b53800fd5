import assert from "node:assert/strict";
import { test } from "node:test";
import { commonHost } from "./listener-hosts.ts";

const cases: readonly (readonly [listener: string | undefined, route: string, common: string | undefined])[] =
  [
    [undefined, "a.x", "a.x"],
    ["", "a.x", "a.x"],
    [undefined, "*.x", "*.x"],
    ["a.x", "a.x", "a.x"],
    ["A.x", "a.X", "a.X"],
    ["a.x", "a.x.", "a.x."],
    ["a.x", "b.x", undefined],
    ["*.x", "a.x", "a.x"],
    ["*.x", "b.a.x", "b.a.x"],
    ["*.x", "x", undefined],
    ["*.x", "ax", undefined],
    ["*.x", "*.x", "*.x"],
    ["*.x", "*.a.x", "*.a.x"],
    ["*.a.x", "*.x", "*.a.x"],
    ["a.x", "*.x", "a.x"],
    ["b.a.x", "*.x", "b.a.x"],
    ["x", "*.x", undefined],
    ["*.a.x", "*.b.x", undefined],
    ["a.x", "*.a.x", undefined],
    ["*", "a.x", undefined],
  ];

for (const [listener, route, common] of cases)
  test(`F-05: a listener for ${listener ?? "every name"} and a route for ${route} have ${common ?? "nothing"} in common`, () => {
    assert.equal(commonHost(listener, route), common);
  });
