import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { deferred, type AnswerDatagram, type Endpoint } from "../network.ts";
import type { Runtime } from "../runtime.ts";
import type { ContractSubject } from "./contract-subject.ts";
import { Moment, goRound, pattern, toBytes, toText } from "./contract-subject.ts";

// oxlint-disable-next-line max-params -- AnswerDatagram has five, so that a datagram costs no object
const echo: AnswerDatagram = (input, offset, length, _client, output) => {
  output.set(input.subarray(offset, offset + length));
  return length;
};

/** What every network keeps for datagrams, when none is lost. */
export function describeUdp(subject: ContractSubject): void {
  const on = subject.run;

  describe(`UDP on ${subject.name}`, () => {
    it("answers a datagram from the address that it was sent to", () =>
      on(async ({ server, client, serverAddress, clientAddress }) => {
        const asked: Endpoint[] = [];
        await using udp = await server.network.serveUdp({
          address: serverAddress,
          port: 0,
          answer(...args) {
            const { address, port, transport } = args[3];
            assert.equal(transport, "udp");
            asked.push({ address, port });
            return echo(...args);
          },
        });
        assert.equal(udp.local.address, serverAddress);
        assert.notEqual(udp.local.port, 0);
        const { from, datagram, local } = await ask(client, {
          to: udp.local,
          from: clientAddress,
          text: "hello",
        });
        assert.equal(datagram, "hello");
        assert.deepEqual(from, udp.local);
        assert.deepEqual(asked, [local]);
      }));

    it("hands on what is deferred, and sends the reply whenever it comes", () =>
      on(async ({ server, client, serverAddress, clientAddress }) => {
        const asked: Endpoint[] = [];
        await using udp = await server.network.serveUdp({
          address: serverAddress,
          port: 0,
          answer: () => deferred,
          defer(message, from, reply) {
            const octets = [...from.octets.subarray(0, from.octetCount)];
            void server.clock.sleep(20).then(() => {
              asked.push({ address: from.address, port: from.port });
              assert.equal(octets.join("."), clientAddress);
              const octetsOfReply = toBytes(`${toText(message)}, later`);
              reply(octetsOfReply);
              octetsOfReply.fill(0xff);
            });
          },
        });
        const { datagram, from, local } = await ask(client, {
          to: udp.local,
          from: clientAddress,
          text: "hello",
        });
        assert.equal(datagram, "hello, later");
        assert.deepEqual(from, udp.local);
        assert.deepEqual(asked, [local]);
      }));

    it("sends nothing where the answer is empty", () =>
      on(async ({ server, client, serverAddress, clientAddress }) => {
        await using udp = await server.network.serveUdp({
          address: serverAddress,
          port: 0,
          answer: (input, offset, ...rest) => (input[offset] === 0x21 ? 0 : echo(input, offset, ...rest)),
        });
        const got: string[] = [];
        const last = new Moment();
        await using socket = await client.network.bindUdp({
          address: clientAddress,
          port: 0,
          onDatagram(datagram) {
            got.push(toText(datagram));
            if (got.includes("last")) last.now();
          },
        });
        socket.send(toBytes("! not this"), udp.local);
        await ask(client, { to: udp.local, from: clientAddress, text: "what came before is answered" });
        socket.send(toBytes("last"), udp.local);
        await last.come;
        assert.deepEqual(got, ["last"]);
      }));

    it("keeps the octets of many datagrams apart, small and large", () =>
      on(async ({ server, client, serverAddress, clientAddress }) => {
        await using udp = await server.network.serveUdp({ address: serverAddress, port: 0, answer: echo });
        const sizes = [1, 512, 1_232, 4_096, 9_000, 1];
        const got = new Map<number, Uint8Array>();
        const all = new Moment();
        await using socket = await client.network.bindUdp({
          address: clientAddress,
          port: 0,
          onDatagram(datagram) {
            got.set(datagram[0] as number, datagram.slice(1));
            if (got.size === sizes.length) all.now();
          },
        });
        sizes.forEach((size, i) => {
          const datagram = new Uint8Array([i, ...pattern(size, i)]);
          socket.send(datagram, udp.local);
          datagram.fill(0xff);
        });
        await all.come;
        sizes.forEach((size, i) => assert.deepEqual(got.get(i), pattern(size, i)));
      }));

    it("refuses a port that is taken, and gives it again once it is free", () =>
      on(async ({ server, serverAddress }) => {
        const first = await server.network.serveUdp({ address: serverAddress, port: 0, answer: echo });
        const again = { address: serverAddress, port: first.local.port };
        await assert.rejects(server.network.serveUdp({ ...again, answer: echo }), { code: "AddressInUse" });
        await assert.rejects(server.network.bindUdp({ ...again, onDatagram() {} }), { code: "AddressInUse" });
        await first[Symbol.asyncDispose]();
        await first[Symbol.asyncDispose]();
        await using second = await server.network.serveUdp({ ...again, answer: echo });
        assert.deepEqual(second.local, again);
      }));

    it("refuses an address that the node does not have", () =>
      on(async ({ server }) => {
        const asked = { address: "192.0.2.250", port: 0 };
        await assert.rejects(server.network.serveUdp({ ...asked, answer: echo }), {
          name: "NetworkError",
          code: "AddressNotAvailable",
        });
      }));

    it("takes what cannot be sent for lost", () =>
      on(async (nodes) => {
        const { client, serverAddress, clientAddress } = nodes;
        const socket = await client.network.bindUdp({ address: clientAddress, port: 0, onDatagram() {} });
        socket.send(toBytes("nobody listens"), { address: serverAddress, port: 9 });
        socket.send(toBytes("nobody can"), { address: serverAddress, port: 0 });
        socket.send(toBytes("no address"), { address: "not an address", port: 9 });
        socket.send(toBytes("of the other family"), { address: "2001:db8::1", port: 9 });
        socket.send(new Uint8Array(70_000), { address: serverAddress, port: 9 });
        await goRound(nodes);
        await socket[Symbol.asyncDispose]();
        socket.send(toBytes("too late"), { address: serverAddress, port: 9 });
        await goRound(nodes);
      }));
  });
}

interface Question {
  readonly to: Endpoint;
  readonly from: string;
  readonly text: string;
}

async function ask(
  client: Runtime,
  question: Question,
): Promise<{ from: Endpoint; datagram: string; local: Endpoint }> {
  let settle: (answer: { from: Endpoint; datagram: string }) => void;
  const answered = new Promise<{ from: Endpoint; datagram: string }>((resolve) => (settle = resolve));
  await using socket = await client.network.bindUdp({
    address: question.from,
    port: 0,
    onDatagram: (datagram, from) => settle({ datagram: toText(datagram), from: { ...from } }),
  });
  socket.send(toBytes(question.text), question.to);
  return { ...(await answered), local: socket.local };
}
