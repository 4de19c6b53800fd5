import type { Peers } from "../peers/peers.ts";
import type { HostClaims } from "./host-claims.ts";

/**
 * For which hosts peers are asked, and which Gslb each is asked for. One that another Gslb takes over is asked for on: to forget
 * what peers said of it would make a backup answer itself until they are heard again.
 */
export class AskedHosts {
  readonly #peers: Pick<Peers, "addHost" | "removeHost">;
  readonly #claims: Pick<HostClaims, "holder">;
  readonly #gslbOf = new Map<string, string>();
  readonly #hostsOf = new Map<string, ReadonlySet<string>>();

  constructor(peers: Pick<Peers, "addHost" | "removeHost">, claims: Pick<HostClaims, "holder">) {
    this.#peers = peers;
    this.#claims = claims;
  }

  /** Has peers asked for these hosts of a Gslb, in canonical form, and no longer for others that it had and nobody holds. */
  set(key: string, hosts: ReadonlySet<string>, splitBrainThresholdSeconds: number): void {
    for (const host of hosts) {
      this.#gslbOf.set(host, key);
      this.#peers.addHost(host, splitBrainThresholdSeconds);
    }
    for (const host of this.#hostsOf.get(key) ?? []) {
      if (hosts.has(host) || this.#gslbOf.get(host) !== key) continue;
      const heir = this.#claims.holder(host) ?? key;
      if (heir === key) {
        this.#gslbOf.delete(host);
        this.#peers.removeHost(host);
      } else {
        this.#gslbOf.set(host, heir);
        this.#hostsOf.set(heir, new Set([...(this.#hostsOf.get(heir) ?? []), host]));
      }
    }
    if (hosts.size === 0) this.#hostsOf.delete(key);
    else this.#hostsOf.set(key, hosts);
  }

  /** The Gslb is gone, and claims nothing any more. */
  remove(key: string): void {
    this.set(key, new Set(), 0);
  }
}
