import {
  deferred,
  type Endpoint,
  type UdpServer,
  type UdpServerOptions,
  type UdpSocket,
} from "../network.ts";
import { ReusedClient } from "../reused-client.ts";
import type { Boot } from "./boot.ts";
import type { Fabric } from "./fabric.ts";
import type { DatagramSink, Host } from "./host.ts";
import { isWildcard } from "./host.ts";

interface UdpPlace {
  readonly fabric: Fabric;
  readonly host: Host;
  readonly boot: Boot;
}

/** Answers each datagram with one function, as `runtime/node` does, and spoils the buffers after each call. */
export function serveSimUdp(place: UdpPlace, options: UdpServerOptions): UdpServer {
  const { fabric, host, boot } = place;
  const { answer, defer } = options;
  const random = fabric.world.random(`datagram offsets/${host.name}`);
  const client = new ReusedClient("udp");
  let open = true;
  const output = new Uint8Array(65_535);
  const sink = host.datagramPorts.bind(options, (local) => ({
    local,
    receive(datagram, from) {
      client.setText(from.address, from.port);
      // Code that reads from offset 0, or keeps a view of a buffer, is found out here.
      const offset = random.below(8);
      const input = new Uint8Array(offset + datagram.length + random.below(8)).fill(0xa5);
      input.set(datagram, offset);
      const length = answer(input, offset, datagram.length, client, output);
      input.fill(0x5a);
      if (length === 0) return;
      const source = isWildcard(local.address) ? host.sourceFor(from.address) : local.address;
      const route = { from: { address: source, port: local.port }, to: { ...from } };
      if (length === deferred) {
        defer?.(new Uint8Array(datagram), client.copy(), (octets) => {
          if (boot.alive && open) fabric.sendDatagram(host, octets, route);
        });
        return;
      }
      fabric.sendDatagram(host, output.subarray(0, length), route);
      output.fill(0x5a, 0, length);
    },
  }));
  return {
    local: sink.local,
    [Symbol.asyncDispose]: async () => {
      open = false;
      host.datagramPorts.release(sink);
    },
  };
}

/** A socket that sends, and hands over copies of what arrives. */
export function bindSimUdp(
  place: UdpPlace,
  asked: Endpoint,
  onDatagram: (datagram: Uint8Array, from: Endpoint) => void,
): UdpSocket {
  const { fabric, host, boot } = place;
  let open = true;
  const sink: DatagramSink = host.datagramPorts.bind(asked, (local) => ({
    local,
    receive(datagram, from) {
      const octets = new Uint8Array(datagram);
      onDatagram(octets, { ...from });
      octets.fill(0x5a);
    },
  }));
  const { local } = sink;
  return {
    local,
    send(datagram, to) {
      if (!boot.alive || !open) return;
      const source = isWildcard(local.address) ? host.sourceFor(to.address) : local.address;
      const route = { from: { address: source, port: local.port }, to: { ...to } };
      fabric.sendDatagram(host, datagram, route);
    },
    [Symbol.asyncDispose]: async () => {
      open = false;
      host.datagramPorts.release(sink);
    },
  };
}
