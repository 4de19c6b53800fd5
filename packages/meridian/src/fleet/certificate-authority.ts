import "reflect-metadata";
import { webcrypto } from "node:crypto";
import type { Runtime } from "@meridian/runtime";
import * as x509 from "@peculiar/x509";

/** A certificate and its private key, as PEM texts. */
export interface Identity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Whose certificate it is, and the addresses that it is for. */
export interface ServerIdentityOptions {
  readonly commonName: string;
  readonly addresses: readonly string[];
}

const algorithm: webcrypto.EcKeyGenParams & webcrypto.EcdsaParams = {
  name: "ECDSA",
  namedCurve: "P-256",
  hash: "SHA-256",
};
const dayMs = 24 * 60 * 60 * 1000;
const caDays = 3650;
const serverDays = 365;
/** An identity that ends sooner than this is replaced at the next start. */
const renewDays = 30;
/** Clocks of machines that share a folder differ. */
const backdateMs = 60 * 60 * 1000;

/** Makes the playground's own CA (ECDSA P-256). */
export async function createCertificateAuthority(runtime: Runtime): Promise<Identity> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(runtime),
      name: "CN=Meridian playground CA",
      ...validity(runtime, caDays),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return toIdentity(certificate, keys.privateKey);
}

/** Makes a server's identity: its addresses stand in the certificate, since clients connect by address. */
export async function createServerIdentity(
  runtime: Runtime,
  authority: Identity,
  options: ServerIdentityOptions,
): Promise<Identity> {
  const keys = await generateKeys();
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const names = [
    ...options.addresses.map((address) => ({ type: "ip" as const, value: address })),
    { type: "dns" as const, value: "localhost" },
    { type: "dns" as const, value: "kubernetes.default.svc" },
  ];
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(runtime),
      subject: `CN=${options.commonName}`,
      issuer: issuer.subject,
      ...validity(runtime, serverDays),
      publicKey: keys.publicKey,
      signingKey: await importPrivateKey(authority.privateKeyPem),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names),
        await x509.AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return toIdentity(certificate, keys.privateKey);
}

/** Whether a stored CA can go on serving: whole, one pair, and far from its end. */
export async function authorityUsable(runtime: Runtime, authority: Identity): Promise<boolean> {
  return usable(runtime, authority, new x509.X509Certificate(authority.certificatePem));
}

/** Whether a stored server identity can go on serving: signed by this CA, for these addresses, and far from its end. */
export async function serverIdentityUsable(
  runtime: Runtime,
  identity: Identity,
  wanted: { readonly authority: Identity; readonly addresses: readonly string[] },
): Promise<boolean> {
  const certificate = new x509.X509Certificate(identity.certificatePem);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  const addresses = names.filter((name) => name.type === "ip").map((name) => name.value);
  if (addresses.join() !== wanted.addresses.join()) return false;
  return usable(runtime, identity, new x509.X509Certificate(wanted.authority.certificatePem));
}

async function usable(runtime: Runtime, identity: Identity, issuer: x509.X509Certificate): Promise<boolean> {
  const certificate = new x509.X509Certificate(identity.certificatePem);
  const now = runtime.clock.now();
  if (certificate.notAfter.getTime() - now < renewDays * dayMs || certificate.notBefore.getTime() > now)
    return false;
  if (!(await certificate.verify({ publicKey: issuer.publicKey, signatureOnly: true }, webcrypto)))
    return false;
  return keysMatch(certificate, identity.privateKeyPem);
}

/** A crash between writing the two files leaves a pair that does not fit. */
async function keysMatch(certificate: x509.X509Certificate, privateKeyPem: string): Promise<boolean> {
  const privateKey = await importPrivateKey(privateKeyPem);
  const publicKey = await certificate.publicKey.export(algorithm, ["verify"], webcrypto);
  const probe = new TextEncoder().encode("probe");
  const signature = await webcrypto.subtle.sign(algorithm, privateKey, probe);
  return webcrypto.subtle.verify(algorithm, publicKey, signature, probe);
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function importPrivateKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = x509.PemConverter.decodeFirst(pem);
  return webcrypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
}

async function toIdentity(
  certificate: x509.X509Certificate,
  privateKey: webcrypto.CryptoKey,
): Promise<Identity> {
  const der = await webcrypto.subtle.exportKey("pkcs8", privateKey);
  return {
    certificatePem: `${certificate.toString("pem")}\n`,
    privateKeyPem: `${x509.PemConverter.encode(der, "PRIVATE KEY")}\n`,
  };
}

function serialNumber(runtime: Runtime): string {
  const octets = runtime.random.bytes(16);
  octets[0] = (octets[0] ?? 0) & 0x7f || 1; // positive and without a leading zero (RFC 5280 §4.1.2.2)
  return Buffer.from(octets).toString("hex");
}

function validity(runtime: Runtime, days: number): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = runtime.clock.now();
  return { notBefore: new Date(now - backdateMs), notAfter: new Date(now + days * dayMs) };
}
