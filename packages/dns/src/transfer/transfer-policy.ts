import { DnsError } from "../dns-error.ts";
import { isInNetwork, networkFromText, type GeoNetwork } from "../geo/geo-network.ts";
import { ipv4FromText, ipv6FromText } from "../name/address.ts";
import { countLabels, foldNameText, isAtOrBelow, nameFromText, type Name } from "../name/name.ts";

/** Who may do something with a zone and those below it. A zone with a rule of its own does not heed those above. */
export interface AccessRule {
  /** `.` is every zone. */
  readonly zone: string;
  /** Any one that matches is enough; empty: nobody. */
  readonly allow: readonly AccessGrant[];
}

/** One way to be allowed. What it names must all hold; a grant that names nothing allows everybody. */
export interface AccessGrant {
  /** Name of the TSIG key that signed. */
  readonly key?: string;
  /** `192.0.2.0/24`, `2001:db8::/32`, or one address. */
  readonly clients?: string;
}

interface ParsedRule {
  readonly zone: Name;
  readonly labels: number;
  readonly grants: readonly { readonly key: string | undefined; readonly clients: GeoNetwork | undefined }[];
}

/** Decides by zone, key and address. Where no rule is about a zone, nobody is allowed. */
export class TransferPolicy {
  readonly #rules: readonly ParsedRule[];

  /** @throws DnsError `BadName` or `BadRecord` for a rule that cannot be read */
  constructor(rules: readonly AccessRule[]) {
    const parsed = rules.map(({ zone, allow }) => {
      const name = nameFromText(zone);
      return { zone: name, labels: countLabels(name), grants: allow.map(parseGrant) };
    });
    // The rule with the most labels decides, alone: never the one that sorts first as text.
    this.#rules = parsed.sort((left, right) => right.labels - left.labels);
  }

  allows(zone: Name, by: { readonly key: string | undefined; readonly address: string }): boolean {
    const rule = this.#rules.find((candidate) => isAtOrBelow(zone, candidate.zone));
    if (rule === undefined) return false;
    const octets = addressOctets(by.address);
    const client = octets && { octets, octetCount: octets.length === 4 ? (4 as const) : (16 as const) };
    return rule.grants.some(
      ({ key, clients }) =>
        (key === undefined || key === by.key) &&
        (clients === undefined || (client !== undefined && isInNetwork(clients, client))),
    );
  }
}

function parseGrant({ key, clients }: AccessGrant): ParsedRule["grants"][number] {
  return {
    key: key === undefined ? undefined : foldNameText(key),
    clients: clients === undefined ? undefined : parseNetwork(clients),
  };
}

function parseNetwork(text: string): GeoNetwork {
  const network = networkFromText(text);
  if (typeof network === "string") throw new DnsError("BadRecord", `cannot allow clients: ${network}`);
  return network;
}

/** An IPv4 address is the same whether it came through an IPv6 socket or not. */
function addressOctets(text: string): Uint8Array | undefined {
  const octets = ipv4FromText(text) ?? ipv6FromText(text.split("%")[0]!);
  if (octets?.length !== 16) return octets;
  const mapped =
    octets.subarray(0, 10).every((octet) => octet === 0) && octets[10] === 0xff && octets[11] === 0xff;
  return mapped ? octets.subarray(12) : octets;
}

/** Whether two texts are of one address, however they are written. */
export function sameAddress(left: string, right: string): boolean {
  const octets = addressOctets(left);
  const other = addressOctets(right);
  if (octets === undefined || other === undefined) return left === right;
  return octets.length === other.length && octets.every((octet, index) => octet === other[index]);
}
