import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { StreamConnection, StreamServer, StreamSink } from "../stream-server.ts";
import type { ContractNodes, ContractSubject } from "./contract-subject.ts";
import { Moment, collect, goRound, pattern, toBytes, toText } from "./contract-subject.ts";

/** What every network keeps for connections whose octets are handed over within the read. */
export function describeStreams(subject: ContractSubject): void {
  const on = subject.run;

  describe(`streams on ${subject.name}`, () => {
    it("hand octets over, send answers, and go on after the peer's half-close", () =>
      on(async (nodes) => {
        let text = "";
        await using server = await serve(nodes, (connection) => ({
          ...idleSink,
          onOctets: (octets) => (text += toText(octets)),
          onEnd: () => {
            connection.send(toBytes(`got ${text}`));
            connection.end();
          },
        }));
        await using near = await nodes.client.network.connectTcp({ to: server.local });
        await near.write(toBytes("one "));
        await near.write(toBytes("two"));
        await near.end();
        assert.equal(toText(await collect(near.received)), "got one two");
      }));

    it("tell both ends, and the close once", () =>
      on(async (nodes) => {
        const closed = new Moment();
        let closes = 0;
        let ends: readonly unknown[] = [];
        await using server = await serve(nodes, (connection) => {
          ends = [connection.local, connection.remote];
          return {
            ...idleSink,
            onEnd: () => connection.end(),
            onClose: () => {
              closes++;
              closed.now();
            },
          };
        });
        const near = await nodes.client.network.connectTcp({ to: server.local });
        await near.write(toBytes("x"));
        near.destroy();
        await closed.come;
        await goRound(nodes);
        assert.equal(closes, 1);
        assert.deepEqual(ends, [near.remote, near.local]);
      }));

    it("break at once when destroyed", () =>
      on(async (nodes) => {
        await using server = await serve(nodes, (connection) => ({
          ...idleSink,
          onOctets: () => connection.destroy(),
        }));
        await using near = await nodes.client.network.connectTcp({ to: server.local });
        await near.write(toBytes("x"));
        await assert.rejects(collect(near.received), { code: "Broken" });
      }));

    it("are congested when the peer does not read, drain when it does, and lose nothing", () =>
      on(async (nodes) => {
        const total = 32 * 1024 * 1024;
        const step = 60 * 1024;
        let sent = 0;
        const congested = new Moment();
        const fill = (connection: StreamConnection): void => {
          while (sent < total && !connection.congested) {
            // Never used again, whatever `send` says.
            connection.send(pattern(Math.min(step, total - sent), sent));
            sent += Math.min(step, total - sent);
          }
          if (sent < total) congested.now();
          else connection.end();
        };
        await using server = await serve(nodes, (connection) => ({
          ...idleSink,
          onOctets: () => fill(connection),
          onDrain: () => fill(connection),
        }));
        await using near = await nodes.client.network.connectTcp({ to: server.local });
        await near.write(toBytes("go"));
        await congested.come;
        assert.ok(sent < total);
        const received = await collect(near.received);
        assert.equal(received.length, total);
        assert.deepEqual(received, pattern(total));
      }));

    it("bring nothing while they are paused", () =>
      on(async (nodes) => {
        let text = "";
        let server: StreamConnection | undefined;
        const first = new Moment();
        const last = new Moment();
        await using listener = await serve(nodes, (connection) => {
          server = connection;
          return {
            ...idleSink,
            onOctets: (octets) => {
              text += toText(octets);
              connection.pause();
              first.now();
              if (text === "onetwo") last.now();
            },
          };
        });
        await using near = await nodes.client.network.connectTcp({ to: listener.local });
        await near.write(toBytes("one"));
        await first.come;
        await near.write(toBytes("two"));
        await goRound(nodes);
        assert.equal(text, "one");
        server!.resume();
        await last.come;
      }));

    it("stop taking connections, and let the open ones go on", () =>
      on(async (nodes) => {
        const accepted = new Moment();
        await using server = await serve(nodes, (connection) => {
          accepted.now();
          return {
            ...idleSink,
            onOctets: (octets) => {
              connection.send(octets.slice());
              connection.end();
            },
          };
        });
        await using near = await nodes.client.network.connectTcp({ to: server.local });
        await accepted.come;
        server.stop();
        await assert.rejects(nodes.client.network.connectTcp({ to: server.local }), { code: "Refused" });
        await near.write(toBytes("still here"));
        assert.equal(toText(await collect(near.received)), "still here");
      }));
  });
}

const idleSink: StreamSink = { onOctets() {}, onDrain() {}, onEnd() {}, onClose() {} };

function serve(
  nodes: ContractNodes,
  onConnection: (connection: StreamConnection) => StreamSink,
): Promise<StreamServer> {
  return nodes.server.network.serveStreams({ address: nodes.serverAddress, port: 0, onConnection });
}
