import { createWriteStream } from "node:fs";
import { once } from "node:events";

/** The origin of the zone that all servers load. */
export const origin = "cloud.example.com";

/** How many CNAMEs (`alias0`, `alias1`, …) a zone of this size holds. */
export const aliasesOf = (hosts: number): number => Math.min(hosts, 1000);

/** A size as reports name it. */
export const hostsText = (hosts: number): string => `${hosts.toLocaleString("en-US")} hosts`;

/** The two addresses of a host; `change` other than 0 is what an update made of the first. */
export function addressesOf(host: number, change = 0): readonly [string, string] {
  const tail = `${(host >>> 16) & 255}.${(host >>> 8) & 255}.${host & 255}`;
  return [`${10 + change}.${tail}`, `110.${tail}`];
}

/**
 * Writes the bench's zone file: SOA, two NS with glue, `hosts` names with two A records each, up to 1,000 CNAMEs to them, one
 * wildcard and one delegated child. The same size makes the same file.
 */
export async function writeBenchZone(file: string, hosts: number): Promise<void> {
  const stream = createWriteStream(file);
  const write = async (lines: readonly string[]): Promise<void> => {
    if (!stream.write(`${lines.join("\n")}\n`)) await once(stream, "drain");
  };
  await write([
    `$ORIGIN ${origin}.`,
    "$TTL 30",
    "@ IN SOA ns1 hostmaster 1 3600 600 86400 30",
    "@ IN NS ns1",
    "@ IN NS ns2",
    "ns1 IN A 127.0.0.1",
    "ns2 IN A 127.0.0.2",
    "*.wild IN A 192.0.2.1",
    "child IN NS ns.child",
    "ns.child IN A 192.0.2.53",
  ]);
  for (let begin = 0; begin < hosts; begin += 1000) {
    const lines: string[] = [];
    for (let host = begin; host < Math.min(hosts, begin + 1000); host++) {
      const [first, second] = addressesOf(host);
      lines.push(`host${host} IN A ${first}`, `host${host} IN A ${second}`);
    }
    await write(lines);
  }
  await write(Array.from({ length: aliasesOf(hosts) }, (_, n) => `alias${n} IN CNAME host${n}`));
  stream.end();
  await once(stream, "finish");
}
