import type { Authority } from "@meridian/dns";
import type { AnswerDatagram } from "@meridian/runtime";

const udpOctetsMax = 1232;
const udpOctetsPlain = 512;

/** Looks at every datagram that a DNS server gets and at what it answers, while it does. */
export class DnsGuard {
  readonly #onWrong: (seen: string) => void;

  constructor(onWrong: (seen: string) => void) {
    this.#onWrong = onWrong;
  }

  /** `answer`, watched: an answer is of an allowed size, answers get none, and no datagram changes a zone. */
  watching(name: string, answer: AnswerDatagram, authority: () => Authority | undefined): AnswerDatagram {
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    return (input, offset, length, client, output) => {
      const serials = serialsOf(authority());
      const isAnswer = length > 2 && (input[offset + 2]! & 0x80) !== 0;
      const limit = Math.min(udpOctetsMax, payloadSize(input.subarray(offset, offset + length)));
      const size = answer(input, offset, length, client, output);
      if (isAnswer && size > 0)
        this.#onWrong(`${name} answered ${size} octets to a message that is an answer`);
      if (size > limit) this.#onWrong(`${name} answered ${size} octets where ${limit} are allowed`);
      if (length < 12 && size > 0) this.#onWrong(`${name} answered ${length} octets, which are no message`);
      if (serialsOf(authority()) !== serials)
        this.#onWrong(`a datagram from ${client.address} changed a zone of ${name}`);
      return size;
    };
  }
}

function serialsOf(authority: Authority | undefined): string {
  let text = "";
  for (const zone of authority?.zones ?? []) text += `${zone.serial} `;
  return text;
}

/** The size that a query's OPT record allows; 512 without one. Looks for the record as a whole: root name, type 41. */
function payloadSize(message: Uint8Array): number {
  let size = udpOctetsPlain;
  for (let at = 12; at + 11 <= message.length; at++) {
    if (message[at] === 0 && message[at + 1] === 0 && message[at + 2] === 41)
      size = Math.max(size, (message[at + 3]! << 8) | message[at + 4]!);
  }
  return size;
}
