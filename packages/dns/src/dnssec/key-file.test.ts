import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";
import { steadyRandom } from "../testdata/case-zone.ts";
import { generateKey } from "./generate-key.ts";
import { keyFromFiles, keyFromPem, keyToFiles } from "./key-file.ts";
import { keyState } from "./signing-key.ts";

const at = Date.UTC(2026, 10, 30, 12) / 1000;
const key = generateKey(steadyRandom, {
  secureEntryPoint: true,
  times: { publish: at, activate: at + 60, retire: at + 120, remove: at + 180 },
});
const files = keyToFiles("p.test", key);

test("a key comes back from its files, with its times", () => {
  assert.deepEqual(keyFromFiles("P.test.", files), key);
});

test("a key passes through its states as its times say", () => {
  const states = [-1, 0, 60, 120, 180].map((seconds) => keyState(key, at + seconds));
  assert.deepEqual(states, ["hidden", "published", "active", "retired", "removed"]);
});

test("files without times are of a key that signs, and a Publish alone lets it wait", () => {
  const timeless = files.privateText.replace(/^(Created|Publish|Activate|Inactive|Delete):.*\n/gm, "");
  assert.equal(keyState(keyFromFiles("p.test", { ...files, privateText: timeless }), 0), "active");
  const waiting = files.privateText.replace(/^(Activate|Inactive|Delete):.*\n/gm, "");
  assert.equal(keyState(keyFromFiles("p.test", { ...files, privateText: waiting }), at + 1e9), "published");
});

for (const [what, change, problem] of [
  ["another zone's", { publicText: files.publicText.replace("p.test", "q.test") }, /is of zone q\.test/],
  [
    "another pair's",
    { publicText: keyToFiles("p.test", { ...key, publicKey: new Uint8Array(64) }).publicText },
    /is not that of/,
  ],
  [
    "another algorithm's",
    { privateText: files.privateText.replace("13 (ECDSAP256SHA256)", "8 (RSASHA256)") },
    /algorithm 8/,
  ],
  ["a file that is none", { privateText: "-----BEGIN" }, /Private-key-format/],
  [
    "a scalar of zero",
    { privateText: files.privateText.replace(/PrivateKey: .*/, `PrivateKey: ${"A".repeat(43)}=`) },
    /not a scalar/,
  ],
  [
    "a short scalar",
    { privateText: files.privateText.replace(/PrivateKey: .*/, "PrivateKey: AAAA") },
    /32 octets, not 3/,
  ],
  [
    "a bad text",
    { privateText: files.privateText.replace(/PrivateKey: .*/, "PrivateKey: se(ret") },
    /not base64/,
  ],
  [
    "times out of order",
    { privateText: files.privateText.replace(/Inactive: .*/, "Inactive: 20200101000000") },
    /follow each other/,
  ],
] as const) {
  test(`a key of ${what} is refused, without its secret in the message`, () => {
    assert.throws(
      () => keyFromFiles("p.test", { ...files, ...change }),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, "BadKey");
        assert.match(error.message, problem);
        assert.doesNotMatch(inspect(error), /se\(ret|BwcHBwcH/);
        return true;
      },
    );
  });
}

test("a key is read from PEM, PKCS8 and SEC1, and nothing but P-256", () => {
  const fields = { secureEntryPoint: false, times: { publish: 0, activate: 0 } };
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [pkcs8, sec1] = (["pkcs8", "sec1"] as const).map((type) =>
    keyFromPem(pair.privateKey.export({ format: "pem", type }) as string, fields),
  );
  assert.deepEqual(pkcs8, sec1);
  const other = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  assert.throws(() => keyFromPem(other, fields), { code: "BadKey" });
  assert.throws(() => keyFromPem("nothing", fields), { code: "BadKey" });
});
