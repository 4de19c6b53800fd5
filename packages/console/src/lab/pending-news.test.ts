import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabEvent } from "../lab-state.ts";
import { PendingNews } from "./pending-news.ts";

const act = (action: "create" | "delete", name: string): LabEvent => ({
  ...{ code: "controllerActed", action, name, copy: "copy-1", seen: 1, desired: 2, behind: 0 },
});
const lost = (version: number): LabEvent => ({
  ...{ code: "eventLost", copy: "copy-1", name: "web-1", change: "changed", version, ms: 0 },
});

test("what the controller did is taken with the write that it became", () => {
  const news = new PendingNews();
  for (const event of [act("create", "web-1"), act("delete", "web-2"), act("create", "web-2")])
    news.add(event);
  assert.deepEqual(news.takeActs({ change: "created", name: "web-2" }), [act("create", "web-2")]);
  assert.deepEqual(news.takeActs({ change: "deleted", name: "web-2" }), [act("delete", "web-2")]);
  assert.deepEqual(news.takeActs({ change: "deleted", name: "web-2" }), []);
  assert.deepEqual(news.takeAll(), [act("create", "web-1")]);
});

test("what befell an event is taken after its write, and not before", () => {
  const news = new PendingNews();
  for (const event of [lost(4), act("create", "web-1"), lost(5)]) news.add(event);
  assert.deepEqual(news.takeIncidents(3), []);
  assert.deepEqual(news.takeIncidents(4), [lost(4)]);
  assert.deepEqual(news.takeAll(), [act("create", "web-1"), lost(5)]);
  assert.deepEqual(news.takeAll(), []);
});
