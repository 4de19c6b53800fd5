import type { Runtime } from "@meridian/runtime";
import type { BalancedZone } from "../fleet/fleet-map.ts";
import { shuffled } from "../fleet/draws.ts";
import { askAsK8gb, k8gbServers } from "./ask-as-k8gb.ts";
import { k8gbEndpoints } from "./k8gb-endpoint.ts";
import { k8gbNameServer, k8gbTagOf, k8gbZoneOf } from "./k8gb-names.ts";
import type { K8gbObjects, K8gbServer, K8gbWatcher } from "./k8gb-objects.ts";

export interface K8gbOperatorOptions {
  readonly tag: string;
  readonly peers: readonly string[];
  readonly objects: K8gbObjects;
  /** The own DNS server's addresses; the first is where questions leave from. */
  readonly addresses: readonly string[];
  readonly edge: { readonly address: string; readonly port: number };
  readonly periodMs: number;
  readonly zonePeriodMs: number;
}

/**
 * k8gb's operator, as far as it can be seen from outside: one worker for all Gslbs, one for the ZoneDelegations, no memory.
 *
 * One thing is left out: a DNSEndpoint whose targets are only in another order wakes its Gslb again, so that k8gb hardly
 * rests. Here it asks no more often than it must.
 */
export class K8gbOperator implements K8gbWatcher {
  readonly #runtime: Runtime;
  readonly #options: K8gbOperatorOptions;
  readonly #queue = new Set<string>();
  readonly #waiting = new Set<string>();
  #wake: () => void = () => {};
  #isHanging = false;
  readonly #halted: (() => void)[] = [];

  constructor(runtime: Runtime, options: K8gbOperatorOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Works for ever, that is until its process dies. */
  run(): void {
    void this.#followZones();
    void this.#followGslbs();
    for (const name of this.#options.objects.applications.keys()) this.onGslb(name);
  }

  onGslb(name: string): void {
    this.#queue.add(name);
    this.#wake();
  }

  /** Makes it do nothing, while its CoreDNS answers on, or go on. */
  hang(isHanging: boolean): void {
    this.#isHanging = isHanging;
    if (!isHanging) for (const goOn of this.#halted.splice(0)) goOn();
  }

  async #followGslbs(): Promise<void> {
    for (;;) {
      await this.#turn();
      const [next] = this.#queue;
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#queue.delete(next);
      await this.#reconcile(next);
      this.#again(next);
    }
  }

  async #turn(): Promise<void> {
    while (this.#isHanging) await new Promise<void>((resolve) => this.#halted.push(resolve));
  }

  /** Of several periods for one Gslb the earliest counts. */
  #again(name: string): void {
    if (this.#waiting.has(name)) return;
    this.#waiting.add(name);
    this.#runtime.clock.after(this.#options.periodMs, () => {
      this.#waiting.delete(name);
      this.onGslb(name);
    });
  }

  /** Health and addresses are read before the peers are asked, and written after. */
  async #reconcile(name: string): Promise<void> {
    const { objects, tag } = this.#options;
    const wanted = objects.applications.get(name);
    const { host } = wanted?.application ?? { host: "" };
    const zone = k8gbZoneOf(host, objects.zones);
    if (wanted?.strategy === undefined || zone === undefined || objects.servers(zone).length === 0) return;
    const own = wanted.targets.filter((target) => !target.includes(":"));
    const peers = await this.#askPeers(host, zone);
    await this.#turn();
    if (objects.applications.get(name)?.strategy === undefined) return;
    const { ready: healthy, strategy } = wanted;
    const entries = k8gbEndpoints({ host, strategy, tag, healthy, own, peers });
    if (objects.write(name, entries)) this.onGslb(name);
  }

  /** One after the other; of a peer's addresses only the last one. */
  async #askPeers(host: string, zone: BalancedZone): Promise<ReadonlyMap<string, readonly string[]>> {
    const { objects, tag, addresses, edge } = this.#options;
    const lastAddress = new Map(objects.servers(zone).map(({ name, address }) => [name, address] as const));
    const found = new Map<string, readonly string[]>();
    for (const [name, address] of shuffled(this.#runtime.random, [...lastAddress])) {
      const peer = k8gbTagOf(zone, name);
      if (peer === tag) continue;
      const servers = k8gbServers(address, [edge.port]);
      const question = { from: addresses[0]!, name: `localtargets-${host}`, servers };
      const outcome = await askAsK8gb(this.#runtime, question);
      // Any code but NOERROR is the same as no targets.
      if (outcome.kind === "answered" && outcome.rcode === 0 && outcome.addresses.length > 0)
        found.set(peer, outcome.addresses.toSorted());
    }
    return found;
  }

  async #followZones(): Promise<void> {
    for (;;) {
      for (const zone of this.#options.objects.zones) {
        await this.#turn();
        await this.#findServers(zone);
      }
      await this.#runtime.clock.sleep(this.#options.zonePeriodMs);
    }
  }

  /** A peer whose name is not answered, for whatever reason, is left out. */
  async #findServers(zone: BalancedZone): Promise<void> {
    const { tag, peers, addresses, edge, objects } = this.#options;
    const ownName = k8gbNameServer(zone, tag);
    const servers: K8gbServer[] = addresses.map((address) => ({ name: ownName, address }));
    for (const peer of peers) {
      const name = k8gbNameServer(zone, peer);
      const outcome = await askAsK8gb(this.#runtime, { from: addresses[0]!, name, servers: [edge] });
      if (outcome.kind !== "answered") continue;
      servers.push(...outcome.addresses.map((address) => ({ name, address })));
    }
    const rank = ({ name, address }: K8gbServer): string => `${name} ${address}`;
    objects.setServers(
      zone,
      servers.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)),
    );
  }
}
