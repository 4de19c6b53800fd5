import {
  DnsError,
  keyFromFiles,
  parseTsigKeyFile,
  type CookieSecretOctets,
  type SigningKey,
  type TsigKey,
} from "@meridian/dns";
import type { Secret } from "@meridian/kube";

/** The label of Secrets in the operator's namespace that hold keys of the DNS server; its value says of which kind. */
export const dnsKeysLabel = "meridian/dns-keys";

/** What one Secret, or several together, give the DNS server. */
export interface DnsKeys {
  readonly tsig: readonly TsigKey[];
  /** Sign updates of parent zones; the own DNS server does not know them. */
  readonly parent: readonly TsigKey[];
  readonly cookies: CookieSecretOctets | undefined;
  /** By zone, folded. */
  readonly signing: ReadonlyMap<string, readonly SigningKey[]>;
  /** Zones, folded, that shall be signed no more, whatever keys there are. */
  readonly unsigned: readonly string[];
}

const acceptedMax = 2;
const noKeys: DnsKeys = { tsig: [], parent: [], cookies: undefined, signing: new Map(), unsigned: [] };

/**
 * Reads a Secret by its label.
 *
 * `tsig`, `parent`: each entry is a file of keys as `tsig-keygen` writes it. `cookies`: `active` is 32 hexadecimal digits, `accepted`
 * any number of such lines. `dnssec`: pairs of entries `<any>.key` and `<any>.private` as BIND's tools write them; the zone
 * is the owner in the former. `unsigned`: `zones` has the names of zones that shall be signed no more.
 *
 * @returns what is wrong with it, as one line that tells nothing of the content, where it cannot be used
 */
export function readDnsSecret(secret: Secret): DnsKeys | string {
  const kind = secret.metadata.labels?.[dnsKeysLabel];
  const texts = new Map(
    Object.entries(secret.data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString("utf8"),
    ]),
  );
  try {
    switch (kind) {
      case "tsig":
        return { ...noKeys, tsig: [...texts].flatMap(readTsigKeys) };
      case "parent":
        return { ...noKeys, parent: [...texts].flatMap(readTsigKeys) };
      case "cookies":
        return { ...noKeys, cookies: readCookieSecrets(texts) };
      case "dnssec":
        return { ...noKeys, signing: readSigningKeys(texts) };
      case "unsigned":
        return { ...noKeys, unsigned: readZoneNames(texts.get("zones")) };
      case undefined:
      default:
        return `the label ${dnsKeysLabel} must be tsig, parent, dnssec, unsigned or cookies`;
    }
  } catch (error) {
    if (error instanceof DnsError) return error.message;
    throw error;
  }
}

/** What several Secrets give together; of several with cookie secrets the first counts. */
export function joinDnsKeys(all: Iterable<DnsKeys>): DnsKeys {
  const tsig: TsigKey[] = [];
  const parent: TsigKey[] = [];
  const signing = new Map<string, readonly SigningKey[]>();
  const unsigned: string[] = [];
  let cookies: CookieSecretOctets | undefined;
  for (const keys of all) {
    tsig.push(...keys.tsig);
    parent.push(...keys.parent);
    unsigned.push(...keys.unsigned);
    cookies ??= keys.cookies;
    for (const [zone, own] of keys.signing) signing.set(zone, [...(signing.get(zone) ?? []), ...own]);
  }
  return { tsig, parent, cookies, signing, unsigned };
}

function readTsigKeys([name, text]: readonly [string, string]): readonly TsigKey[] {
  try {
    return parseTsigKeyFile(text);
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    // What is wrong may be told in words of the text, and the text is secret.
    throw new DnsError("BadKey", `${name} holds no keys of HMAC-SHA-2 as tsig-keygen writes them`);
  }
}

function readCookieSecrets(texts: ReadonlyMap<string, string>): CookieSecretOctets {
  const [active] = readDigits(texts.get("active"));
  if (active === undefined) throw new DnsError("BadKey", "active must be 32 hexadecimal digits");
  const accepted = readDigits(texts.get("accepted"));
  if (accepted.length > acceptedMax)
    throw new DnsError("BadKey", `accepted may hold ${acceptedMax} secrets: the next one and the last one`);
  return { active, accepted };
}

function readDigits(text = ""): readonly Uint8Array[] {
  return text
    .split(/\s+/)
    .filter((line) => line !== "")
    .map((line) => {
      if (!/^[0-9a-fA-F]{32}$/.test(line))
        throw new DnsError(
          "BadKey",
          "a cookie secret must be 32 hexadecimal digits, as openssl rand -hex 16 writes",
        );
      return Uint8Array.from(Buffer.from(line, "hex"));
    });
}

function readSigningKeys(texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly SigningKey[]> {
  const signing = new Map<string, SigningKey[]>();
  for (const [name, privateText] of texts) {
    if (!name.endsWith(".private")) continue;
    const publicName = `${name.slice(0, -".private".length)}.key`;
    const publicText = texts.get(publicName);
    if (publicText === undefined) throw new DnsError("BadKey", `${name} has no ${publicName} beside it`);
    const zone = /^([^;\s]\S*)\s+(?:\d+\s+)?(?:IN\s+)?DNSKEY\s/im.exec(publicText)?.[1];
    if (zone === undefined) throw new DnsError("BadKey", `${publicName} has no DNSKEY record`);
    const folded = foldZone(zone);
    signing.set(folded, [...(signing.get(folded) ?? []), keyFromFiles(zone, { publicText, privateText })]);
  }
  if (signing.size === 0) throw new DnsError("BadKey", "it holds no pair of .key and .private");
  return signing;
}

function readZoneNames(text = ""): readonly string[] {
  const zones = text.split(/\s+/).filter((name) => name !== "");
  if (zones.length === 0) throw new DnsError("BadKey", "zones must name at least one zone");
  return zones.map(foldZone);
}

function foldZone(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}
