import type { Endpoint } from "../network.ts";
import type { Host } from "./host.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import { isLoopback } from "./host.ts";
import type { Links } from "./links.ts";
import { drawDelayMs } from "./links.ts";
import type { World } from "./world.ts";

/** The timing of simulated connections; the defaults are those of Linux. */
export interface TcpConditions {
  /** The first pause before something is sent again; it doubles up to `retransmitMaxMs`. */
  readonly retransmitMinMs: number;
  readonly retransmitMaxMs: number;
  /** How long unacknowledged data is sent again before the connection breaks. */
  readonly giveUpMs: number;
  /** How long a connection attempt tries. `Infinity` leaves it to the caller's signal alone. */
  readonly connectTimeoutMs: number;
}

/** The timing of Linux with its default settings. */
export const defaultTcpConditions: TcpConditions = {
  retransmitMinMs: 200,
  retransmitMaxMs: 120_000,
  giveUpMs: 924_000,
  connectTimeoutMs: 127_000,
};

/** 65,535 octets less the headers of IPv4 and UDP. */
const datagramBytesMax = 65_507;

/** What connects the hosts of a simulation: who owns an address, and how packets get there. */
export class Fabric {
  readonly world: World;
  readonly links: Links;
  readonly tcp: TcpConditions;
  readonly #hosts: Host[] = [];
  readonly #byAddress = new Map<string, Host>();

  constructor(world: World, links: Links, tcp: TcpConditions) {
    this.world = world;
    this.links = links;
    this.tcp = tcp;
  }

  add(host: Host): void {
    for (const address of host.addresses) {
      const owner = this.#byAddress.get(address);
      if (owner !== undefined)
        throw new Error(`cannot give ${address} to ${host.name}: it belongs to ${owner.name}`);
      this.#byAddress.set(address, host);
    }
    this.#hosts.push(host);
  }

  get hosts(): readonly Host[] {
    return this.#hosts;
  }

  host(name: string): Host {
    const host = this.#hosts.find((candidate) => candidate.name === name);
    if (host === undefined) {
      throw new Error(
        `there is no node ${name}; there are ${this.#hosts.map((other) => other.name).join(", ")}`,
      );
    }
    return host;
  }

  /** The host that a packet from `from` to `address` is for. An owned loopback address belongs to its owner alone. */
  route(from: Host, address: string): Host | undefined {
    return this.#byAddress.get(address) ?? (isLoopback(address) ? from : undefined);
  }

  /** Whether packets travel in both directions now. */
  reachable(a: Host, b: Host): boolean {
    return a.powered && b.powered && !this.links.isCut(a.name, b.name) && !this.links.isCut(b.name, a.name);
  }

  /** Sends one datagram: it is lost, or arrives once or twice after its delay. */
  sendDatagram(sender: Host, datagram: Uint8Array, route: { from: Endpoint; to: Endpoint }): void {
    const { world, links } = this;
    const { from, to } = route;
    const receiver = this.route(sender, to.address);
    if (datagram.length > datagramBytesMax) return;
    if (receiver === undefined || links.isCut(sender.name, receiver.name)) return;
    const conditions = links.conditions(sender.name, receiver.name);
    const random = world.random(`datagram/${sender.name}>${receiver.name}`);
    if (random.chance(conditions.loss)) return;
    const copies = random.chance(conditions.duplication) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const octets = new Uint8Array(datagram);
      world.timers.schedule(world.nowMs + drawDelayMs(random, conditions), () => {
        if (receiver.boot === undefined) return;
        world.trace.add(world.nowMs, `datagram ${formatEndpoint(from)}>${formatEndpoint(to)}`, octets);
        receiver.boot.enter(() => receiver.datagramPorts.lookup(to)?.receive(octets, from));
      });
    }
  }

  /** Lets the ends of all connections between the two hosts find out that the other side may be gone. */
  suspectBetween(a: Host, b: Host): void {
    for (const end of a.wireEnds) if (end.peerIs(b)) end.suspectPeer();
    for (const end of b.wireEnds) if (end.peerIs(a)) end.suspectPeer();
  }
}
