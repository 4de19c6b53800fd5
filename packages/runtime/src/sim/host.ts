import { formatEndpoint } from "../endpoint-text.ts";
import type { Endpoint } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Boot } from "./boot.ts";
import type { Prng } from "./prng.ts";
import type { WireEnd } from "./wire.ts";

/** What receives datagrams on a bound port. */
export interface DatagramSink {
  readonly local: Endpoint;
  receive(datagram: Uint8Array, from: Endpoint): void;
}

/** What accepts connections on a bound port. */
export interface ConnectionSink {
  readonly local: Endpoint;
  accept(end: WireEnd): void;
}

/** The machine under a node: its addresses and bound ports. It outlives the node's boots. */
export class Host {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly datagramPorts: PortTable<DatagramSink>;
  readonly connectionPorts: PortTable<ConnectionSink>;
  /** Both ends of a connection are listed at their own host, until they are broken or closed. */
  readonly wireEnds: Set<WireEnd> = new Set();
  /** The running process; none after a crash. */
  boot: Boot | undefined;
  /** False while the machine has no power: it then answers nothing, not even that a port is closed. */
  powered: boolean = true;

  constructor(name: string, addresses: readonly string[], random: Prng) {
    this.name = name;
    this.addresses = addresses;
    this.datagramPorts = new PortTable(this, random);
    this.connectionPorts = new PortTable(this, random);
  }

  /** Whether a socket may be bound to this address. */
  owns(address: string): boolean {
    return isWildcard(address) || isLoopback(address) || this.addresses.includes(address);
  }

  /** The address that packets to `destination` leave from. */
  sourceFor(destination: string): string {
    if (this.addresses.includes(destination) || isLoopback(destination)) return destination;
    const family = isV6(destination);
    return this.addresses.find((address) => isV6(address) === family) ?? (family ? "::1" : "127.0.0.1");
  }
}

/** The bound ports of one transport of one host. */
class PortTable<T extends { readonly local: Endpoint }> {
  readonly #host: Host;
  readonly #random: Prng;
  readonly #byPort = new Map<number, T[]>();

  constructor(host: Host, random: Prng) {
    this.#host = host;
    this.#random = random;
  }

  /** Binds what `create` makes of the chosen endpoint. Port 0 takes a free one from the ephemeral range. */
  bind(asked: Endpoint, create: (local: Endpoint) => T): T {
    const { address } = asked;
    if (!this.#host.owns(address)) {
      throw new NetworkError(
        "AddressNotAvailable",
        `cannot bind ${formatEndpoint(asked)}: node ${this.#host.name} has only ${this.#host.addresses.join(", ")}; ` +
          "bind one of these or give the address to the node",
      );
    }
    const port = asked.port === 0 ? this.#freePort(address) : asked.port;
    if (this.#taken(address, port)) {
      throw new NetworkError(
        "AddressInUse",
        `cannot bind ${formatEndpoint(asked)}: the port is taken; stop what listens there or choose another port`,
      );
    }
    const bound = create({ address, port });
    this.#byPort.set(port, [...(this.#byPort.get(port) ?? []), bound]);
    return bound;
  }

  release(bound: T): void {
    const { port } = bound.local;
    const others = (this.#byPort.get(port) ?? []).filter((other) => other !== bound);
    if (others.length === 0) this.#byPort.delete(port);
    else this.#byPort.set(port, others);
  }

  releaseAll(): void {
    this.#byPort.clear();
  }

  /** Who gets what arrives for `to`: an exact address wins over a wildcard. */
  lookup(to: Endpoint): T | undefined {
    const bound = this.#byPort.get(to.port);
    return (
      bound?.find((one) => one.local.address === to.address) ??
      bound?.find((one) => one.local.address === (isV6(to.address) ? "::" : "0.0.0.0"))
    );
  }

  /** A free port for the near end of a connection; nothing is bound to it. */
  ephemeralPort(address: string): number {
    return this.#freePort(address);
  }

  #taken(address: string, port: number): boolean {
    const bound = this.#byPort.get(port) ?? [];
    return bound.some(({ local }) => {
      if (isV6(local.address) !== isV6(address)) return false;
      return local.address === address || isWildcard(local.address) || isWildcard(address);
    });
  }

  #freePort(address: string): number {
    for (;;) {
      const port = 32_768 + this.#random.below(28_232);
      if (!this.#taken(address, port)) return port;
    }
  }
}

function isV6(address: string): boolean {
  return address.includes(":");
}

/** Whether an address never leaves its node. */
export function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

/** Whether an address to listen on means all of the node's. */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}
