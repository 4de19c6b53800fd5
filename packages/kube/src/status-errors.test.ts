import assert from "node:assert/strict";
import { test } from "node:test";
import {
  duplicate,
  forbiddenField,
  goQuote,
  invalidValue,
  notSupported,
  omitted,
  required,
  tooLong,
  tooMany,
} from "./field-error.ts";
import type { Status } from "./status.ts";
import {
  accessDenied,
  alreadyExists,
  conflict,
  expired,
  forbidden,
  invalid,
  namespaceTerminating,
  notFound,
  statusOf,
  tooLargeResourceVersion,
  tooOldResourceVersion,
  unauthorized,
} from "./status-errors.ts";
import { isExpired, isTooLargeResourceVersion } from "./status-error-checks.ts";

const gslbs = { group: "k8gb.io", plural: "gslbs" };
const gslb = { group: "k8gb.io", kind: "Gslb" };
const pods = { group: "", plural: "pods" };

const cases: readonly [error: { readonly status: Status }, expected: Partial<Status>][] = [
  [
    notFound(gslbs, "x"),
    {
      code: 404,
      reason: "NotFound",
      message: 'gslbs.k8gb.io "x" not found',
      details: { name: "x", group: "k8gb.io", kind: "gslbs" },
    },
  ],
  [notFound(pods, "x"), { code: 404, message: 'pods "x" not found', details: { name: "x", kind: "pods" } }],
  [
    alreadyExists(gslbs, "x"),
    { code: 409, reason: "AlreadyExists", message: 'gslbs.k8gb.io "x" already exists' },
  ],
  [
    alreadyExists(gslbs, "x", { deleting: true }),
    { message: 'object is being deleted: gslbs.k8gb.io "x" already exists' },
  ],
  [
    conflict(gslbs, "x"),
    {
      code: 409,
      reason: "Conflict",
      message:
        'Operation cannot be fulfilled on gslbs.k8gb.io "x": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: "x", group: "k8gb.io", kind: "gslbs" },
    },
  ],
  [
    invalid(gslb, "x", [invalidValue("spec.foo", "y", "must be z")]),
    {
      code: 422,
      reason: "Invalid",
      message: 'Gslb.k8gb.io "x" is invalid: spec.foo: Invalid value: "y": must be z',
      details: {
        name: "x",
        group: "k8gb.io",
        kind: "Gslb",
        causes: [
          { reason: "FieldValueInvalid", message: 'Invalid value: "y": must be z', field: "spec.foo" },
        ],
      },
    },
  ],
  [
    invalid(gslb, "x", [required("spec.a"), required("spec.a"), tooMany("spec.b", 5, 3)]),
    {
      message:
        'Gslb.k8gb.io "x" is invalid: [spec.a: Required value, spec.b: Too many: 5: must have at most 3 items]',
    },
  ],
  [unauthorized(), { code: 401, reason: "Unauthorized", message: "Unauthorized" }],
  [
    forbidden(gslbs, "x", "no"),
    { code: 403, reason: "Forbidden", message: 'gslbs.k8gb.io "x" is forbidden: no' },
  ],
  [
    accessDenied({ user: "u", verb: "get", resource: gslbs, name: "x", namespace: "n" }),
    {
      message:
        'gslbs.k8gb.io "x" is forbidden: User "u" cannot get resource "gslbs" in API group "k8gb.io" in the namespace "n"',
    },
  ],
  [
    accessDenied({ user: "u", verb: "list", resource: pods }),
    {
      message: 'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope',
    },
  ],
  [
    accessDenied({ user: "u", verb: "get", path: "/metrics" }),
    { message: 'forbidden: User "u" cannot get path "/metrics"' },
  ],
  [expired("gone", { continueToken: "t" }), { code: 410, reason: "Expired", metadata: { continue: "t" } }],
  [tooOldResourceVersion("3", "7"), { code: 410, message: "too old resource version: 3 (7)" }],
  [
    tooLargeResourceVersion("9", "7"),
    {
      code: 504,
      reason: "Timeout",
      message: "Timeout: Too large resource version: 9, current: 7",
      details: {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      },
    },
  ],
];

for (const [error, expected] of cases) {
  test(`${error.status.code} ${error.status.message}`, () => {
    assert.deepEqual({ ...error.status, ...expected }, error.status);
  });
}

test("a terminating namespace is told by its cause", () => {
  const { details } = namespaceTerminating(gslbs, "x", "n").status;
  assert.equal(details?.causes?.[0]?.reason, "NamespaceTerminating");
  assert.equal(details?.causes?.[0]?.field, "metadata.namespace");
});

test("what is expired and what is too large is recognised", () => {
  assert.equal(isExpired(expired("x")), true);
  assert.equal(isExpired(notFound(gslbs, "x")), false);
  assert.equal(isTooLargeResourceVersion(tooLargeResourceVersion("9", "7")), true);
  assert.equal(isTooLargeResourceVersion(new Error("x")), false);
});

test("any other error becomes an internal error", () => {
  assert.equal(statusOf(new Error("boom")).code, 500);
  assert.equal(statusOf(notFound(gslbs, "x")).code, 404);
});

const texts: readonly [cause: { readonly message?: string }, text: string][] = [
  [invalidValue("f", 5, "d"), "Invalid value: 5: d"],
  [invalidValue("f", true, "d"), "Invalid value: true: d"],
  [invalidValue("f", null, "d"), "Invalid value: null: d"],
  [invalidValue("f", { a: [1] }, "d"), 'Invalid value: {"a":[1]}: d'],
  [invalidValue("f", omitted, "d"), "Invalid value: d"],
  [required("f"), "Required value"],
  [required("f", "d"), "Required value: d"],
  [notSupported("f", "z", ["a", "b"]), 'Unsupported value: "z": supported values: "a", "b"'],
  [duplicate("f", "a"), 'Duplicate value: "a"'],
  [forbiddenField("f", "d"), "Forbidden: d"],
  [tooLong("f", 10), "Too long: may not be more than 10 bytes"],
  [tooMany("f", 5, 3), "Too many: 5: must have at most 3 items"],
  [tooMany("f", 2, 1), "Too many: 2: must have at most 1 item"],
];

for (const [cause, text] of texts) test(text, () => assert.equal(cause.message, text));

test("quoting follows Go", () => {
  assert.equal(goQuote('a"\\\n\u0001é\u00a0\u{1f600}'), '"a\\"\\\\\\n\\x01é\\u00a0\u{1f600}"');
});
