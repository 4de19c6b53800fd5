import assert from "node:assert/strict";
import { test } from "node:test";
import { servePageFile } from "./page-files.ts";

const files = new Map([
  ["index.html", new TextEncoder().encode("<!doctype html>")],
  ["assets/a-1.js", new TextEncoder().encode("export {}")],
]);
const ask = (method: string, target: string, from: ReadonlyMap<string, Uint8Array> = files) =>
  servePageFile(from, {
    ...{ method, target, headers: {}, body: new Uint8Array(0) },
    client: { address: "127.0.0.1", port: 1 },
    signal: new AbortController().signal,
  });

const cases: readonly (readonly [method: string, target: string, status: number, type: string])[] = [
  ["GET", "/", 200, "text/html; charset=utf-8"],
  ["GET", "/?lang=ja", 200, "text/html; charset=utf-8"],
  ["HEAD", "/index.html", 200, "text/html; charset=utf-8"],
  ["GET", "/assets/a-1.js", 200, "text/javascript; charset=utf-8"],
  ["GET", "/assets/b.js", 404, "text/plain; charset=utf-8"],
  ["GET", "/assets/../index.html", 404, "text/plain; charset=utf-8"],
  ["GET", "//index.html", 404, "text/plain; charset=utf-8"],
  ["GET", "/%2e%2e/etc/passwd", 404, "text/plain; charset=utf-8"],
  ["POST", "/", 405, "text/plain; charset=utf-8"],
];
for (const [method, target, status, type] of cases) {
  test(`${method} ${target} is answered ${status}`, () => {
    const response = ask(method, target);
    assert.equal(response.status, status);
    assert.equal(response.headers["content-type"], type);
    if (method === "HEAD") assert.equal((response.body as Uint8Array).length, 0);
  });
}

test("a page that was not built says what to do", () => {
  const response = ask("GET", "/", new Map());
  assert.equal(response.status, 503);
  assert.match(new TextDecoder().decode(response.body as Uint8Array), /npm run build/);
});
