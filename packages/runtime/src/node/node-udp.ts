import { type Socket, createSocket } from "node:dgram";
import { isIP, isIPv6 } from "node:net";

import type { Logger } from "../logger.ts";
import {
  deferred,
  type Endpoint,
  type UdpServer,
  type UdpServerOptions,
  type UdpSocket,
} from "../network.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import { ReusedClient } from "../reused-client.ts";
import { networkFailure } from "./network-failure.ts";
import { copyOctets, plainOctets } from "./octets.ts";

/** Asked of the kernel, which may give less: room for the datagrams that arrive while we are busy elsewhere. */
const receiveBufferBytes = 4 * 1024 * 1024;
/** What the kernel does not take at once waits here; over this, datagrams are lost, as on any full queue. */
const sendQueueBytesMax = 4 * 1024 * 1024;
const datagramBytesMax = 65_535;

/** Answers each datagram with one function. */
export async function serveNodeUdp(options: UdpServerOptions, log: Logger): Promise<UdpServer> {
  const { answer, defer, onLost } = options;
  const socket = await bindSocket(options, log);
  const client = new ReusedClient("udp");
  let output = new Uint8Array(datagramBytesMax);
  let open = true;
  const hasRoom = (): boolean => {
    if (socket.getSendQueueSize() <= sendQueueBytesMax) return true;
    onLost?.();
    return false;
  };
  const replyTo = (to: Endpoint) => (octets: Uint8Array) => {
    if (open && hasRoom()) socket.send(copyOctets(octets), to.port, to.address, ignoreFailure);
  };
  socket.on("message", (input, from) => {
    if (from.port === 0) return; // nobody can be answered there; only forgers send from it
    client.setText(from.address, from.port);
    const length = answer(plainOctets(input), 0, input.length, client, output);
    if (length === deferred) {
      defer?.(copyOctets(input), client.copy(), replyTo(from));
      return;
    }
    if (length === 0 || !hasRoom()) return;
    socket.send(output, 0, length, from.port, from.address);
    // The kernel takes a datagram at once, unless its buffer is full: then the octets stay in use until later.
    if (socket.getSendQueueCount() > 0) output = new Uint8Array(datagramBytesMax);
  });
  return {
    local: localOf(socket),
    [Symbol.asyncDispose]: async () => {
      open = false;
      await closeSocket(socket);
    },
  };
}

/** A socket that sends, and hands over what arrives. */
export async function bindNodeUdp(options: {
  readonly address: string;
  readonly port: number;
  readonly onDatagram: (datagram: Uint8Array, from: Endpoint) => void;
  readonly log: Logger;
}): Promise<UdpSocket> {
  const { onDatagram, log } = options;
  const socket = await bindSocket(options, log);
  let open = true;
  socket.on("message", (datagram, from) =>
    onDatagram(plainOctets(datagram), { address: from.address, port: from.port }),
  );
  return {
    local: localOf(socket),
    send(datagram, to) {
      if (!open || to.port === 0 || isIP(to.address) === 0) return;
      if (socket.getSendQueueSize() > sendQueueBytesMax) return;
      // Copied: the caller's octets are free again when this returns, whether or not the kernel took them.
      socket.send(copyOctets(datagram), to.port, to.address, ignoreFailure);
    },
    [Symbol.asyncDispose]: async () => {
      open = false;
      await closeSocket(socket);
    },
  };
}

async function bindSocket(asked: Endpoint, log: Logger): Promise<Socket> {
  const { address, port } = asked;
  const v6 = isIPv6(address);
  const socket = createSocket({
    type: v6 ? "udp6" : "udp4",
    ipv6Only: v6,
    // Addresses are never names here; without this each send would wait for a turn of the event loop.
    lookup: (host, _options, callback) => callback(null, host, v6 ? 6 : 4),
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", (error) => {
      socket.close();
      reject(networkFailure(`cannot listen on UDP ${formatEndpoint(asked)}`, error));
    });
    socket.bind({ address, port }, () => {
      socket.removeAllListeners("error");
      resolve();
    });
  });
  // A socket may report that an earlier datagram did not arrive; that is loss, and loss is normal.
  socket.on("error", (error) => log.debug("udp socket error", { error }));
  try {
    socket.setRecvBufferSize(receiveBufferBytes);
  } catch (error) {
    log.debug("udp receive buffer stays at its default", { error });
  }
  return socket;
}

function closeSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    try {
      socket.close(() => resolve());
    } catch {
      resolve(); // closed already
    }
  });
}

function localOf(socket: Socket): Endpoint {
  const { address, port } = socket.address();
  return { address, port };
}

function ignoreFailure(): void {}
