import type { GeoSettings, RateLimitOptions, TcpLimits } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { ConfigText, type ConfigValue } from "./config-text.ts";
import type { DnsSettings, KeySettings, NamedFile, QueryLogSettings, TlsSettings } from "./dns-settings.ts";
import { readZones } from "./read-zone-settings.ts";

/** What a file says; what it leaves out is for flags and defaults. */
export type DnsConfig = Partial<Omit<DnsSettings, "zones">> & Pick<DnsSettings, "zones">;

/** A file's settings, or everything that is wrong with it: a line each, with file, line number and key. */
export type DnsConfigResult =
  | { readonly config: DnsConfig; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly string[] };

const keysKnown = [
  ...[
    "listen",
    "workers",
    "datapath",
    "udpPayloadBytes",
    "version",
    "serverId",
    "ednsSubnet",
    "proxies",
    "tcp",
    "rateLimit",
  ],
  ...["cookies", "tls", "https", "metrics", "queryLog", "geo", "keys", "zones"],
];
const threadsMax = 64;

/** Understands a configuration file. Paths in it are relative to `folder`, the file's own. */
export function readDnsConfig(
  text: string,
  { file, folder }: { readonly file: string; readonly folder: string },
): DnsConfigResult {
  const source = new ConfigText(text, { file, folder });
  if (source.problems.length > 0) return { problems: source.problems };
  const config = readRoot(source.root);
  return source.problems.length > 0 ? { problems: source.problems } : { config };
}

function readRoot(root: ConfigValue): DnsConfig {
  const fields = root.fields(keysKnown);
  const read = <T>(key: string, reader: (value: ConfigValue) => T | undefined): T | undefined => {
    const value = fields.get(key);
    return value === undefined ? undefined : reader(value);
  };
  const tls = read("tls", readTls);
  const https = read("https", readHttps);
  if (https !== undefined && !fields.has("tls"))
    fields.get("https")?.problem("needs a certificate; set tls.certificate and tls.privateKey");
  const cookies = read("cookies", readCookies);
  const all: { readonly [Key in keyof DnsConfig]: DnsConfig[Key] | undefined } = {
    listen: read("listen", readEndpoints),
    workers: read("workers", (value) => value.number({ min: 1, max: threadsMax })),
    datapath: read("datapath", (value) => value.oneOf(["auto", "mmsg", "dgram"])),
    answers: {
      ...defined({
        udpPayloadBytesMax: read("udpPayloadBytes", (value) => value.number({ min: 512, max: 4096 })),
        version: read("version", (value) => value.text()),
        serverId: read("serverId", (value) => value.text()),
        badCookie: cookies?.badCookie,
        ednsSubnet: read("ednsSubnet", (value) => value.boolean()),
      }),
    },
    proxies: read("proxies", (value) => value.items().flatMap((item) => item.network() ?? [])),
    tcp: read("tcp", readTcp),
    rateLimit: read("rateLimit", readRateLimit),
    cookieSecrets: cookies?.secrets,
    tls,
    https,
    metrics: read("metrics", (value) => {
      const listen = value.fields(["listen"]).get("listen");
      return listen === undefined ? value.problem("needs listen, such as 127.0.0.1:9153") : listen.endpoint();
    }),
    queryLog: read("queryLog", readQueryLog),
    geo: read("geo", readGeo),
    keys: read("keys", (value) => value.items().flatMap((item) => readKey(item) ?? [])),
    zones: read("zones", readZones) ?? [],
  };
  if (!fields.has("zones")) root.problem("has no zones; list at least one under zones");
  return defined(all) as DnsConfig;
}

/** Without the fields that are undefined. */
function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

function readEndpoints(value: ConfigValue): readonly Endpoint[] {
  return value.items().flatMap((item) => item.endpoint() ?? []);
}

function readTcp(value: ConfigValue): TcpLimits {
  const bounds: Readonly<Record<keyof TcpLimits, { readonly min: number; readonly max: number }>> = {
    idleMs: { min: 100, max: 6_553_500 },
    connectionsMax: { min: 1, max: 1_000_000 },
    connectionsPerClientMax: { min: 1, max: 1_000_000 },
    questionsMax: { min: 1, max: Number.MAX_SAFE_INTEGER },
    questionOctetsMax: { min: 512, max: 65_535 },
  };
  const fields = value.fields(Object.keys(bounds));
  return Object.fromEntries(
    Object.entries(bounds).flatMap(([key, bound]) => {
      const number = fields.get(key)?.number(bound);
      return number === undefined ? [] : [[key, number]];
    }),
  );
}

function readRateLimit(value: ConfigValue): RateLimitOptions | "off" {
  if (value.isOff()) return "off";
  const numbers = {
    perSecond: { min: 1, max: 1_000_000 },
    errorsPerSecond: { min: 1, max: 1_000_000 },
    slip: { min: 0, max: 100 },
    ipv4PrefixBits: { min: 8, max: 32 },
    ipv6PrefixBits: { min: 16, max: 128 },
    accountsMax: { min: 1_024, max: 16_777_216 },
  };
  const fields = value.fields([...Object.keys(numbers), "logOnly", "exemptLoopback"]);
  return defined({
    ...Object.fromEntries(
      Object.entries(numbers).map(([key, bounds]) => [key, fields.get(key)?.number(bounds)]),
    ),
    logOnly: fields.get("logOnly")?.boolean(),
    exemptLoopback: fields.get("exemptLoopback")?.boolean(),
  });
}

function readCookies(value: ConfigValue): {
  readonly secrets?: NamedFile | undefined;
  readonly badCookie?: "answer" | "refuse" | undefined;
} {
  const fields = value.fields(["secretsFile", "badCookie"]);
  const secrets = fields.get("secretsFile");
  return {
    secrets: secrets?.file(),
    badCookie: fields.get("badCookie")?.oneOf(["answer", "refuse"]),
  };
}

function readTls(value: ConfigValue): TlsSettings | undefined {
  const fields = value.fields(["certificate", "privateKey", "listen"]);
  const [certificate, privateKey] = ["certificate", "privateKey"].map((key) => {
    const name = fields.get(key);
    return name === undefined ? value.problem(`has no ${key}; name a file in PEM`) : name.file();
  });
  const listen = fields.get("listen");
  if (certificate === undefined || privateKey === undefined) return undefined;
  return { certificate, privateKey, listen: listen === undefined ? [] : readEndpoints(listen) };
}

function readHttps(value: ConfigValue): DnsSettings["https"] {
  const fields = value.fields(["listen", "path"]);
  const listen = fields.get("listen");
  if (listen === undefined) return value.problem("needs listen, such as [0.0.0.0:443]");
  const path = fields.get("path")?.text();
  if (path !== undefined && !path.startsWith("/"))
    fields.get("path")?.problem("must begin with /, such as /dns-query");
  return { listen: readEndpoints(listen), ...(path === undefined ? {} : { path }) };
}

function readQueryLog(value: ConfigValue): QueryLogSettings | undefined {
  const fields = value.fields(["file", "format", "rate"]);
  const file = fields.get("file");
  const path = file?.text() === "-" ? "-" : file?.file()?.path;
  if (path === undefined)
    return fields.has("file")
      ? undefined
      : value.problem("needs file: where to write, or - for standard output");
  const format = fields.get("format")?.oneOf(["json", "text"]);
  const rate = fields.get("rate")?.number({ min: 0.000_001, max: 1, whole: false });
  return { path, ...defined({ format, rate }) };
}

function readGeo(value: ConfigValue): GeoSettings | undefined {
  const fields = value.fields(["database", "fields", "map", "resolvers", "pollSeconds"]);
  if (!fields.has("database") && !fields.has("map"))
    return value.problem("needs a database (a MaxMind DB), a map, or both");
  const dotted = fields.get("fields");
  for (const item of dotted?.items() ?? []) {
    const text = item.text();
    if (text !== undefined && !/^[^.\s]+(\.[^.\s]+)*$/.test(text))
      item.problem("is no dotted path; write it like country.iso_code");
  }
  return defined({
    database: fields.get("database")?.file()?.path,
    map: fields.get("map")?.file()?.path,
    fields: dotted?.texts(),
    resolvers: fields
      .get("resolvers")
      ?.items()
      .flatMap((item) => item.network() ?? []),
    pollSeconds: fields.get("pollSeconds")?.number({ min: 0.1, max: 86_400, whole: false }),
  }) as GeoSettings;
}

function readKey(value: ConfigValue): KeySettings | undefined {
  const fields = value.fields(["file", "name", "algorithm", "secret", "secretFile"]);
  const file = fields.get("file");
  if (file !== undefined) {
    if (fields.size > 1) return value.problem("has a file and more; a file holds name, algorithm and secret");
    const named = file.file();
    return named && { kind: "file", file: named };
  }
  const secretFile = fields.get("secretFile");
  if (fields.has("secret") === (secretFile !== undefined))
    return value.problem(
      "needs either secret or secretFile, or only file: a key file as tsig-keygen writes it",
    );
  const name = fields.get("name")?.text();
  const algorithm = fields.has("algorithm") ? fields.get("algorithm")?.text() : "hmac-sha256";
  const secret = secretFile === undefined ? fields.get("secret")?.text() : secretFile.file();
  if (!fields.has("name")) return value.problem("has no name");
  if (name === undefined || algorithm === undefined || secret === undefined) return undefined;
  return { kind: "named", at: value.at, name, algorithm, secret };
}
