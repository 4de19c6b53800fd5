import type { Environment } from "@marcbachmann/cel-js";
import { cidrContains, parseCidr, parseIpAddress } from "../../ip-address.ts";
import type { Cidr } from "../../ip-address.ts";

const sync = { async: false } as const;

class CelIp {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

class CelCidr {
  readonly cidr: Cidr;
  constructor(cidr: Cidr) {
    this.cidr = cidr;
  }
}

/** `ip`, `cidr` and what can be asked of them (kube-apiserver's IP and CIDR libraries). */
export function registerAddresses(env: Environment): void {
  env.registerType("net.IP", CelIp);
  env.registerType("net.CIDR", CelCidr);
  env.registerFunction("isIP(string): bool", (text: string) => parseIpAddress(text) !== undefined, sync);
  env.registerFunction("isCIDR(string): bool", (text: string) => parseCidr(text) !== undefined, sync);
  env.registerFunction("ip(string): net.IP", ipOf, sync);
  env.registerFunction("cidr(string): net.CIDR", (text: string) => new CelCidr(cidrOf(text)), sync);
  env.registerFunction("net.IP.family(): int", ({ bytes }: CelIp) => (bytes.length === 4 ? 4n : 6n), sync);
  env.registerFunction(
    "net.IP.isUnspecified(): bool",
    ({ bytes }: CelIp) => bytes.every((byte) => byte === 0),
    sync,
  );
  env.registerFunction(
    "net.IP.isLoopback(): bool",
    ({ bytes }: CelIp) => inAny(bytes, ["127.0.0.0/8", "::1/128"]),
    sync,
  );
  env.registerFunction(
    "net.IP.isLinkLocalUnicast(): bool",
    ({ bytes }: CelIp) => inAny(bytes, ["169.254.0.0/16", "fe80::/10"]),
    sync,
  );
  env.registerFunction(
    "net.IP.isLinkLocalMulticast(): bool",
    ({ bytes }: CelIp) => inAny(bytes, ["224.0.0.0/24", "ff02::/16"]),
    sync,
  );
  env.registerFunction(
    "net.IP.isGlobalUnicast(): bool",
    ({ bytes }: CelIp) =>
      !inAny(bytes, [
        "0.0.0.0/32",
        "255.255.255.255/32",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "::/128",
        "::1/128",
        "fe80::/10",
        "ff00::/8",
      ]),
    sync,
  );
  env.registerOperator("net.IP == net.IP", (a: CelIp, b: CelIp) =>
    cidrContains({ address: a.bytes, prefixLength: a.bytes.length * 8 }, b.bytes),
  );
  env.registerFunction(
    "net.CIDR.prefixLength(): int",
    ({ cidr }: CelCidr) => BigInt(cidr.prefixLength),
    sync,
  );
  env.registerFunction(
    "net.CIDR.containsIP(string): bool",
    ({ cidr }: CelCidr, text: string) => cidrContains(cidr, ipOf(text).bytes),
    sync,
  );
  env.registerFunction(
    "net.CIDR.containsIP(net.IP): bool",
    ({ cidr }: CelCidr, ip: CelIp) => cidrContains(cidr, ip.bytes),
    sync,
  );
  const containsCidr = (outer: Cidr, inner: Cidr): boolean =>
    inner.prefixLength >= outer.prefixLength && cidrContains(outer, inner.address);
  env.registerFunction(
    "net.CIDR.containsCIDR(string): bool",
    ({ cidr }: CelCidr, text: string) => containsCidr(cidr, cidrOf(text)),
    sync,
  );
  env.registerFunction(
    "net.CIDR.containsCIDR(net.CIDR): bool",
    (a: CelCidr, b: CelCidr) => containsCidr(a.cidr, b.cidr),
    sync,
  );
}

function ipOf(text: string): CelIp {
  const bytes = parseIpAddress(text);
  if (bytes === undefined)
    throw new Error(
      `IP Address ${JSON.stringify(text.slice(0, 64))} parse error during conversion from string`,
    );
  return new CelIp(bytes);
}

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined)
    throw new Error(
      `network address parse error during conversion from string: ${JSON.stringify(text.slice(0, 64))}`,
    );
  return cidr;
}

function inAny(bytes: Uint8Array, networks: readonly string[]): boolean {
  return networks.some((network) => cidrContains(cidrOf(network), bytes));
}
