/** The four octets of an IPv4 address in dotted form without leading zeros, or `undefined`. */
export function ipv4FromText(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const octets = new Uint8Array(4);
  for (let index = 0; index < 4; index++) {
    const part = parts[index]!;
    // `010` is 8 to some readers and 10 to others, so it is nobody's address.
    if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    octets[index] = Number(part);
  }
  return octets;
}

/** Writes an IPv4 address in dotted form. */
export function ipv4ToText(octets: Uint8Array): string {
  return octets.join(".");
}

/** The sixteen octets of an IPv6 address (RFC 4291 §2.2), without zone, or `undefined`. */
export function ipv6FromText(text: string): Uint8Array | undefined {
  let hex = text;
  const lastColon = text.lastIndexOf(":");
  if (text.includes(".")) {
    const tail = ipv4FromText(text.slice(lastColon + 1));
    if (tail === undefined || lastColon < 0) return undefined;
    const high = (tail[0]! << 8) | tail[1]!;
    const low = (tail[2]! << 8) | tail[3]!;
    hex = `${text.slice(0, lastColon + 1)}${high.toString(16)}:${low.toString(16)}`;
  }
  const halves = hex.split("::");
  if (halves.length > 2) return undefined;
  const head = readGroups(halves[0]!);
  const tail = halves.length === 2 ? readGroups(halves[1]!) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const octets = new Uint8Array(16);
  [...head, ...Array<number>(missing).fill(0), ...tail].forEach((group, index) => {
    octets[2 * index] = group >>> 8;
    octets[2 * index + 1] = group & 0xff;
  });
  return octets;
}

/** Writes an IPv6 address as RFC 5952 wants it. */
export function ipv6ToText(octets: Uint8Array): string {
  const groups: number[] = [];
  for (let index = 0; index < 16; index += 2) groups.push((octets[index]! << 8) | octets[index + 1]!);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const write = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (best.start < 0) return write(groups);
  return `${write(groups.slice(0, best.start))}::${write(groups.slice(best.start + best.length))}`;
}

function readGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  for (const group of text.split(":")) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    groups.push(Number.parseInt(group, 16));
  }
  return groups;
}
