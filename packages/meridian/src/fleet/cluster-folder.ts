import { join } from "node:path";
import type { Runtime } from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";
import { makePrivateFolder } from "./make-folder.ts";
import {
  authorityUsable,
  createCertificateAuthority,
  createServerIdentity,
  serverIdentityUsable,
  type Identity,
} from "./certificate-authority.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { peerKeyFileName } from "./peer-key.ts";
import { readTextIfPresent, replacePrivateFile } from "./private-file.ts";

/** What a server of a cluster needs from its folder. */
export interface ClusterIdentity {
  readonly token: string;
  readonly server: Identity;
  readonly caPem: string;
  /** The TSIG key of the fleet as a key file; absent for a server that is no part of one. */
  readonly peerKey?: string;
}

/** What was made ready, and where its kubeconfig stands. */
export interface PreparedFolder extends ClusterIdentity {
  readonly kubeconfigPath: string;
}

/** What a cluster's folder is to be made for. */
export interface WantedFolder {
  readonly name: string;
  readonly address: string;
  /** `https://address:port` for the kubeconfig. */
  readonly server: string;
  readonly authority: Identity;
  /** A token that is kept elsewhere. */
  readonly token?: string;
  /** The TSIG key of the fleet. */
  readonly peerKey?: string;
}

const tokenBytes = 32;

/** The CA of a data folder; made at the first start, and anew shortly before its end. */
export async function prepareAuthority(runtime: Runtime, folder: string): Promise<Identity> {
  const paths = identityPaths(folder, "ca");
  const stored = await readIdentity(paths);
  if (stored !== undefined && (await usableOrFalse(authorityUsable(runtime, stored)))) return stored;
  const created = await createCertificateAuthority(runtime);
  await writeIdentity(paths, created);
  return created;
}

/** Brings a cluster's folder up to date: the token is kept for ever, the certificate while it serves, the kubeconfig follows. */
export async function prepareClusterFolder(
  runtime: Runtime,
  folder: string,
  wanted: WantedFolder,
): Promise<PreparedFolder> {
  await makePrivateFolder(folder);
  const token = wanted.token ?? (await prepareToken(runtime, join(folder, "token")));
  const server = await prepareServerIdentity(runtime, folder, wanted);
  await replacePrivateFile(join(folder, "ca.crt"), wanted.authority.certificatePem);

  const { peerKey } = wanted;
  if (peerKey !== undefined) await replacePrivateFile(join(folder, peerKeyFileName), peerKey);

  const kubeconfigPath = join(folder, "kubeconfig");
  const caPem = wanted.authority.certificatePem;
  await replacePrivateFile(
    kubeconfigPath,
    kubeconfigText({ cluster: wanted.name, server: wanted.server, caPem, token }),
  );
  return { token, server, caPem, ...(peerKey === undefined ? {} : { peerKey }), kubeconfigPath };
}

/** Reads what `prepareClusterFolder` wrote. @throws MeridianError `BadFile` */
export async function readClusterIdentity(folder: string): Promise<ClusterIdentity> {
  const server = await readIdentity(identityPaths(folder, "tls"));
  const token = await readTextIfPresent(join(folder, "token"));
  const caPem = await readTextIfPresent(join(folder, "ca.crt"));
  if (server === undefined || token === undefined || caPem === undefined) {
    throw new MeridianError(
      "BadFile",
      `${folder} lacks tls.crt, tls.key, token or ca.crt; start again with "npx meridian up"`,
    );
  }
  const peerKey = await readTextIfPresent(join(folder, peerKeyFileName));
  return { server, token: token.trim(), caPem, ...(peerKey === undefined ? {} : { peerKey }) };
}

/** What a bearer token may be made of (RFC 6750 §2.1). */
const tokenPattern = /^[A-Za-z0-9._~+/-]+=*$/;

/** A token in a file: the one there, or a new random one. @throws MeridianError `BadFile` */
async function prepareToken(runtime: Runtime, path: string): Promise<string> {
  const stored = (await readTextIfPresent(path))?.trim();
  if (stored !== undefined && stored !== "") {
    if (tokenPattern.test(stored)) return stored;
    throw new MeridianError(
      "BadFile",
      `${path} holds no bearer token; restore it, or remove it to have a new one made`,
    );
  }
  const created = Buffer.from(runtime.random.bytes(tokenBytes)).toString("base64url");
  await replacePrivateFile(path, `${created}\n`);
  return created;
}

async function prepareServerIdentity(
  runtime: Runtime,
  folder: string,
  wanted: { readonly name: string; readonly address: string; readonly authority: Identity },
): Promise<Identity> {
  const paths = identityPaths(folder, "tls");
  const addresses = [wanted.address];
  const stored = await readIdentity(paths);
  const usable =
    stored !== undefined &&
    (await usableOrFalse(serverIdentityUsable(runtime, stored, { authority: wanted.authority, addresses })));
  if (usable) return stored;
  const created = await createServerIdentity(runtime, wanted.authority, {
    commonName: wanted.name,
    addresses,
  });
  await writeIdentity(paths, created);
  return created;
}

interface IdentityPaths {
  readonly certificate: string;
  readonly privateKey: string;
}

function identityPaths(folder: string, name: string): IdentityPaths {
  return { certificate: join(folder, `${name}.crt`), privateKey: join(folder, `${name}.key`) };
}

async function readIdentity(paths: IdentityPaths): Promise<Identity | undefined> {
  const certificatePem = await readTextIfPresent(paths.certificate);
  const privateKeyPem = await readTextIfPresent(paths.privateKey);
  return certificatePem === undefined || privateKeyPem === undefined
    ? undefined
    : { certificatePem, privateKeyPem };
}

async function writeIdentity(paths: IdentityPaths, identity: Identity): Promise<void> {
  await replacePrivateFile(paths.privateKey, identity.privateKeyPem);
  await replacePrivateFile(paths.certificate, identity.certificatePem);
}

/** A file that a person damaged cannot be parsed: it is replaced like one that has ended. */
async function usableOrFalse(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch {
    return false;
  }
}
