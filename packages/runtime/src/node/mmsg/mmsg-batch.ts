import type { AnswerDatagram, DatagramClient } from "../../network.ts";
import { deferred } from "../../network.ts";
import { ReusedClient } from "../../reused-client.ts";
import { BatchMemory } from "./batch-memory.ts";
import { libcError, loadLibc, type Libc } from "./libc.ts";
import type { MmsgDescriptor } from "./mmsg-socket.ts";
import { socketAddress } from "./socket-address.ts";

/** `recv(2)`: wait for the first message only; do not wait at all. */
const flag = { waitForOne: 0x1_0000, doNotWait: 0x40 } as const;
const errno = {
  interrupted: 4,
  tryAgain: 11,
  badDescriptor: 9,
  badAddress: 14,
  invalid: 22,
  noSocket: 88,
} as const;

/** Takes what was `deferred`: copies, and the sender as `MmsgBatch.reply` wants it, of any thread. */
export type DeferMmsg = (message: Uint8Array, client: DatagramClient, peer: Uint8Array) => void;

/** How a batch is served. */
export interface ServeMmsgOptions {
  /** Waits for a first datagram, though not longer than 40 ms; without it, not at all. */
  readonly wait: boolean;
  /** Called when datagrams have come, before the first is answered: what changed while they were awaited counts for them. */
  readonly onReceived?: () => void;
  /** Without it, what is `deferred` gets no answer. */
  readonly defer?: DeferMmsg;
}

/**
 * Receives many datagrams with one system call, answers each in place, and sends the answers with another. One thread
 * has one. Nothing is allocated for a datagram or a batch.
 */
export class MmsgBatch implements Disposable {
  /** Numbers since it was made. */
  received = 0;
  answered = 0;
  /** Answers that the kernel did not take: no route, forbidden by a filter, or its buffer was full. */
  unsendable = 0;
  /** Datagrams from port 0, which nobody can be answered at. */
  unanswerable = 0;
  readonly #libc: Libc;
  readonly #descriptor: MmsgDescriptor;
  readonly #width: number;
  readonly #memory: BatchMemory;
  readonly #client = new ReusedClient("udp");

  constructor(descriptor: MmsgDescriptor, { width = 64 }: { readonly width?: number } = {}) {
    const { octetCount, isWildcard } = descriptor;
    this.#libc = loadLibc();
    this.#descriptor = descriptor;
    this.#width = width;
    this.#memory = new BatchMemory(this.#libc, { width, octetCount, withControl: isWildcard });
  }

  /**
   * Answers what is there, at most one batch.
   *
   * @returns how many were received
   * @throws an `Error` when the socket cannot be used any more
   */
  serve(answer: AnswerDatagram, options: ServeMmsgOptions): number {
    const memory = this.#memory;
    const { fd, octetCount } = this.#descriptor;
    const waiting = options.wait ? flag.waitForOne : flag.doNotWait;
    const count = this.#libc.recvmmsg(fd, memory.receiveHeaders, this.#width, waiting, 0);
    if (count <= 0) return this.#receivedNothing();
    options.onReceived?.();
    const { octets, outputs } = memory;
    const { addressAt: addressOffset } = socketAddress[octetCount];
    const client = this.#client;
    let sends = 0;
    for (let index = 0; index < count; index++) {
      const addressAt = memory.addressAt(index);
      const port = (octets[addressAt + 2]! << 8) | octets[addressAt + 3]!;
      if (port === 0) {
        // Only forgers send from it, and one such answer would end the sending of all behind it.
        this.unanswerable++;
        continue;
      }
      client.setOctets(octets, addressAt + addressOffset, octetCount, port);
      const inputAt = memory.inputAt(index);
      const received = memory.receivedOctets(index);
      const length = answer(octets, inputAt, received, client, outputs[sends]!);
      if (length > 0) memory.setSend(sends++, index, length);
      else if (length === deferred)
        options.defer?.(octets.slice(inputAt, inputAt + received), client.copy(), this.#peerOf(index));
    }
    this.received += count;
    this.answered += sends;
    this.#send(sends);
    return count;
  }

  /** Sends one datagram to whom a deferred one came from, with the address that it was sent to. Never waits. */
  reply(peer: Uint8Array, datagram: Uint8Array): void {
    const memory = this.#memory;
    const [output] = memory.outputs;
    if (datagram.length > output!.length || datagram.length === 0) return;
    const { addressOctets } = memory;
    memory.octets.set(peer.subarray(0, addressOctets), memory.addressAt(0));
    memory.octets.set(peer.subarray(addressOctets), memory.controlAt(0));
    output!.set(datagram);
    memory.setSend(0, 0, datagram.length);
    this.#send(1);
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }

  #peerOf(index: number): Uint8Array {
    const memory = this.#memory;
    const { octets, addressOctets, controlOctets } = memory;
    const peer = new Uint8Array(addressOctets + controlOctets);
    const addressAt = memory.addressAt(index);
    const controlAt = memory.controlAt(index);
    peer.set(octets.subarray(addressAt, addressAt + addressOctets));
    peer.set(octets.subarray(controlAt, controlAt + controlOctets), addressOctets);
    return peer;
  }

  #send(count: number): void {
    const libc = this.#libc;
    const memory = this.#memory;
    const { fd } = this.#descriptor;
    let from = 0;
    while (from < count) {
      const headers = from === 0 ? memory.sendHeaders : memory.sendHeader(from);
      const sent = libc.sendmmsg(fd, headers, count - from, flag.doNotWait);
      if (sent > 0) {
        from += sent;
        continue;
      }
      // The first of them cannot be sent; the others may.
      this.unsendable++;
      from++;
    }
  }

  #receivedNothing(): number {
    const code = this.#libc.errno();
    // A socket of no use would be asked again and again; all else passes.
    if (
      code === errno.badDescriptor ||
      code === errno.badAddress ||
      code === errno.invalid ||
      code === errno.noSocket
    )
      throw libcError(this.#libc, "recvmmsg");
    return 0;
  }
}
