import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { deferred, type AnswerDatagram, type DatagramClient, type Endpoint } from "../../network.ts";
import { nodeClock } from "../node-clock.ts";
import { loadLibc } from "./libc.ts";
import { mmsgAvailability, probeMmsg } from "./mmsg-availability.ts";
import { MmsgBatch } from "./mmsg-batch.ts";
import { assertPortFree, openMmsgSocket } from "./mmsg-socket.ts";

const availability = mmsgAvailability();
const skip = availability.available ? false : availability.reason;

/** Prefixes each datagram with what the server saw of its client. */
// oxlint-disable-next-line max-params -- the shape of AnswerDatagram
const tell: AnswerDatagram = (input, offset, length, client, output) => {
  if (input[offset] === 0x21) return 0;
  const seen = new TextEncoder().encode(`${client.address} ${client.port} ${client.octetCount} `);
  output.set(seen);
  output.set(input.subarray(offset, offset + length), seen.length);
  return seen.length + length;
};

test("a machine of another kind has no such sockets, and is told why", () => {
  const reasons = [
    { platform: "win32", arch: "x64" },
    { platform: "linux", arch: "s390x" },
  ].map((machine) => probeMmsg(machine));
  assert.deepEqual(reasons, [
    { available: false, reason: "win32 has no recvmmsg" },
    { available: false, reason: "the layout of C structures on s390x is not known here" },
  ]);
});

for (const { address, bound } of [
  { address: "127.0.0.1", bound: "127.0.0.1" },
  { address: "::1", bound: "::1" },
  { address: "127.0.0.77", bound: "0.0.0.0" },
  { address: "::1", bound: "::" },
]) {
  test(`G4: datagrams to ${address} are answered from there by a socket on ${bound}`, { skip }, async () => {
    using socket = openMmsgSocket({ address: bound, port: 0 });
    using batch = new MmsgBatch(socket.descriptor, { width: 4 });
    assert.ok(socket.receiveBufferBytes > 0);
    const client = await openClient({ address, port: socket.local.port });
    // Ten make several batches; "!" gets no answer, so the later ones go to other receivers than their own number.
    const texts = ["a", "!", "b", "!", "!", "c", "d", "x".repeat(20_000), "!", "e"];
    for (const text of texts) await client.send(text);
    await serveUntil({ batch, answer: tell, received: texts.length });
    const expected = texts.filter((text) => text !== "!");
    await client.until(expected.length);
    const own = `${client.local.address} ${client.local.port} ${address.includes(":") ? 16 : 4} `;
    assert.deepEqual(client.got.toSorted(), expected.map((text) => own + text).toSorted());
    assert.deepEqual([batch.received, batch.answered, batch.unsendable], [texts.length, expected.length, 0]);
    client.close();
  });
}

test("what is deferred is answered later, from any thread's batch of the same socket", { skip }, async () => {
  using socket = openMmsgSocket({ address: "0.0.0.0", port: 0 });
  using batch = new MmsgBatch(socket.descriptor);
  using other = new MmsgBatch(socket.descriptor, { width: 1 });
  const client = await openClient({ address: "127.0.0.5", port: socket.local.port });
  const kept: { message: Uint8Array; client: DatagramClient; peer: Uint8Array }[] = [];
  await client.send("later");
  await client.send("again");
  const defer = (message: Uint8Array, from: DatagramClient, peer: Uint8Array): void =>
    void kept.push({ message, client: from, peer });
  await serveUntil({ batch, answer: () => deferred, received: 2, defer });
  for (const { message, client: from, peer } of kept) {
    assert.deepEqual([from.address, from.port], [client.local.address, client.local.port]);
    other.reply(peer, Uint8Array.from([...message, 0x21]));
  }
  await client.until(2);
  assert.deepEqual(client.got, ["later!", "again!"]);
  client.close();
});

test("G3: sockets of one process share a port that nobody else gets", { skip }, () => {
  using first = openMmsgSocket({ address: "127.0.0.1", port: 0 });
  using second = openMmsgSocket(first.local);
  assert.deepEqual(second.local, first.local);
  assert.throws(() => assertPortFree(first.local), { name: "NetworkError", code: "AddressInUse" });
  assert.throws(() => openMmsgSocket({ address: "192.0.2.250", port: 0 }), { code: "AddressNotAvailable" });
  assert.throws(() => openMmsgSocket({ address: "ns.example", port: 0 }), { code: "Unreachable" });
});

test("an answer that cannot be sent does not take those behind it along", { skip }, async () => {
  using socket = openMmsgSocket({ address: "127.0.0.1", port: 0 });
  using batch = new MmsgBatch(socket.descriptor);
  const client = await openClient(socket.local);
  for (const text of ["a", "b", "c"]) await client.send(text);
  let answers = 0;
  // 65,535 octets are more than a datagram over IPv4 can hold: EMSGSIZE.
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  const answer: AnswerDatagram = (...args) => (answers++ === 1 ? args[4].length : tell(...args));
  await serveUntil({ batch, answer, received: 3 });
  await client.until(2);
  assert.equal(batch.unsendable, 1);
  assert.deepEqual(
    client.got.map((text) => text.at(-1)),
    ["a", "c"],
  );
  client.close();
});

test("a batch whose socket is gone says so", { skip }, () => {
  const socket = openMmsgSocket({ address: "127.0.0.1", port: 0 });
  using batch = new MmsgBatch(socket.descriptor);
  socket[Symbol.dispose]();
  assert.throws(() => batch.serve(tell, { wait: false }), { code: "EBADF" });
});

test(
  "G7: a call with other arguments than it was declared with is refused before it reaches C",
  { skip },
  () => {
    const libc = loadLibc();
    assert.throws(() => Reflect.apply(libc.recvmmsg, undefined, [0, 0, 0]), /5 arguments/);
    assert.throws(() => Reflect.apply(libc.sendmmsg, undefined, [0, "nothing", 0, 0]), /expected number/);
  },
);

test("G6: 100,000 datagrams through storms of garbage collection", { skip, timeout: 120_000 }, async () => {
  const program = fileURLToPath(new URL("../../testdata/mmsg-storm.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, "100000"]);
  assert.match(stdout, /^100000 answered, 0 wrong\n$/);
});

async function serveUntil(options: {
  readonly batch: MmsgBatch;
  readonly answer: AnswerDatagram;
  readonly received: number;
  readonly defer?: (message: Uint8Array, client: DatagramClient, peer: Uint8Array) => void;
}): Promise<void> {
  const { batch, answer, received, defer } = options;
  for (let tries = 0; batch.received < received; tries++) {
    assert.ok(tries < 250, `only ${batch.received} of ${received} datagrams arrived`);
    batch.serve(answer, { wait: true, ...(defer === undefined ? {} : { defer }) });
    await nodeClock.sleep(0, new AbortController().signal);
  }
}

async function openClient(server: Endpoint): Promise<{
  readonly local: Endpoint;
  readonly got: string[];
  send(text: string): Promise<void>;
  until(count: number): Promise<void>;
  close(): void;
}> {
  const socket = createSocket(server.address.includes(":") ? "udp6" : "udp4");
  const got: string[] = [];
  let onGot = (): void => {};
  socket.on("message", (octets) => {
    got.push(octets.toString());
    onGot();
  });
  // Connected: an answer from another address than the one asked would not be let in.
  await new Promise<void>((resolve) => socket.connect(server.port, server.address, resolve));
  return {
    local: socket.address(),
    got,
    send: (text) =>
      new Promise((resolve, reject) =>
        socket.send(text, (error) => (error === null ? resolve() : reject(error))),
      ),
    until: (count) =>
      new Promise((resolve) => {
        onGot = () => {
          if (got.length >= count) resolve();
        };
        onGot();
      }),
    close: () => socket.close(),
  };
}
