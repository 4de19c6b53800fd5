import assert from "node:assert/strict";
import { test } from "node:test";
import { copyOutlook } from "./copy-outlook.ts";

const copy = { stale: true, behind: 2, wire: "cut", version: 4, heldBack: 0 } as const;
const cases: readonly (readonly [
  name: string,
  copy: Partial<Parameters<typeof copyOutlook>[0]>,
  oldest: number,
  outlook: string,
])[] = [
  ["nothing has changed since it was cut", { stale: false, behind: 0 }, 0, "fresh"],
  ["the history reaches back further", {}, 2, "differences"],
  ["the history begins just after it", {}, 4, "differences"],
  ["one record after it is forgotten", {}, 5, "everything"],
  ["it has never read anything", { version: null }, 0, "everything"],
  ["its wire is silent", { wire: "silent" }, 9, "heldBack"],
  ["an event is delayed", { wire: "open", heldBack: 1 }, 0, "heldBack"],
  ["the differences are on their way", { wire: "open" }, 0, "catchingUp"],
  ["an event was taken out", { wire: "open", behind: 0 }, 0, "differs"],
];
for (const [name, change, oldestResumable, outlook] of cases) {
  test(`${name}: ${outlook}`, () => {
    assert.equal(copyOutlook({ ...copy, ...change }, { oldestResumable }), outlook);
  });
}
