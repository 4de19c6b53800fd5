import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import { protobuf } from "../protobuf/protobuf.ts";
import { recordedAnswers } from "../testdata/recorded-answers.ts";
import type { ApiError } from "./api-error.ts";
import { apiErrorOf, retryAfterMs } from "./response-status.ts";

const errorOf = (status: object | string): ApiError =>
  apiErrorOf({
    code: 429,
    headers: {},
    body: new TextEncoder().encode(typeof status === "string" ? status : JSON.stringify(status)),
    subject: { verb: "get", resource: "pods", namespace: "n", name: "a" },
  });

test("a Status with fields of other types than the API's is an error like any other", () => {
  const noText = { toString: 1, valueOf: 1 };
  for (const strange of [noText, 5, null, true, ["x"]]) {
    const error = errorOf({
      kind: "Status",
      message: strange,
      reason: strange,
      details: { causes: strange },
    });
    assert.equal(error.name, "ApiError");
    assert.deepEqual([error.code, error.reason], [429, ""]);
    assert.match(error.message, /^cannot get pods n\/a: refused without a word/);
  }
  for (const details of [null, "x", 5]) assert.deepEqual(errorOf({ kind: "Status", details }).details, {});
  assert.equal(errorOf(`{"kind":"Status","message":"m","__proto__":{"code":200}}`).code, 429);
});

test("a Status that comes in another form than JSON is the same error", () => {
  const { json, protobuf: body } = recordedAnswers.refusal;
  const subject = { verb: "list", resource: "configmaps" };
  const format = protobuf.of(configMapType);
  const error = apiErrorOf({ code: 400, headers: {}, body, subject, format });
  assert.deepEqual(error.status, json);
  const broken = apiErrorOf({ code: 400, headers: {}, body: body.subarray(0, 30), subject, format });
  assert.deepEqual([broken.code, broken.reason], [400, "BadRequest"]);
});

test("a wait that is no number of seconds is none", () => {
  for (const retryAfterSeconds of ["NaN", "x", "5", {}, null, true, -1, 0, 0.000001, 1e300]) {
    const error = errorOf({ kind: "Status", details: { retryAfterSeconds } });
    assert.equal(retryAfterMs(error), undefined, JSON.stringify(retryAfterSeconds));
  }
  assert.equal(retryAfterMs(errorOf({ kind: "Status", details: { retryAfterSeconds: 5 } })), 5_000);
});

test("no answer makes a message that fills a log", () => {
  const long = "m".repeat(10_000_000);
  for (const body of [long, { kind: "Status", message: long, reason: long }]) {
    const error = errorOf(body);
    assert.ok(error.message.length < 100_000);
    assert.ok(error.reason.length < 100_000);
  }
});
