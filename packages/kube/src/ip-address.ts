/** The bytes of an IPv4 (4) or IPv6 (16) address in text form, or `undefined` for any other text. Zones (`%eth0`) are not addresses. */
export function parseIpAddress(text: string): Uint8Array | undefined {
  if (text.length > ipAddressCharactersMax) return undefined;
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** An address and the number of leading bits that make the network. */
export interface Cidr {
  readonly address: Uint8Array;
  readonly prefixLength: number;
}

/** Parses `10.0.0.0/8`; bits behind the prefix may be set. */
export function parseCidr(text: string): Cidr | undefined {
  const parts = text.split("/");
  if (parts.length !== 2) return undefined;
  const address = parseIpAddress(parts[0] ?? "");
  const length = parts[1] ?? "";
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined;
  const prefixLength = Number(length);
  return prefixLength <= address.length * 8 ? { address, prefixLength } : undefined;
}

/** True if the address belongs to the network; families never mix. */
export function cidrContains({ address, prefixLength }: Cidr, other: Uint8Array): boolean {
  if (address.length !== other.length) return false;
  for (let bit = 0; bit < prefixLength; bit += 8) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (prefixLength - bit)));
    const at = bit / 8;
    if (((address[at] ?? 0) & mask) !== ((other[at] ?? 0) & mask)) return false;
  }
  return true;
}

export function isIpv4(text: string): boolean {
  return parseIpAddress(text)?.length === 4;
}

export function isIpv6(text: string): boolean {
  return parseIpAddress(text)?.length === 16;
}

export function isCidr(text: string): boolean {
  return parseCidr(text) !== undefined;
}

const ipAddressCharactersMax = 45;

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [at, part] of parts.entries()) {
    // Leading zeros are refused: some programs read them as octal.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes[at] = Number(part);
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  // The dotted form stands for the last two groups only (RFC 4291 §2.2).
  if (halves.length === 2 && (halves[0] ?? "").includes(".")) return undefined;
  const head = parseGroups(halves[0] ?? "");
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "") : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  // `::` stands for at least one group; without it all eight must be there.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function parseGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [at, part] of parts.entries()) {
    if (at === parts.length - 1 && part.includes(".")) {
      const [a = 0, b = 0, c = 0, d = 0] = parseIpv4(part) ?? [];
      if (parseIpv4(part) === undefined) return undefined;
      groups.push((a << 8) | b, (c << 8) | d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
