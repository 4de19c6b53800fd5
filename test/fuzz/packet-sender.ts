import { createSocket, type Socket } from "node:dgram";
import type { Endpoint } from "@meridian/runtime";
import { mmsgAvailability, MmsgBatch, openMmsgSocket, type MmsgSocket } from "@meridian/runtime/node";

/** Sends datagrams to one server and hands over what comes back, with as little work as the system allows. */
export interface PacketSender extends Disposable {
  send(datagram: Uint8Array): void;
  /** Hands over what has come by now; the octets are valid until the call returns. */
  drain(onDatagram: (octets: Uint8Array, at: number, length: number) => void): void;
}

/** A sender from a port of 127.0.0.1, by the system calls of the server's own datapath where they work. */
export async function openPacketSender(to: Endpoint): Promise<PacketSender> {
  if (mmsgAvailability().available) return new MmsgSender(to);
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return new DgramSender(socket, to);
}

class MmsgSender implements PacketSender {
  readonly #socket: MmsgSocket = openMmsgSocket({ address: "127.0.0.1", port: 0 });
  readonly #batch: MmsgBatch = new MmsgBatch(this.#socket.descriptor);
  /** `struct sockaddr_in`. */
  readonly #peer: Uint8Array = new Uint8Array(16);

  constructor({ address, port }: Endpoint) {
    this.#peer.set([2, 0, port >> 8, port & 255, ...address.split(".").map(Number)]);
  }

  send(datagram: Uint8Array): void {
    this.#batch.reply(this.#peer, datagram);
  }

  drain(onDatagram: (octets: Uint8Array, at: number, length: number) => void): void {
    const take = (octets: Uint8Array, at: number, length: number): number => {
      onDatagram(octets, at, length);
      return 0;
    };
    while (this.#batch.serve(take, { wait: false }) > 0);
  }

  [Symbol.dispose](): void {
    this.#batch[Symbol.dispose]();
    this.#socket[Symbol.dispose]();
  }
}

class DgramSender implements PacketSender {
  readonly #socket: Socket;
  readonly #to: Endpoint;
  #received: Uint8Array[] = [];

  constructor(socket: Socket, to: Endpoint) {
    this.#socket = socket;
    this.#to = to;
    socket.on("message", (octets) => this.#received.push(octets));
    socket.on("error", () => {});
  }

  send(datagram: Uint8Array): void {
    this.#socket.send(datagram, this.#to.port, this.#to.address, () => {});
  }

  drain(onDatagram: (octets: Uint8Array, at: number, length: number) => void): void {
    for (const octets of this.#received) onDatagram(octets, 0, octets.length);
    this.#received = [];
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
