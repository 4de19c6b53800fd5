import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { silentLogger, type Runtime } from "@meridian/runtime";
import {
  authorityUsable,
  createCertificateAuthority,
  createServerIdentity,
  serverIdentityUsable,
} from "./certificate-authority.ts";

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.UTC(2026, 10, 30);

function runtimeAt(now: number): Runtime {
  return {
    clock: { now: () => now },
    random: { bytes: (length: number) => new Uint8Array(length).fill(7) },
    log: silentLogger,
  } as unknown as Runtime;
}

const authority = await createCertificateAuthority(runtimeAt(start));
const addresses = ["127.0.10.1"];
const identity = await createServerIdentity(runtimeAt(start), authority, { commonName: "eu", addresses });

test("a server's certificate is signed by the CA and names its addresses", () => {
  const certificate = new X509Certificate(identity.certificatePem);
  const ca = new X509Certificate(authority.certificatePem);
  assert(certificate.checkIssued(ca) && certificate.verify(ca.publicKey));
  assert.equal(certificate.checkIP("127.0.10.1"), "127.0.10.1");
  assert.equal(certificate.checkIP("127.0.10.2"), undefined);
  assert(ca.ca && !certificate.ca);
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
});

const other = await createServerIdentity(runtimeAt(start), authority, { commonName: "eu", addresses });
const otherAuthority = await createCertificateAuthority(runtimeAt(start));

const cases = [
  { name: "fresh", expect: true },
  { name: "for another address", wanted: { authority, addresses: ["127.0.11.1"] }, expect: false },
  { name: "of another CA", wanted: { authority: otherAuthority, addresses }, expect: false },
  { name: "31 days before its end", now: start + (365 - 31) * dayMs, expect: true },
  { name: "29 days before its end", now: start + (365 - 29) * dayMs, expect: false },
  { name: "from the future", now: start - dayMs, expect: false },
  {
    name: "with the key of another",
    identity: { certificatePem: identity.certificatePem, privateKeyPem: other.privateKeyPem },
    expect: false,
  },
];

for (const { name, expect, ...given } of cases) {
  test(`a server identity ${name} is ${expect ? "kept" : "replaced"}`, async () => {
    const runtime = runtimeAt(given.now ?? start);
    const wanted = given.wanted ?? { authority, addresses };
    assert.equal(await serverIdentityUsable(runtime, given.identity ?? identity, wanted), expect);
  });
}

test("a CA is kept until a month before its end", async () => {
  assert(await authorityUsable(runtimeAt(start + 3600 * dayMs), authority));
  assert(!(await authorityUsable(runtimeAt(start + 3630 * dayMs), authority)));
});
