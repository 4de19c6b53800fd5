import { createPrivateKey, X509Certificate } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  foldNameText,
  keyFromFiles,
  parseTsigKey,
  parseTsigKeyFile,
  type CookieSecretOctets,
  type ForeignKey,
  type SigningKey,
  type SigningKeys,
  type TsigKey,
} from "@meridian/dns";
import type { TlsServerIdentity } from "@meridian/runtime";
import { systemCodeOf } from "../fleet/private-file.ts";
import { messageOf } from "../meridian-error.ts";
import type { DnsSettings, KeyReference, KeySettings, NamedFile, SigningSettings } from "./dns-settings.ts";

/** What the files that the settings name hold. */
export interface DnsMaterials {
  /** By name, folded. */
  readonly keys: ReadonlyMap<string, TsigKey>;
  readonly cookies: CookieSecretOctets | undefined;
  readonly identity: TlsServerIdentity | undefined;
  /** PEM texts by path. */
  readonly cas: ReadonlyMap<string, string>;
}

const cookieSecretsMax = 3;

/**
 * Reads keys, certificates and cookie secrets, and checks that every key that is named is there. What is wrong is added to
 * `problems`, without a word of a secret.
 */
export async function readMaterials(settings: DnsSettings, problems: string[]): Promise<DnsMaterials> {
  const keys = new Map<string, TsigKey>();
  const unread: KeySettings[] = [];
  // A key that is listed but could not be read is one problem, not one more for each place that names it.
  const mayBeUnread = (name: string): boolean =>
    unread.some((each) => each.kind === "named" && foldNameText(each.name) === foldNameText(name));
  for (const each of settings.keys) {
    const read = await readKeys(each, problems);
    if (read.length === 0) unread.push(each);
    for (const key of read) {
      const at = each.kind === "named" ? each.at : each.file.at;
      if (keys.has(key.name)) problems.push(`${at}: there is another key ${key.name}; keep one`);
      keys.set(key.name, key);
    }
  }
  for (const { name, at } of keyReferences(settings))
    if (!keys.has(foldNameText(name)) && !mayBeUnread(name))
      problems.push(`${at}: there is no key ${name}; list it under keys`);
  const { cookieSecrets, tls } = settings;
  const cas = new Map<string, string>();
  for (const zone of settings.zones) {
    for (const { tls: primaryTls } of zone.kind === "secondary" ? zone.primaries : []) {
      const pem = primaryTls?.ca && (await readNamed(primaryTls.ca, problems));
      if (pem !== undefined) cas.set(primaryTls!.ca!.path, pem);
    }
  }
  return {
    keys,
    cookies: cookieSecrets && (await readCookies(cookieSecrets, problems)),
    identity: tls && (await readIdentity(tls, problems)),
    cas,
  };
}

/** The text of a file; where it cannot be read that is a problem. */
async function readNamed(file: NamedFile, problems: string[]): Promise<string | undefined> {
  try {
    return await readFile(file.path, "utf8");
  } catch (error) {
    problems.push(unreadable(file, error));
    return undefined;
  }
}

/** One line: where the file is named, and why it cannot be read. */
export function unreadable({ path, at }: NamedFile, error: unknown): string {
  return `${at}: cannot read ${path} (${systemCodeOf(error)}); name a file that is there and that this user may read`;
}

function* keyReferences({ zones }: DnsSettings): Generator<KeyReference> {
  for (const zone of zones) {
    const rules = zone.kind === "file" ? (zone.updates?.rules ?? []) : [];
    const primaries = zone.kind === "secondary" ? zone.primaries : [];
    for (const { key } of [...zone.transfers, ...zone.notify, ...rules, ...primaries])
      if (key !== undefined) yield key;
  }
}

async function readKeys(settings: KeySettings, problems: string[]): Promise<readonly TsigKey[]> {
  if (settings.kind === "file") {
    const text = await readNamed(settings.file, problems);
    if (text === undefined) return [];
    try {
      const keys = parseTsigKeyFile(text);
      if (keys.length === 0) problems.push(`${settings.file.at}: ${settings.file.path} holds no key`);
      return keys;
    } catch {
      // The cause may quote a piece of the text.
      problems.push(
        `${settings.file.at}: ${settings.file.path} holds no keys of HMAC-SHA-2 as tsig-keygen writes them`,
      );
      return [];
    }
  }
  const { name, algorithm, secret, at } = settings;
  const text = typeof secret === "string" ? secret : await readNamed(secret, problems);
  if (text === undefined) return [];
  try {
    return [parseTsigKey({ name, algorithm, secret: text.trim() })];
  } catch (error) {
    problems.push(`${at}: ${messageOf(error)}`);
    return [];
  }
}

async function readCookies(file: NamedFile, problems: string[]): Promise<CookieSecretOctets | undefined> {
  const text = await readNamed(file, problems);
  if (text === undefined) return undefined;
  const lines = text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");
  const [active, ...accepted] = lines.map((line) => Uint8Array.from(Buffer.from(line, "hex")));
  if (
    active === undefined ||
    lines.length > cookieSecretsMax ||
    !lines.every((line) => /^[0-9a-fA-F]{32}$/.test(line))
  ) {
    problems.push(
      `${file.at}: ${file.path} must hold one to ${cookieSecretsMax} lines of 32 hexadecimal digits, as openssl rand -hex 16 writes; the first makes cookies, all are believed`,
    );
    return undefined;
  }
  return { active, accepted };
}

async function readIdentity(
  { certificate, privateKey }: { readonly certificate: NamedFile; readonly privateKey: NamedFile },
  problems: string[],
): Promise<TlsServerIdentity | undefined> {
  const certificatePem = await readNamed(certificate, problems);
  const privateKeyPem = await readNamed(privateKey, problems);
  if (certificatePem === undefined || privateKeyPem === undefined) return undefined;
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificatePem);
  } catch {
    problems.push(`${certificate.at}: ${certificate.path} is no certificate in PEM`);
    return undefined;
  }
  try {
    if (parsed.checkPrivateKey(createPrivateKey(privateKeyPem))) return { certificatePem, privateKeyPem };
    problems.push(`${privateKey.at}: ${privateKey.path} is not the key of ${certificate.path}; give a pair`);
  } catch {
    problems.push(`${privateKey.at}: ${privateKey.path} is no private key in PEM without a passphrase`);
  }
  return undefined;
}

/** The keys of a zone in its folder, and those of others. */
export async function readSigningKeys(
  origin: string,
  { keys, foreignKeys }: SigningSettings,
  problems: string[],
): Promise<SigningKeys | undefined> {
  const own: SigningKey[] = [];
  const before = problems.length;
  try {
    if (!(await stat(keys.path)).isDirectory()) {
      problems.push(`${keys.at}: ${keys.path} is a file; name the folder of the key files`);
      return undefined;
    }
    const names = (await readdir(keys.path)).filter((name) =>
      name.toLowerCase().startsWith(`k${origin === "." ? "" : origin}.+`),
    );
    for (const name of names.filter((each) => each.endsWith(".private")).sort()) {
      const pair = [name.replace(/private$/, "key"), name].map((file) => ({
        path: join(keys.path, file),
        at: keys.at,
      }));
      const [publicText, privateText] = await Promise.all(pair.map((file) => readNamed(file, problems)));
      if (publicText === undefined || privateText === undefined) continue;
      try {
        own.push(keyFromFiles(origin, { publicText, privateText }));
      } catch (error) {
        problems.push(`${keys.at}: ${join(keys.path, name)}: ${messageOf(error)}`);
      }
    }
  } catch (error) {
    problems.push(unreadable(keys, error));
    return undefined;
  }
  const foreign: ForeignKey[] = [];
  for (const file of foreignKeys) {
    const text = await readNamed(file, problems);
    if (text !== undefined) foreign.push(...readForeignKeys(file, { text, problems }));
  }
  if (problems.length > before) return undefined;
  if (own.length > 0) return { own, foreign };
  problems.push(
    `${keys.at}: ${keys.path} has no key of ${origin}; make one by meridian dns keygen --zone ${origin} --folder ${keys.path}`,
  );
  return undefined;
}

/** DNSKEY records as in a `.key` file; those with the SEP flag want a DS record. */
function readForeignKeys(
  file: NamedFile,
  { text, problems }: { readonly text: string; readonly problems: string[] },
): readonly ForeignKey[] {
  const keys: ForeignKey[] = [];
  for (const match of text.matchAll(
    /^[^;\s]\S*\s+(?:\d+\s+)?(?:IN\s+)?DNSKEY\s+(\d+)\s+(\d+)\s+(\d+)\s+([A-Za-z0-9+/=\t ]+)/gim,
  )) {
    const [flags = 0, protocol = 0, algorithm = 0] = match.slice(1, 4).map(Number);
    const key = Buffer.from(match[4]!.replace(/\s/g, ""), "base64");
    const dnskey = Uint8Array.of(flags >>> 8, flags & 0xff, protocol, algorithm, ...key);
    keys.push({ dnskey, wantsDs: (flags & 1) !== 0 });
  }
  if (keys.length === 0)
    problems.push(`${file.at}: ${file.path} has no DNSKEY record on one line; take the file ending in .key`);
  return keys;
}
