import type { Peers } from "../peers/peers.ts";

/** For which hosts peers are asked, and which Gslb each is asked for: one that another Gslb takes over is asked for on. */
export class AskedHosts {
  readonly #peers: Pick<Peers, "addHost" | "removeHost">;
  readonly #gslbOf = new Map<string, string>();
  readonly #hostsOf = new Map<string, ReadonlySet<string>>();

  constructor(peers: Pick<Peers, "addHost" | "removeHost">) {
    this.#peers = peers;
  }

  /** Has peers asked for these hosts of a Gslb, in canonical form, and no longer for others that it had. */
  set(key: string, hosts: ReadonlySet<string>, splitBrainThresholdSeconds: number): void {
    for (const host of hosts) {
      this.#gslbOf.set(host, key);
      this.#peers.addHost(host, splitBrainThresholdSeconds);
    }
    for (const host of this.#hostsOf.get(key) ?? []) {
      if (hosts.has(host) || this.#gslbOf.get(host) !== key) continue;
      this.#gslbOf.delete(host);
      this.#peers.removeHost(host);
    }
    if (hosts.size === 0) this.#hostsOf.delete(key);
    else this.#hostsOf.set(key, hosts);
  }

  /** The Gslb is gone. */
  remove(key: string): void {
    this.set(key, new Set(), 0);
  }
}
