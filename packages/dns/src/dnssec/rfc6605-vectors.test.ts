import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { rdataFromText, rdataToText } from "../message/rdata.ts";
import { typeA, typeDnskey, typeRrsig } from "../message/type-numbers.ts";
import { nameFromText } from "../name/name.ts";
import { CanonicalSet } from "./canonical-set.ts";
import { keyFromFiles, keyToFiles } from "./key-file.ts";
import { dnskeyOf, dsToText, keyTagOf } from "./signing-key.ts";

// RFC 6605 §6.1.

const privateText = `Private-key-format: v1.2
Algorithm: 13 (ECDSAP256SHA256)
PrivateKey: GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=
`;
const dnskey =
  "257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
const publicText = `; a comment\nexample.net. 3600 IN DNSKEY ${dnskey}\n`;

test("the key of RFC 6605 has its DNSKEY record, tag and DS record", () => {
  const key = keyFromFiles("example.net", { publicText, privateText });
  assert.equal(rdataToText(typeDnskey, dnskeyOf(key)), dnskey);
  assert.equal(keyTagOf(dnskeyOf(key)), 55648);
  assert.equal(
    dsToText("example.net", key),
    "55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17",
  );
  assert.equal(keyToFiles("example.net", key).baseName, "Kexample.net.+013+55648");
});

test("the signature of RFC 6605 is one over our canonical form", () => {
  const { publicKey } = keyFromFiles("example.net", { publicText, privateText });
  const signature = rdataFromText(
    typeRrsig,
    "A 13 3 3600 20100909100439 20100812100439 55648 example.net. " +
      "qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==",
  );
  const set = new CanonicalSet();
  const rdata = Uint8Array.of(192, 0, 2, 1);
  set.begin(nameFromText("www.example.net"), { type: typeA, ttl: 3600 });
  set.add(rdata, 0, rdata.length);
  set.finish();
  const signed = set.toSigned(signature.subarray(0, -64));
  const text = (octets: Uint8Array): string => Buffer.from(octets).toString("base64url");
  const [x, y] = [text(publicKey.subarray(0, 32)), text(publicKey.subarray(32))];
  const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  assert.ok(verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature.subarray(-64)));
  signed[signed.length - 1]! ^= 1;
  assert.ok(!verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature.subarray(-64)));
});
