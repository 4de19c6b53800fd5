import assert from "node:assert/strict";
import { test } from "node:test";
import { consoleLogger } from "./console-logger.ts";

function printed(...args: Parameters<typeof consoleLogger>): {
  readonly lines: string[];
  readonly log: ReturnType<typeof consoleLogger>;
} {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line.replace(/^\S+Z /, ""));
  return { lines, log: consoleLogger({ write, ...args[0] }) };
}

test("a line has its level, its message and its fields, those of its parents first", () => {
  const { lines, log } = printed();
  log.child({ controller: "greeting" }).info("it works", { key: "a/b", count: 2, absent: undefined });
  assert.deepEqual(lines, ["INFO  it works controller=greeting key=a/b count=2\n"]);
});

test("text with spaces is quoted, and so is that of an error, with its causes", () => {
  const { lines, log } = printed();
  const error = new Error("cannot read", { cause: new Error("no such file") });
  log.error("failed", { why: "two words", error, list: [1, 2] });
  assert.deepEqual(lines, ['ERROR failed why="two words" error="cannot read: no such file" list=[1,2]\n']);
});

test("what cannot be written as JSON is written as text", () => {
  const { lines, log } = printed();
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  log.warn("odd", { circle, big: 1n });
  assert.deepEqual(lines, ["WARN  odd circle=[object Object] big=1\n"]);
});

test("less than the level is not printed", () => {
  const { lines, log } = printed({ level: "warn" });
  log.debug("no");
  log.info("no");
  log.warn("yes");
  assert.deepEqual(lines, ["WARN  yes\n"]);
});
