import type { DatagramClient } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import { isInNetwork, networkFromText, type GeoNetwork } from "../geo/geo-network.ts";

/** The networks whose hosts speak for others: from them a PROXY header is required, from all others it is no message. */
export class ProxySources {
  readonly #networks: readonly GeoNetwork[];

  /**
   * Takes networks as `10.0.0.0/8` or `2001:db8::/32`, or single addresses.
   *
   * @throws DnsError `BadRecord` for a text that is none
   */
  constructor(networks: readonly string[]) {
    this.#networks = networks.map((text) => {
      const network = networkFromText(text);
      if (typeof network === "string") throw new DnsError("BadRecord", `cannot take a proxy: ${network}`);
      return network;
    });
  }

  get none(): boolean {
    return this.#networks.length === 0;
  }

  has(client: Pick<DatagramClient, "octets" | "octetCount">): boolean {
    for (const network of this.#networks) if (isInNetwork(network, client)) return true;
    return false;
  }
}
