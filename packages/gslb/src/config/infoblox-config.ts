import { parseServerAddress, type EnvironmentReader } from "./environment-reader.ts";

/** How to reach an Infoblox grid. Holds a password: never log it. */
export interface InfobloxConfig {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly version: string;
  readonly requestTimeoutSeconds: number;
  readonly connections: number;
  readonly dnsView: string;
  /** `MERIDIAN_INFOBLOX_CA_FILE`: path of the CAs that vouch for the grid, in PEM; the system's otherwise. */
  readonly caFile: string | undefined;
}

/** Reads the `INFOBLOX_` variables; only called where the host is set. */
export function parseInfobloxConfig(reader: EnvironmentReader): InfobloxConfig {
  const host = reader.text("INFOBLOX_GRID_HOST");
  if (host.includes(":") || parseServerAddress(host, 443) === undefined)
    reader.refuse("INFOBLOX_GRID_HOST", "be a host name or an IPv4 address, for example 10.0.0.1");
  for (const variable of ["INFOBLOX_WAPI_USERNAME", "INFOBLOX_WAPI_PASSWORD"])
    if (!reader.isSet(variable)) reader.refuse(variable, "be set where INFOBLOX_GRID_HOST is");
  return {
    host,
    port: reader.integer("INFOBLOX_WAPI_PORT", { fallback: 443, min: 1, max: 65_535 }),
    username: reader.text("INFOBLOX_WAPI_USERNAME"),
    password: reader.text("INFOBLOX_WAPI_PASSWORD"),
    version: reader.text("INFOBLOX_WAPI_VERSION", "v2"),
    requestTimeoutSeconds: reader.integer("INFOBLOX_HTTP_REQUEST_TIMEOUT", { fallback: 20, min: 1 }),
    connections: reader.integer("INFOBLOX_HTTP_POOL_CONNECTIONS", { fallback: 10, min: 0 }),
    dnsView: reader.text("INFOBLOX_DNS_VIEW", "default"),
    caFile: reader.isSet("MERIDIAN_INFOBLOX_CA_FILE") ? reader.text("MERIDIAN_INFOBLOX_CA_FILE") : undefined,
  };
}
