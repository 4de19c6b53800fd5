import assert from "node:assert/strict";
import { test } from "node:test";
import { pinoLogger, prettyLine } from "./pino-logger.ts";

test("a line is JSON with a constant message and fields, those of the parent included", () => {
  const lines: string[] = [];
  const log = pinoLogger({ format: "json", level: "info", write: (line) => void lines.push(line) });
  log.child({ cluster: "eu" }).warn("peer unreachable", { peer: "us" });
  log.debug("not at this level");
  const { time, ...rest } = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(rest, { level: "warn", cluster: "eu", msg: "peer unreachable", peer: "us" });
  assert.equal(lines.length, 1);
});

test("an error keeps its message, code and cause", () => {
  const lines: string[] = [];
  const log = pinoLogger({ format: "json", level: "info", write: (line) => void lines.push(line) });
  log.error("could not start", {
    error: Object.assign(new Error("no port", { cause: new Error("why") }), { code: "X" }),
  });
  const { error } = JSON.parse(lines[0] ?? "") as { error: Record<string, unknown> };
  assert.equal(error["code"], "X");
  assert.equal(error["message"], "no port: why");
  log.error("again", { error: new Error("no port: why", { cause: new Error("why") }) });
  assert.match(lines[1] ?? "", /"message":"no port: why"/, "what is told already is not told again");
});

for (const fields of [
  { token: "s3cret" },
  { request: { authorization: "Bearer s3cret" } },
  { tls: { privateKeyPem: "s3cret" } },
]) {
  test(`a secret is not written (${Object.keys(fields).join()})`, () => {
    const lines: string[] = [];
    const log = pinoLogger({ format: "json", level: "info", write: (line) => void lines.push(line) });
    log.info("came in", fields);
    assert.doesNotMatch(lines.join(""), /s3cret/);
    assert.match(lines.join(""), /\[hidden\]/);
  });
}

test("a pretty line shows time, level, message and fields", () => {
  const json = `{"level":"info","time":"2026-11-30T10:08:55.123Z","cluster":"eu","why":"a b","n":2,"msg":"zone ready"}`;
  assert.equal(prettyLine(json), `10:08:55.123 INFO  zone ready cluster=eu why="a b" n=2\n`);
});

test("a pretty line has of a known error its message, and of any other the stack in lines of its own", () => {
  const lines: string[] = [];
  const log = pinoLogger({ format: "pretty", level: "info", write: (line) => void lines.push(line) });
  const error = Object.assign(new Error("nothing listens there"), { code: "Refused" });
  log.warn("list failed", { error, of: "pods" });
  assert.match(lines[0] ?? "", /^\S+ WARN  list failed error="nothing listens there" of=pods\n$/);
  log.error("broken", { error: new TypeError("x is undefined") });
  assert.match(
    lines[1] ?? "",
    /^\S+ ERROR broken error="x is undefined"\nTypeError: x is undefined\n    at /,
  );
});
