/*
 * Bugs of other servers in streams, proxies and short messages, by the row that tells of each.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, type TcpConnection } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { parseMessage, type Message } from "../message/message.ts";
import { authorityOf, caseZoneText, concat, hex, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import { dohHandler } from "./doh-handler.ts";
import { answerProxied } from "./proxy-datagrams.ts";
import { ProxySources } from "./proxy-sources.ts";
import { serveDns } from "./serve-dns.ts";

const endpoint = { address: "10.0.0.2", port: 53 };

test("D19: behind a proxy a cookie is bound to the client, not to the proxy", () => {
  const authority = authorityOf([caseZoneText]);
  const answer = answerProxied(authority.answer, new ProxySources(["10.0.0.0/8"]));
  const asked = concat(
    question("www.p.test", "A"),
    hex("00 0029 04d0 00000000 000c 000a 0008 0102030405060708"),
  );
  asked[11] = 1;
  const header = hex("0d0a0d0a000d0a515549540a 21 12 000c c0000207 c0000201 1234 0035");
  const cookieFor = (address: string, octets: Uint8Array): string => {
    const output = new Uint8Array(4096);
    const length = answer(octets, 0, octets.length, new ReusedClient("udp", { address, port: 4321 }), output);
    const cookie = parseMessage(output.slice(0, length)).edns?.options.find(({ code }) => code === 10);
    return Buffer.from(cookie?.octets ?? []).toString("hex");
  };
  const direct = cookieFor("192.0.2.7", asked);
  assert.equal(direct.length, 48);
  assert.equal(cookieFor("10.1.1.1", concat(header, asked)), direct);
  assert.equal(cookieFor("10.2.2.2", concat(header, asked)), direct);
  assert.notEqual(cookieFor("192.0.2.8", asked), direct);
});

test("E1: no short message ends the server, over UDP and TCP", async () => {
  const { sim, client, connect, server } = await start();
  let replies = 0;
  const socket = await sim.complete(
    client.runtime.network.bindUdp({ address: "10.0.0.1", port: 0, onDatagram: () => replies++ }),
  );
  const texts = Array.from({ length: 12 }, (_, length) => new Uint8Array(length));
  for (const octets of [...texts, new TextEncoder().encode("test\n")]) {
    socket.send(octets, endpoint);
    const connection = await connect();
    connection.write(octets).catch(() => {});
    connection.write(toFrame(octets)).catch(() => {});
  }
  await sim.run({ untilMs: sim.nowMs + 100 });
  assert.equal(replies, 0);
  socket.send(question("www.p.test", "A"), endpoint);
  await sim.run({ untilMs: sim.nowMs + 10_000 });
  assert.equal(replies, 1);
  assert.equal(server.counters.tcpOpen, 0);
});

test("E11: an update is refused over every transport alike", async () => {
  const { sim, authority, connect } = await start();
  const update = question("p.test", "SOA");
  update[2] = 5 << 3;
  const rcodes: number[] = [];
  for (const transport of ["udp", "tcp", "tls", "https"] as const) {
    const output = new Uint8Array(65_535);
    const client = new ReusedClient(transport, { address: "192.0.2.7", port: 4321 });
    const length = authority.answer(update, 0, update.length, client, output);
    rcodes.push(parseMessage(output.slice(0, length)).rcode);
  }
  const connection = await connect();
  const done = readAll(connection);
  await sim.complete(connection.write(toFrame(update)));
  await sim.complete(connection.end());
  rcodes.push(...(await sim.complete(done)).map(({ rcode }) => rcode));
  const handler = dohHandler({
    answer: authority.answer,
    requests: () => authority.requests,
    path: "/dns-query",
    onQuestion: () => {},
  });
  const { body } = await handler({
    method: "POST",
    target: "/dns-query",
    headers: { "content-type": "application/dns-message" },
    body: update,
    client: { address: "192.0.2.7", port: 4321 },
    signal: new AbortController().signal,
  });
  rcodes.push(parseMessage(body as Uint8Array).rcode);
  assert.deepEqual(rcodes, [5, 5, 5, 5, 5, 5]);
});

test("E21: no question over TCP is lost while the zone is replaced again and again", async () => {
  const { sim, authority, connect } = await start();
  const connection = await connect();
  const done = readAll(connection);
  const names = ["x.sub.p.test", "www.p.test", "nx.p.test"];
  for (let round = 0; round < 50; round++) {
    await sim.complete(
      connection.write(
        concat(...names.map((name, id) => toFrame(question(name, "A", { id: 3 * round + id })))),
      ),
    );
    authority.setZone(loadZone(caseZoneText));
    await sim.run({ untilMs: sim.nowMs + 1 });
  }
  await sim.complete(connection.end());
  const messages = await sim.complete(done);
  assert.deepEqual(
    messages.map(({ id }) => id),
    Array.from({ length: 150 }, (_, id) => id),
  );
  assert.deepEqual([...new Set(messages.map(({ rcode }) => rcode))].sort(), [0, 3]);
});

interface Fixture {
  readonly sim: Simulation;
  readonly client: ReturnType<Simulation["node"]>;
  readonly authority: Authority;
  readonly server: Awaited<ReturnType<typeof serveDns>>;
  readonly connect: () => Promise<TcpConnection>;
}

async function start(): Promise<Fixture> {
  const sim = new Simulation({ seed: 8 });
  const node = sim.node({ name: "server", addresses: [endpoint.address] });
  const client = sim.node({ name: "client", addresses: ["10.0.0.1"] });
  const authority = new Authority(node.runtime);
  authority.setZone(loadZone(caseZoneText));
  const server = await sim.complete(serveDns(node.runtime, { authority, listen: [endpoint] }));
  const connect = (): Promise<TcpConnection> =>
    sim.complete(client.runtime.network.connectTcp({ to: endpoint }));
  return { sim, client, authority, server, connect };
}

async function readAll(connection: TcpConnection): Promise<Message[]> {
  const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
  const messages: Message[] = [];
  for await (const chunk of connection.received) {
    for (const frame of frames.read(chunk)) if (typeof frame !== "string") messages.push(parseMessage(frame));
  }
  return messages;
}
