import assert from "node:assert/strict";
import test from "node:test";
import { deferred, type AnswerDatagram, type TcpConnection } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { parseMessage } from "../message/message.ts";
import { caseZoneText, concat, hex, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import type { DnsRequest } from "./dns-request.ts";
import { serveDns, type DnsServer, type ServeDnsOptions } from "./serve-dns.ts";

const endpoint = { address: "10.0.0.2", port: 53 };
const tlsEndpoint = { address: "10.0.0.2", port: 853 };
const www = toFrame(question("www.p.test", "A"));

interface Fixture {
  readonly sim: Simulation;
  readonly server: DnsServer;
  readonly authority: Authority;
  /** Connects from an address, and notes how the connection ended. */
  readonly connect: (from?: string, to?: typeof endpoint) => Promise<Peer>;
  readonly client: SimNode;
}

interface Peer {
  readonly connection: TcpConnection;
  readonly frames: Uint8Array[];
  state: "open" | "ended" | "broken";
  endedAtMs: number;
}

async function start(options: Partial<ServeDnsOptions> = {}): Promise<Fixture> {
  const sim = new Simulation({ seed: 4 });
  const node = sim.node({ name: "server", addresses: [endpoint.address] });
  const clients = ["10.0.1.1", "10.0.1.2", "10.9.0.1"];
  const client = sim.node({ name: "client", addresses: clients });
  const authority = new Authority(node.runtime);
  authority.setZone(loadZone(caseZoneText));
  const server = await sim.complete(serveDns(node.runtime, { authority, listen: [endpoint], ...options }));
  const connect = async (from = clients[0]!, to = endpoint): Promise<Peer> => {
    const connection = await sim.complete(client.runtime.network.connectTcp({ to, from }));
    const peer: Peer = { connection, frames: [], state: "open", endedAtMs: Infinity };
    void read(peer, sim);
    return peer;
  };
  return { sim, server, authority, connect, client };
}

async function read(peer: Peer, sim: Simulation): Promise<void> {
  const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
  try {
    for await (const chunk of peer.connection.received) {
      for (const frame of frames.read(chunk)) if (typeof frame !== "string") peer.frames.push(frame.slice());
    }
    peer.state = "ended";
  } catch {
    peer.state = "broken";
  }
  peer.endedAtMs = sim.nowMs;
}

const settle = (sim: Simulation, ms = 200): Promise<unknown> => sim.run({ untilMs: sim.nowMs + ms });

test("a client at its limit loses its own longest idle connection, and no other client's", async () => {
  const { sim, server, connect } = await start({ tcp: { connectionsPerClientMax: 2 } });
  const other = await connect("10.0.1.2");
  const mine = [await connect(), await connect(), await connect()];
  await settle(sim);
  assert.deepEqual(
    mine.map(({ state }) => state),
    ["broken", "open", "open"],
  );
  assert.equal(other.state, "open");
  assert.equal(server.counters.tcpEvicted, 1);
  mine[1]!.connection.destroy();
  await settle(sim);
  await connect();
  await settle(sim);
  assert.equal(mine[2]!.state, "open", "what was closed does not count");
});

test("a connection whose request is being answered is not idle: silent ones make room before it", async () => {
  const { sim, server, connect, authority } = await start({ tcp: { connectionsPerClientMax: 2 } });
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  authority.requests = {
    // oxlint-disable-next-line require-yield -- a transfer that lasts
    async *handle() {
      await finished;
    },
  };
  const transfer = await connect();
  await sim.complete(transfer.connection.write(toFrame(question("p.test", "AXFR"))));
  await settle(sim);
  const silent = await connect();
  const newcomer = await connect();
  await settle(sim);
  assert.deepEqual([transfer.state, silent.state, newcomer.state], ["open", "broken", "open"]);
  assert.equal(server.counters.tcpEvicted, 1);
  finish();
});

test("a proxy may hold as many connections as all may", async () => {
  const { sim, server, connect } = await start({
    tcp: { connectionsPerClientMax: 2 },
    proxies: ["10.9.0.0/16"],
  });
  const peers = [await connect("10.9.0.1"), await connect("10.9.0.1"), await connect("10.9.0.1")];
  await settle(sim);
  assert.ok(peers.every(({ state }) => state === "open"));
  assert.equal(server.counters.tcpEvicted, 0);
});

test("a connection has so many questions and no more", async () => {
  const { sim, connect } = await start({ tcp: { questionsMax: 3 } });
  const peer = await connect();
  await sim.complete(peer.connection.write(concat(www, www, www)));
  await settle(sim);
  assert.equal(peer.frames.length, 3);
  assert.equal(peer.state, "ended");
});

test("clients that ask for keepalive are told of the idle time that is configured, and other threads of none", async () => {
  const { authority, connect } = await start({ tcp: { idleMs: 5_000, connectionsMax: 2 } });
  assert.equal(authority.tcpIdleMs, 5_000);
  let shared = 0;
  authority.onShareChanged = () => void shared++;
  await connect();
  await connect();
  assert.equal(authority.tcpIdleMs, 3_000);
  assert.equal(shared, 0);
});

test("when most slots are taken, silence is borne for a shorter time", async () => {
  const { sim, connect, authority } = await start({ tcp: { connectionsMax: 4 } });
  const peers = [await connect(), await connect(), await connect()];
  for (const { connection } of peers) await sim.complete(connection.write(www));
  await settle(sim, 6_000);
  assert.ok(peers.every(({ state }) => state === "open"));
  peers.push(await connect());
  await sim.complete(peers[3]!.connection.write(www));
  assert.equal(authority.tcpIdleMs, 3_000);
  await settle(sim, 2_000);
  assert.equal(peers.filter(({ state }) => state === "open").length, 1);
  assert.equal(authority.tcpIdleMs, 30_000);
});

test("who takes no answers is read no more, and let go after 10 s", async () => {
  let asked = 0;
  const { sim, server, client, authority } = await start({
    answer: (...given) => {
      asked++;
      return authority.answer(...given);
    },
  });
  const connection = await sim.complete(client.runtime.network.connectTcp({ to: endpoint }));
  const many = toFrame(question("many.p.test", "A"));
  const questions = concat(...Array.from({ length: 1_000 }, () => many));
  void (async () => {
    for (let index = 0; index < 20; index++) await connection.write(questions);
  })().catch(() => {});
  await settle(sim, 5_000);
  const whenFull = asked;
  assert.ok(whenFull < 1_000, `${whenFull} questions were answered for nobody`);
  await settle(sim, 4_000);
  assert.equal(asked, whenFull);
  assert.equal(server.counters.tcpOpen, 1);
  await settle(sim, 5_000);
  assert.equal(server.counters.tcpOpen, 0);
  assert.equal(server.counters.tcpExpired, 1);
});

test("who takes answers slowly gets them all, in order", async () => {
  const { sim, client } = await start();
  const connection = await sim.complete(client.runtime.network.connectTcp({ to: endpoint }));
  const total = 2_000;
  const asking = (async () => {
    for (let id = 0; id < total; id++) await connection.write(toFrame(question("many.p.test", "A", { id })));
    await connection.end();
  })();
  const ids: number[] = [];
  const reading = (async () => {
    const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
    for await (const chunk of connection.received) {
      for (const frame of frames.read(chunk)) {
        if (typeof frame !== "string") ids.push((frame[0]! << 8) | frame[1]!);
      }
      await client.runtime.clock.sleep(5);
    }
  })();
  await sim.complete(Promise.all([asking, reading]));
  assert.deepEqual(
    ids,
    Array.from({ length: total }, (_, id) => id),
  );
});

/** Defers every message whose id is 1,000 or more. */
function deferring(authority: () => Authority): AnswerDatagram {
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  return (input, offset, length, client, output) =>
    ((input[offset]! << 8) | input[offset + 1]!) >= 1_000
      ? deferred
      : authority().answer(input, offset, length, client, output);
}

const idsOf = (peer: Peer): number[] => peer.frames.map((frame) => (frame[0]! << 8) | frame[1]!);

interface Pipeline {
  readonly requests: DnsRequest[];
  readonly finish: (() => void)[];
}

/** Answers each request with two messages, the second when it is told to. */
function install(authority: Authority): Pipeline {
  const requests: DnsRequest[] = [];
  const finish: (() => void)[] = [];
  authority.requests = {
    async *handle(request) {
      requests.push(request);
      yield request.message;
      await new Promise<void>((resolve) => finish.push(resolve));
      yield request.message;
    },
  };
  return { requests, finish };
}

test("what needs more than a lookup is answered when it is ready, and other questions meanwhile", async () => {
  let own: Authority | undefined;
  const { sim, authority, connect } = await start({ answer: deferring(() => own!) });
  own = authority;
  const { requests, finish } = install(authority);
  const peer = await connect();
  const ask = (id: number): Uint8Array => toFrame(question("www.p.test", "A", { id }));
  await sim.complete(peer.connection.write(concat(ask(1), ask(1_000), ask(2))));
  void peer.connection.end();
  await settle(sim);
  assert.deepEqual(idsOf(peer).sort(), [1, 1_000, 2].sort());
  assert.equal(peer.state, "open", "the client's half-close waits for what is due");
  assert.deepEqual([requests[0]!.client.address, requests[0]!.client.transport], ["10.0.1.1", "tcp"]);
  finish[0]!();
  await settle(sim);
  assert.equal(peer.frames.length, 4);
  assert.equal(peer.state, "ended");
  assert.equal(requests[0]!.signal.aborted, true);
});

test("of many requests of one connection eight are answered at once, and the others in their turn", async () => {
  let own: Authority | undefined;
  const { sim, authority, connect } = await start({ answer: deferring(() => own!) });
  own = authority;
  const { requests, finish } = install(authority);
  const peer = await connect();
  const ids = Array.from({ length: 20 }, (_, index) => 1_000 + index);
  await sim.complete(
    peer.connection.write(concat(...ids.map((id) => toFrame(question("www.p.test", "A", { id }))))),
  );
  await settle(sim);
  assert.equal(requests.length, 8);
  for (let index = 0; index < 20; index++) {
    finish[index]!();
    await settle(sim, 50);
  }
  assert.equal(peer.frames.length, 40);
});

test("a request of a client that has gone is aborted, and a request is no idleness", async () => {
  let own: Authority | undefined;
  const { sim, authority, connect, server } = await start({ answer: deferring(() => own!) });
  own = authority;
  const { requests } = install(authority);
  const peer = await connect();
  await sim.complete(peer.connection.write(toFrame(question("www.p.test", "A", { id: 1_000 }))));
  await settle(sim, 60_000);
  assert.equal(peer.state, "open");
  peer.connection.destroy();
  await settle(sim);
  assert.equal(requests[0]!.signal.aborted, true);
  assert.equal(server.counters.tcpOpen, 0);
});

test("a datagram that needs more than a lookup is answered, and of a thousand as many as may wait", async () => {
  let own: Authority | undefined;
  const { sim, authority, client, server } = await start({ answer: deferring(() => own!) });
  own = authority;
  const { requests, finish } = install(authority);
  let replies = 0;
  const socket = await sim.complete(
    client.runtime.network.bindUdp({ address: "10.0.1.1", port: 0, onDatagram: () => replies++ }),
  );
  for (let index = 0; index < 1_000; index++) {
    socket.send(question("www.p.test", "A", { id: 1_000 + index }), endpoint);
  }
  await settle(sim);
  assert.deepEqual([requests.length, replies, server.counters.udpRequestsLost], [256, 256, 744]);
  for (const go of finish) go();
  await settle(sim);
  assert.equal(replies, 512);
});

const proxyHeader = hex("0d0a0d0a000d0a515549540a 21 11 000c c0000207 c0000201 1234 0035");

for (const [name, to] of [
  ["TCP", endpoint],
  ["TLS", tlsEndpoint],
] as const) {
  test(`what a proxy sends over ${name} is answered as from its client, however the header is cut`, async () => {
    const seen = new Set<string>();
    let own: Authority | undefined;
    const { sim, authority, connect } = await start({
      proxies: ["10.9.0.0/16"],
      tls: { listen: [tlsEndpoint], identity: { certificatePem: "", privateKeyPem: "" } },
      // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
      answer: (input, offset, length, client, output) => {
        seen.add(`${client.transport} ${client.address}#${client.port}`);
        return own!.answer(input, offset, length, client, output);
      },
    });
    own = authority;
    const whole = await connect("10.9.0.1", to);
    await sim.complete(whole.connection.write(concat(proxyHeader, www, www)));
    const cut = await connect("10.9.0.1", to);
    for (const octet of concat(proxyHeader, www)) {
      await sim.complete(cut.connection.write(Uint8Array.of(octet)));
    }
    const none = await connect("10.9.0.1", to);
    await sim.complete(none.connection.write(www));
    await settle(sim);
    assert.deepEqual([whole.frames.length, cut.frames.length], [2, 1]);
    assert.equal(none.state, "broken");
    assert.deepEqual([...seen], [`${name.toLowerCase()} 192.0.2.7#4660`]);
  });
}

test("over TLS an answer is padded where the client pads", async () => {
  const { sim, connect } = await start({
    tls: { listen: [tlsEndpoint], identity: { certificatePem: "", privateKeyPem: "" } },
  });
  const padded = concat(question("www.p.test", "A"), hex("00 0029 04d0 00000000 0008 000c 0004 00000000"));
  padded[11] = 1;
  for (const [to, length] of [
    [endpoint, undefined],
    [tlsEndpoint, 468],
  ] as const) {
    const peer = await connect(undefined, to);
    await sim.complete(peer.connection.write(toFrame(padded)));
    await settle(sim);
    assert.equal(peer.frames.length, 1);
    if (length === undefined) assert.ok(peer.frames[0]!.length < 200);
    else assert.equal(peer.frames[0]!.length, length);
  }
});

test("while it closes, the server answers what is due and asks clients to leave", async () => {
  let own: Authority | undefined;
  const { sim, authority, connect, server } = await start({
    answer: deferring(() => own!),
    closeGraceMs: 5_000,
  });
  own = authority;
  const { finish } = install(authority);
  const peer = await connect();
  await sim.complete(peer.connection.write(toFrame(question("www.p.test", "A", { id: 1_000 }))));
  await settle(sim);
  const closed = Promise.resolve(server[Symbol.asyncDispose]());
  await settle(sim);
  const keepalive = concat(
    question("www.p.test", "A", { id: 5 }),
    hex("00 0029 04d0 00000000 0004 000b 0000"),
  );
  keepalive[11] = 1;
  await sim.complete(peer.connection.write(toFrame(keepalive)));
  await settle(sim);
  const answer = peer.frames.find((frame) => frame[1] === 5);
  assert.ok(answer !== undefined);
  assert.deepEqual(parseMessage(answer).edns?.options, [{ code: 11, octets: Uint8Array.of(0, 0) }]);
  finish[0]!();
  await sim.complete(closed);
  assert.equal(peer.frames.length, 3);
  assert.equal(peer.state, "ended");
});
