import { deferred, type AnswerDatagram, type DatagramClient, type StreamConnection } from "@meridian/runtime";

/** A DNS message over a stream has at most so many octets (RFC 1035 §4.2.2). */
const messageOctetsMax = 65_535;
/** Answers of one read leave together; when they reach this size, they leave before the next question is looked at. */
const batchOctetsMax = 32 * 1024;
/** Where the batch begins, behind the room for the answer that is being written. */
const batchAt = messageOctetsMax + 1;

/**
 * The answers that one read of one connection has brought so far. One serves all connections of a server, since a read is
 * answered to its end before the next one begins; so an idle connection holds no buffer.
 */
export class TcpOutput {
  #octets: Uint8Array = new Uint8Array(batchAt + batchOctetsMax + 2 + messageOctetsMax);
  #answer: Uint8Array = this.#octets.subarray(0, messageOctetsMax);
  #end: number = batchAt;

  get full(): boolean {
    return this.#end - batchAt >= batchOctetsMax;
  }

  /** Adds the answer to the message at `input[at]`; what the answering function returned. */
  // oxlint-disable-next-line max-params -- an options object per question would be the hot path's only allocation
  add(answer: AnswerDatagram, input: Uint8Array, at: number, length: number, client: DatagramClient): number {
    const answered = answer(input, at, length, client, this.#answer);
    if (answered === 0 || answered === deferred) return answered;
    const octets = this.#octets;
    const end = this.#end;
    octets[end] = answered >>> 8;
    octets[end + 1] = answered;
    octets.copyWithin(end + 2, 0, answered);
    this.#end = end + 2 + answered;
    return answered;
  }

  /** Sends the batch in one write. */
  flush(connection: StreamConnection): void {
    if (this.#end === batchAt) return;
    const batch = this.#octets.subarray(batchAt, this.#end);
    this.#end = batchAt;
    if (connection.send(batch)) return;
    this.#octets = new Uint8Array(this.#octets.length);
    this.#answer = this.#octets.subarray(0, messageOctetsMax);
  }

  /** Forgets the batch, of a connection that is to be reset. */
  clear(): void {
    this.#end = batchAt;
  }
}
