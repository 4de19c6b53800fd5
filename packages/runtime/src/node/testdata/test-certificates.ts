import "reflect-metadata";
import { webcrypto } from "node:crypto";

import * as x509 from "@peculiar/x509";

/** PEM texts for the tests of TLS, made anew for each run. */
export interface TestCertificates {
  readonly caPem: string;
  /** For 127.0.0.1 and localhost. */
  readonly server: PemIdentity;
  /** `CN=ada, O=engineers, O=mathematicians`. */
  readonly client: PemIdentity;
  /** As `client`, signed by somebody else. */
  readonly stranger: PemIdentity;
}

export interface PemIdentity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export async function createTestCertificates(): Promise<TestCertificates> {
  const authority = await createAuthority("CN=test CA");
  const otherAuthority = await createAuthority("CN=other CA");
  const names = new x509.SubjectAlternativeNameExtension([
    { type: "ip", value: "127.0.0.1" },
    { type: "dns", value: "localhost" },
  ]);
  const clientName = "CN=ada, O=engineers, O=mathematicians";
  return {
    caPem: authority.certificate.toString("pem"),
    server: await issue(authority, "CN=test server", [names]),
    client: await issue(authority, clientName, []),
    stranger: await issue(otherAuthority, clientName, []),
  };
}

interface Authority {
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly certificate: x509.X509Certificate;
}

async function createAuthority(name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const extensions = [new x509.BasicConstraintsExtension(true, undefined, true)];
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    { name, keys, signingAlgorithm: algorithm, extensions, ...validity() },
    webcrypto,
  );
  return { name, keys, certificate };
}

async function issue(
  authority: Authority,
  subject: string,
  extensions: x509.Extension[],
): Promise<PemIdentity> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject,
      issuer: authority.name,
      publicKey: keys.publicKey,
      signingKey: authority.keys.privateKey,
      signingAlgorithm: algorithm,
      extensions,
      ...validity(),
    },
    webcrypto,
  );
  const privateKey = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    certificatePem: certificate.toString("pem"),
    privateKeyPem: x509.PemConverter.encode(privateKey, "PRIVATE KEY"),
  };
}

function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  const dayMs = 86_400_000;
  return { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + dayMs) };
}
