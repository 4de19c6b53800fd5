import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient } from "@meridian/runtime";
import { hex, stillClock } from "../testdata/case-zone.ts";
import { CookieSecrets } from "./cookie-secrets.ts";
import { ServerCookie } from "./server-cookie.ts";
import { SipHash } from "./sip-hash.ts";

test("SipHash-2-4 gives its authors' vector", () => {
  const hash = new SipHash(Uint8Array.from({ length: 16 }, (_, index) => index));
  hash.hash(
    Uint8Array.from({ length: 15 }, (_, index) => index),
    15,
  );
  assert.deepEqual([hash.high >>> 0, hash.low >>> 0], [0xa129ca61, 0x49be45e5]);
});

// RFC 9018 appendix A.
const vectors = [
  [
    "e5e973e5a6b2a43f48e7dc849e37bfcf",
    "2464c4abcf10c957",
    "198.51.100.100",
    1_559_731_985,
    "2464c4abcf10c957010000005cf79f111f8130c3eee29480",
  ],
  [
    "445536bcd2513298075a5d379663c962",
    "22681ab97d52c298",
    "2001:db8:220:1:59de:d0f4:8769:82b8",
    1_559_741_961,
    "22681ab97d52c298010000005cf7c609a6bb79d16625507a",
  ],
] as const;
for (const [secret, client, address, seconds, expected] of vectors) {
  test(`the cookie for ${address} is that of RFC 9018`, () => {
    const cookie = new ServerCookie({
      secret: hex(secret),
      clock: { ...stillClock, now: () => seconds * 1000 },
    });
    const output = new Uint8Array(24);
    assert.equal(
      cookie.write(output, 0, {
        input: hex(client),
        at: 0,
        client: new ReusedClient("udp", { address, port: 53 }),
      }),
      24,
    );
    assert.deepEqual(output, hex(expected));
  });
}

test("a cookie that was good is good again, from nobody else, not once changed, and not after its time or secret", () => {
  const [vector] = vectors;
  const [secret, , address, seconds, expected] = vector;
  let nowSeconds: number = seconds;
  const secrets = new CookieSecrets();
  secrets.set({ active: hex(secret) });
  const cookie = new ServerCookie({ secrets, clock: { ...stillClock, now: () => nowSeconds * 1000 } });
  const verdict = (from: string, octets: Uint8Array): string =>
    cookie.verify({
      input: octets,
      at: 0,
      length: 24,
      client: new ReusedClient("udp", { address: from, port: 53 }),
    });
  const good = hex(expected);
  assert.deepEqual([verdict(address, good), verdict(address, good)], ["valid", "valid"]);
  assert.equal(verdict("198.51.100.101", good), "bad");
  for (let at = 0; at < good.length; at++) {
    const changed = good.map((octet, index) => (index === at ? octet ^ 1 : octet));
    assert.equal(verdict(address, changed), "bad", `octet ${at}`);
  }
  nowSeconds += 3_601;
  assert.equal(verdict(address, good), "bad");
  nowSeconds = seconds;
  assert.equal(verdict(address, good), "valid");
  secrets.set({ active: new Uint8Array(16) });
  assert.equal(verdict(address, good), "bad");
});
