import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { TcpConnection } from "../network.ts";
import type { ContractNodes, ContractSubject } from "./contract-subject.ts";
import { Moment, collect, goRound, pattern, toBytes, toText, untilStill } from "./contract-subject.ts";

/** What every network keeps for connections. */
export function describeTcp(subject: ContractSubject): void {
  const on = subject.run;

  describe(`TCP on ${subject.name}`, () => {
    it("carries octets both ways and knows both ends", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        await pair.near.write(toBytes("ping"));
        assert.equal(toText(await firstOf(pair.far)), "ping");
        await pair.far.write(toBytes("pong"));
        assert.equal(toText(await firstOf(pair.near)), "pong");
        assert.deepEqual(pair.near.local, pair.far.remote);
        assert.deepEqual(pair.near.remote, pair.far.local);
        assert.equal(pair.near.local.address, nodes.clientAddress);
      }));

    it("goes on in the other direction after one side has ended", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        await pair.near.write(toBytes("that is all"));
        await pair.near.end();
        assert.equal(toText(await collect(pair.far.received)), "that is all");
        await pair.far.write(toBytes("still "));
        await goRound(nodes);
        await pair.far.write(toBytes("talking"));
        await pair.far.end();
        assert.equal(toText(await collect(pair.near.received)), "still talking");
      }));

    it("refuses to write after the end", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        await pair.near.end();
        await pair.near.end();
        await assert.rejects(pair.near.write(toBytes("more")), { code: "Closed" });
      }));

    it("lets the writer wait for a slow reader, and loses nothing", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        const total = 32 * 1024 * 1024;
        const step = 64 * 1024;
        let writtenBytes = 0;
        const writing = (async () => {
          while (writtenBytes < total) {
            await pair.near.write(pattern(step, writtenBytes));
            writtenBytes += step;
          }
          await pair.near.end();
        })();
        await untilStill(nodes, () => writtenBytes);
        assert.ok(writtenBytes < total, "everything was accepted although nobody reads");
        let readBytes = 0;
        for await (const octets of pair.far.received) {
          assert.equal(octets[0], pattern(1, readBytes)[0]);
          readBytes += octets.length;
        }
        await writing;
        assert.equal(readBytes, total);
      }));

    it("does not keep the caller's octets", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        const octets = toBytes("mine");
        const written = pair.near.write(octets);
        octets.fill(0);
        await written;
        assert.equal(toText(await firstOf(pair.far)), "mine");
      }));

    it("throws at both readers when one side destroys it", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        await pair.near.write(toBytes("x"));
        await firstOf(pair.far);
        const far = assert.rejects(collect(pair.far.received), { name: "NetworkError", code: "Broken" });
        const near = assert.rejects(collect(pair.near.received), { name: "NetworkError", code: "Closed" });
        pair.near.destroy();
        pair.near.destroy();
        await Promise.all([far, near]);
        await assert.rejects(pair.near.write(toBytes("late")), { code: "Closed" });
        await assert.rejects(pair.far.write(toBytes("late")), { code: "Broken" });
      }));

    it("breaks the open connections when the listener is disposed", () =>
      on(async (nodes) => {
        await using pair = await connectPair(nodes);
        const near = assert.rejects(collect(pair.near.received), { code: "Broken" });
        await pair.dispose();
        await near;
        await assert.rejects(nodes.client.network.connectTcp({ to: pair.near.remote }), { code: "Refused" });
      }));

    it("is refused where nothing listens", () =>
      on(async ({ client, serverAddress }) => {
        const attempt = client.network.connectTcp({ to: { address: serverAddress, port: 9 } });
        await assert.rejects(attempt, { name: "NetworkError", code: "Refused" });
      }));

    it("does not start with an aborted signal", () =>
      on(async ({ client, serverAddress }) => {
        const reason = new Error("not now");
        const attempt = client.network.connectTcp({
          to: { address: serverAddress, port: 9 },
          signal: AbortSignal.abort(reason),
        });
        await assert.rejects(attempt, reason);
      }));

    it("cannot leave from an address that the node does not have", () =>
      on(async ({ client, serverAddress }) => {
        const attempt = client.network.connectTcp({
          to: { address: serverAddress, port: 9 },
          from: "192.0.2.250",
        });
        await assert.rejects(attempt, { code: "AddressNotAvailable" });
      }));

    it("refuses a port that is taken, and gives it again once it is free", () =>
      on(async ({ server, serverAddress }) => {
        const onConnection = (): void => {};
        const first = await server.network.listenTcp({ address: serverAddress, port: 0, onConnection });
        const again = { address: serverAddress, port: first.local.port, onConnection };
        await assert.rejects(server.network.listenTcp(again), { code: "AddressInUse" });
        await first[Symbol.asyncDispose]();
        await using second = await server.network.listenTcp(again);
        assert.equal(second.local.port, again.port);
      }));
  });
}

interface Pair extends AsyncDisposable {
  readonly near: TcpConnection;
  readonly far: TcpConnection;
  /** Disposes the listener. */
  dispose(): Promise<void>;
}

async function connectPair({ server, client, serverAddress, clientAddress }: ContractNodes): Promise<Pair> {
  const accepted = new Moment();
  let far: TcpConnection | undefined;
  const listener = await server.network.listenTcp({
    address: serverAddress,
    port: 0,
    onConnection(connection) {
      far = connection;
      accepted.now();
    },
  });
  const near = await client.network.connectTcp({ to: listener.local, from: clientAddress });
  await accepted.come;
  assert.ok(far !== undefined);
  return {
    near,
    far,
    dispose: async () => listener[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await near[Symbol.asyncDispose]();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** The first octets to arrive; reading may go on later. */
async function firstOf(connection: TcpConnection): Promise<Uint8Array> {
  const iterator = connection.received[Symbol.asyncIterator]();
  const next = await iterator.next();
  await iterator.return?.();
  return next.done === true ? new Uint8Array() : next.value;
}
