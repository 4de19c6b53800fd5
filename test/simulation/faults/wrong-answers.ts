import type { AnswerDatagram } from "@meridian/runtime";

export function answeringAnswers(answer: AnswerDatagram): AnswerDatagram {
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  return (input, offset, length, client, output) => {
    if (length < 12 || (input[offset + 2]! & 0x80) === 0)
      return answer(input, offset, length, client, output);
    output.set(input.subarray(offset, offset + 12));
    return 12;
  };
}

/** Gives those who ask without EDNS no records, only the hint to come back over TCP. */
export function answeringOnlyEdns(answer: AnswerDatagram): AnswerDatagram {
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  return (input, offset, length, client, output) => {
    const size = answer(input, offset, length, client, output);
    const hasEdns = input[offset + 11] !== 0;
    if (hasEdns || size < 12 || output[7] === 0) return size;
    output[2] = output[2]! | 2;
    output.fill(0, 6, 12);
    // The question alone: a name, its type and its class.
    let at = 12;
    while (output[at] !== 0) at += 1 + output[at]!;
    return at + 5;
  };
}
