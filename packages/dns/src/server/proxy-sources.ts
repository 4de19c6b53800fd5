import { ipv4FromText, ipv6FromText, type DatagramClient } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";

interface Network {
  readonly octets: Uint8Array;
  readonly bits: number;
}

/** The networks whose hosts speak for others: from them a PROXY header is required, from all others it is no message. */
export class ProxySources {
  readonly #networks: readonly Network[];

  /**
   * Takes networks as `10.0.0.0/8` or `2001:db8::/32`, or single addresses.
   *
   * @throws DnsError `BadRecord` for a text that is none
   */
  constructor(networks: readonly string[]) {
    this.#networks = networks.map(networkFromText);
  }

  get none(): boolean {
    return this.#networks.length === 0;
  }

  has({ octets, octetCount }: Pick<DatagramClient, "octets" | "octetCount">): boolean {
    for (const network of this.#networks) {
      if (network.octets.length === octetCount && holds(network, octets)) return true;
    }
    return false;
  }
}

function holds({ octets, bits }: Network, address: Uint8Array): boolean {
  const whole = bits >>> 3;
  for (let index = 0; index < whole; index++) if (octets[index] !== address[index]) return false;
  const spare = 8 - (bits & 7);
  return spare === 8 || octets[whole]! >>> spare === address[whole]! >>> spare;
}

function networkFromText(text: string): Network {
  const [address = "", length] = text.split("/");
  const octets = ipv4FromText(address) ?? ipv6FromText(address);
  const bits =
    length === undefined ? (octets?.length ?? 0) * 8 : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (octets === undefined || bits < 0 || bits > octets.length * 8) {
    throw new DnsError("BadRecord", `"${text}" is no network; write it as 192.0.2.0/24 or 2001:db8::/32`);
  }
  return { octets, bits };
}
