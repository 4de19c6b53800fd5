import { arch, endianness, platform } from "node:os";

import type { AnswerDatagram } from "../../network.ts";
import { loadLibc } from "./libc.ts";
import { MmsgBatch } from "./mmsg-batch.ts";
import { openMmsgSocket } from "./mmsg-socket.ts";
import { composeSocketAddress } from "./socket-address.ts";

/** Whether `openMmsgSocket` and `MmsgBatch` work here, and if not, why. */
export type MmsgAvailability =
  { readonly available: true } | { readonly available: false; readonly reason: string };

/** 64-bit, with Linux's generic numbers of socket options. */
const architectures: readonly string[] = ["x64", "arm64", "riscv64", "loong64"];

let known: MmsgAvailability | undefined;

/**
 * Finds out once in each thread, by a round trip over loopback: a call into C that is only half right would corrupt
 * memory, so it has to show first that it is right.
 */
export function mmsgAvailability(): MmsgAvailability {
  return (known ??= probeMmsg({ platform: platform(), arch: arch() }));
}

/** As `mmsgAvailability`, for a machine that says this of itself. */
export function probeMmsg(machine: { readonly platform: string; readonly arch: string }): MmsgAvailability {
  if (machine.platform !== "linux") return unavailable(`${machine.platform} has no recvmmsg`);
  if (!architectures.includes(machine.arch) || endianness() !== "LE")
    return unavailable(`the layout of C structures on ${machine.arch} is not known here`);
  try {
    loadLibc();
  } catch (error) {
    return unavailable(`koffi cannot be loaded: ${firstLineOf(error)}`);
  }
  try {
    return exchangeOver("127.0.0.1");
  } catch {
    // A machine may have IPv6 only.
  }
  try {
    return exchangeOver("::1");
  } catch (error) {
    return unavailable(`a round trip over loopback failed: ${firstLineOf(error)}`);
  }
}

const sizes = [12, 13, 9_000];

/** Sends datagrams to a socket of its own, which answers each one once: all have to arrive whole, and in order. */
function exchangeOver(address: string): MmsgAvailability {
  using socket = openMmsgSocket({ address, port: 0 });
  using batch = new MmsgBatch(socket.descriptor, { width: 8 });
  const own = composeSocketAddress(socket.local) ?? new Uint8Array();
  const seen: string[] = [];
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  const answer: AnswerDatagram = (input, offset, length, client, output) => {
    const isQuestion = input[offset] === 1;
    const fromOwn = client.address === address && client.port === socket.local.port;
    seen.push(describeDatagram(isQuestion, length, input[offset + length - 1] === 7 && fromOwn));
    if (!isQuestion) return 0;
    output.set(input.subarray(offset, offset + length));
    output[0] = 2;
    return length;
  };
  for (const size of sizes) batch.reply(own, new Uint8Array(size).fill(1, 0, 1).fill(7, size - 1));
  const expected = [true, false].flatMap((isQuestion) =>
    sizes.map((size) => describeDatagram(isQuestion, size, true)),
  );
  // Two batches are enough, but on a busy machine a receive may time out.
  for (let tries = 0; tries < 50 && seen.length < expected.length; tries++)
    batch.serve(answer, { wait: true });
  if (seen.join() === expected.join()) return { available: true };
  return unavailable(
    `a round trip over loopback gave ${seen.join() || "nothing"} instead of ${expected.join()}`,
  );
}

function describeDatagram(isQuestion: boolean, length: number, isSound: boolean): string {
  return `${isQuestion ? "question" : "answer"} of ${length}${isSound ? "" : " spoilt"}`;
}

function unavailable(reason: string): MmsgAvailability {
  return { available: false, reason };
}

function firstLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!;
}
