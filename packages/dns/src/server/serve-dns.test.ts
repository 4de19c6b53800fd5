import assert from "node:assert/strict";
import test from "node:test";
import type { TcpConnection } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { parseMessage, type Message } from "../message/message.ts";
import { caseZoneText, concat, hex, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import { serveDns, type DnsServer, type ServeDnsOptions } from "./serve-dns.ts";

const endpoint = { address: "10.0.0.2", port: 53 };

async function start(
  options: Partial<ServeDnsOptions> = {},
): Promise<{ sim: Simulation; client: SimNode; server: DnsServer }> {
  const sim = new Simulation({ seed: 3 });
  const node = sim.node({ name: "server", addresses: [endpoint.address] });
  const client = sim.node({ name: "client", addresses: ["10.0.0.1"] });
  const authority = new Authority(node.runtime);
  authority.setZone(loadZone(caseZoneText));
  const server = await sim.complete(serveDns(node.runtime, { authority, listen: [endpoint], ...options }));
  return { sim, client, server };
}

function connect(sim: Simulation, client: SimNode): Promise<TcpConnection> {
  return sim.complete(client.runtime.network.connectTcp({ to: endpoint }));
}

/** Everything that comes until the other side ends; throws when it resets. */
async function readAll(connection: TcpConnection): Promise<Message[]> {
  const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
  const messages: Message[] = [];
  for await (const chunk of connection.received) {
    for (const frame of frames.read(chunk)) if (typeof frame !== "string") messages.push(parseMessage(frame));
  }
  return messages;
}

const www = toFrame(question("www.p.test", "A"));

test("three questions in one segment get three answers, and the client's half-close is respected", async () => {
  const { sim, client } = await start();
  const connection = await connect(sim, client);
  const done = readAll(connection);
  await sim.complete(
    connection.write(concat(www, toFrame(question("many.p.test", "A")), toFrame(question("nx.p.test", "A")))),
  );
  void connection.end();
  const messages = await sim.complete(done);
  assert.deepEqual(
    messages.map((message) => [message.rcode, message.answers.length]),
    [
      [0, 2],
      [0, 100],
      [3, 0],
    ],
  );
});

test("one octet at a time is answered as well", async () => {
  const { sim, client } = await start();
  const connection = await connect(sim, client);
  const done = readAll(connection);
  for (const octet of www) await sim.complete(connection.write(Uint8Array.from([octet])));
  void connection.end();
  assert.equal((await sim.complete(done)).length, 1);
});

for (const [name, octets] of [
  ["a frame of zero octets", hex("0000")],
  ["a frame of five octets", hex("0005 0102030405")],
  ["a frame over 16 KiB", hex("ffff")],
  ["an answer", toFrame(question("www.p.test", "A", { response: true }))],
] as const) {
  test(`${name} resets the connection`, async () => {
    const { sim, client, server } = await start();
    const connection = await connect(sim, client);
    const done = readAll(connection);
    done.catch(() => {});
    await sim.complete(connection.write(octets));
    await assert.rejects(sim.complete(done));
    assert.equal(server.counters.tcpReset, 1);
    assert.equal(server.counters.tcpOpen, 0);
  });
}

test("E12: a client that dribbles octets without a question is let go, an idle one later", async () => {
  const { sim, client, server } = await start({ tcp: { idleMs: 20_000 } });
  const dribbler = await connect(sim, client);
  const asker = await connect(sim, client);
  const gone = { dribbler: Infinity, asker: Infinity };
  readAll(dribbler).catch(() => (gone.dribbler = sim.nowMs));
  readAll(asker).catch(() => (gone.asker = sim.nowMs));
  await sim.complete(asker.write(www));
  for (let index = 0; index < 12; index++) {
    dribbler.write(www.subarray(index, index + 1)).catch(() => {});
    await sim.run({ untilMs: sim.nowMs + 1_000 });
  }
  assert.ok(gone.dribbler < 10_000, `${gone.dribbler}`);
  assert.equal(gone.asker, Infinity);
  await sim.run({ untilMs: 30_000 });
  assert.ok(gone.asker < 23_000, `${gone.asker}`);
  assert.equal(server.counters.tcpExpired, 2);
});

test("at the limit the longest silent connection makes room for a new one", async () => {
  const { sim, client, server } = await start({ tcp: { connectionsMax: 2 } });
  const broken: string[] = [];
  const open = async (name: string): Promise<TcpConnection> => {
    const connection = await connect(sim, client);
    readAll(connection).catch(() => broken.push(name));
    return connection;
  };
  const first = await open("first");
  await open("second");
  await sim.complete(first.write(www));
  await sim.run({ untilMs: sim.nowMs + 100 });
  await open("third");
  await sim.run({ untilMs: sim.nowMs + 100 });
  assert.deepEqual(broken, ["second"]);
  assert.equal(server.counters.tcpEvicted, 1);
  assert.equal(server.counters.tcpOpen, 2);
});

test("closing ends idle connections by FIN, refuses new ones, and ends in time", async () => {
  const { sim, client, server } = await start();
  const connection = await connect(sim, client);
  const done = readAll(connection);
  await sim.complete(connection.write(www));
  await sim.run({ untilMs: sim.nowMs + 100 });
  const started = sim.nowMs;
  await sim.complete(Promise.resolve(server[Symbol.asyncDispose]()));
  assert.ok(sim.nowMs - started <= 1_100);
  assert.equal((await sim.complete(done)).length, 1);
  await assert.rejects(connect(sim, client));
  await server[Symbol.asyncDispose]();
});

test("a port that is taken is said so, and nothing stays bound", async () => {
  const { sim } = await start();
  const other = sim.node({ name: "other", addresses: ["10.0.0.3"] });
  const authority = new Authority(other.runtime);
  const free = { address: "10.0.0.3", port: 53 };
  const bad = { address: "10.0.0.77", port: 53 };
  await assert.rejects(sim.complete(serveDns(other.runtime, { authority, listen: [free, bad] })), {
    code: "AddressNotAvailable",
  });
  await sim.complete(serveDns(other.runtime, { authority, listen: [free] }));
});
