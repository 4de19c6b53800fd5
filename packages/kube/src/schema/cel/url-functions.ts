import type { Environment } from "@marcbachmann/cel-js";

const sync = { async: false } as const;
const urlCharactersMax = 8_192;

/** A parsed absolute URL, or one that is only a path. */
class CelUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(parts: {
    readonly scheme: string;
    readonly host: string;
    readonly path: string;
    readonly query: string;
  }) {
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
  }
}

/** `url`, `isURL` and what can be asked of a URL (kube-apiserver's URL library). */
export function registerUrls(env: Environment): void {
  env.registerType("kubernetes.URL", CelUrl);
  env.registerFunction("isURL(string): bool", (text: string) => parseUrl(text) !== undefined, sync);
  env.registerFunction(
    "url(string): kubernetes.URL",
    (text: string) => {
      const url = parseUrl(text);
      if (url === undefined)
        throw new Error(
          `URL parse error during conversion from string: ${JSON.stringify(text.slice(0, 100))}`,
        );
      return url;
    },
    sync,
  );
  env.registerFunction("kubernetes.URL.getScheme(): string", (url: CelUrl) => url.scheme, sync);
  env.registerFunction("kubernetes.URL.getHost(): string", (url: CelUrl) => url.host, sync);
  env.registerFunction(
    "kubernetes.URL.getHostname(): string",
    (url: CelUrl) => hostAndPort(url.host).hostname,
    sync,
  );
  env.registerFunction("kubernetes.URL.getPort(): string", (url: CelUrl) => hostAndPort(url.host).port, sync);
  env.registerFunction("kubernetes.URL.getEscapedPath(): string", (url: CelUrl) => url.path, sync);
  env.registerFunction(
    "kubernetes.URL.getQuery(): map<string, list<string>>",
    (url: CelUrl) => queryOf(url.query),
    sync,
  );
}

function parseUrl(text: string): CelUrl | undefined {
  if (text.length > urlCharactersMax) return undefined;
  const parts =
    /^(?:(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:[^/?#@\s]*@)?(?<host>[^/?#\s]*))?(?<path>[^?#\s]*)(?:\?(?<query>[^#\s]*))?$/.exec(
      text,
    )?.groups;
  if (parts === undefined) return undefined;
  const { scheme = "", host = "", path = "", query = "" } = parts;
  const isPath = scheme === "" && host === "" && path.startsWith("/");
  if ((scheme === "" && !isPath) || /%(?![0-9a-fA-F]{2})|\p{Cc}/u.test(text)) return undefined;
  if (!/^(?:\[[^\]]*\]|[^:]*)(?::\d*)?$/.test(host)) return undefined;
  return new CelUrl({ scheme, host, path, query });
}

function hostAndPort(host: string): { readonly hostname: string; readonly port: string } {
  const parts = /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:]*))(?::(?<port>\d*))?$/.exec(host)?.groups ?? {};
  return { hostname: parts["v6"] ?? parts["name"] ?? "", port: parts["port"] ?? "" };
}

function queryOf(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const [name = "", ...rest] = pair.split("=");
    const list = values.get(decode(name)) ?? [];
    list.push(decode(rest.join("=")));
    values.set(decode(name), list);
  }
  return values;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
