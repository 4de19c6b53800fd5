import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { NetworkError } from "../network.ts";
import { networkFailure } from "./network-failure.ts";

describe("networkFailure", () => {
  const cases: readonly { cause: unknown; code: string; says: RegExp }[] = [
    { cause: nodeError("EADDRINUSE"), code: "AddressInUse", says: /choose another port/ },
    { cause: nodeError("EADDRNOTAVAIL"), code: "AddressNotAvailable", says: /does not have that address/ },
    { cause: nodeError("EACCES"), code: "PermissionDenied", says: /port above 1023/ },
    { cause: nodeError("EPERM"), code: "PermissionDenied", says: /packet filter/ },
    { cause: nodeError("ECONNREFUSED"), code: "Refused", says: /nothing listens there/ },
    { cause: nodeError("EHOSTUNREACH"), code: "Unreachable", says: /routes/ },
    { cause: nodeError("ENOTFOUND"), code: "Unreachable", says: /name does not exist/ },
    { cause: nodeError("EMFILE"), code: "Unreachable", says: /raise its limits/ },
    { cause: nodeError("ETIMEDOUT"), code: "Timeout", says: /no answer/ },
    { cause: nodeError("ECONNRESET"), code: "Broken", says: /connect again/ },
    { cause: nodeError("DEPTH_ZERO_SELF_SIGNED_CERT"), code: "Broken", says: /check the CA/ },
    { cause: nodeError("ERR_TLS_CERT_ALTNAME_INVALID"), code: "Broken", says: /names in it/ },
    {
      cause: new AggregateError([nodeError("ECONNREFUSED"), nodeError("ETIMEDOUT")]),
      code: "Refused",
      says: /listens/,
    },
    { cause: new Error("something else"), code: "Broken", says: /something else/ },
    { cause: "no error at all", code: "Broken", says: /no error at all/ },
  ];
  for (const { cause, code, says } of cases) {
    it(`takes ${describeCause(cause)} for ${code}`, () => {
      const error = networkFailure("cannot listen on 127.0.0.1:53", cause);
      assert.equal(error.code, code);
      assert.equal(error.cause, cause);
      assert.match(error.message, /^cannot listen on 127\.0\.0\.1:53: /);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /\n/);
    });
  }

  it("leaves a NetworkError as it is", () => {
    const error = new NetworkError("Closed", "closed");
    assert.equal(networkFailure("cannot do it", error), error);
  });
});

function nodeError(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code });
}

function describeCause(cause: unknown): string {
  if (cause instanceof AggregateError) return "several errors";
  return cause instanceof Error ? cause.message : String(cause);
}
