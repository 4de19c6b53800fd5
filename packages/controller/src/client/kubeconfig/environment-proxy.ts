import { ipv4FromText, ipv6FromText } from "@meridian/runtime";

/** Variables that name proxies come in both cases; the lower one is asked first. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a server: `HTTPS_PROXY` (or `HTTP_PROXY` for an `http:` server), unless
 * `NO_PROXY` excepts it. The machine itself is never reached through a proxy.
 *
 * `NO_PROXY` lists names (with all below them), `.example.org` (only those below), addresses, ranges like `10.0.0.0/8`,
 * each with a port or without; `*` excepts everything. These are the rules of Go's programs, kubectl among them.
 */
export function environmentProxy(environment: Environment, origin: string): string | undefined {
  const url = new URL(origin);
  const variable = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const proxy = valueOf(environment, variable);
  if (proxy === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  if (isThisMachine(host)) return undefined;
  const exceptions = (valueOf(environment, "no_proxy") ?? "").split(",").map((part) => part.trim());
  if (exceptions.some((exception) => covers(exception.toLowerCase(), host, port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name] ?? environment[name.toUpperCase()];
  return value === undefined || value === "" ? undefined : value;
}

const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

function covers(exception: string, host: string, port: string): boolean {
  if (exception === "*") return true;
  if (exception === "") return false;
  const range = /^(.+)\/(\d{1,3})$/.exec(exception);
  if (range !== null) return isInRange(host, range[1] ?? "", Number(range[2]));
  const { name, onlyPort } = splitPort(exception);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (name.startsWith(".")) return host.endsWith(name);
  const bare = name.replace(/^\*\./, "");
  return host === bare || host.endsWith(`.${bare}`);
}

/** `name:port`, `[address]:port`, or an address with colons of its own. */
function splitPort(exception: string): { readonly name: string; readonly onlyPort?: string } {
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(exception) ?? /^([^:]*)(?::(\d+))?$/.exec(exception);
  const [, name = exception, onlyPort] = bracketed ?? [];
  return { name, ...(onlyPort === undefined ? {} : { onlyPort }) };
}

function isInRange(host: string, network: string, prefixBits: number): boolean {
  const address = octetsOf(host);
  const base = octetsOf(splitPort(network).name);
  if (address === undefined || base?.length !== address.length) return false;
  return base.every((octet, index) => {
    const bits = Math.min(8, Math.max(0, prefixBits - index * 8));
    const mask = (0xff << (8 - bits)) & 0xff;
    return (octet & mask) === ((address[index] ?? 0) & mask);
  });
}

const octetsOf = (text: string): Uint8Array | undefined => ipv4FromText(text) ?? ipv6FromText(text);
