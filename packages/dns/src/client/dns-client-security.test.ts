import assert from "node:assert/strict";
import test from "node:test";
import type { AnswerDatagram, Runtime, TcpConnection } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { composeMessage, parseMessage, type Edns, type Message } from "../message/message.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { verifyRequest } from "../tsig/verify-request.ts";
import { DnsClient } from "./dns-client.ts";
import type { DnsQuestion } from "./question-asking.ts";
import type { Verdict } from "./verdict.ts";

const key = parseTsigKey({
  name: "k",
  algorithm: "hmac-sha256",
  secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
});
const at = (octet: number): { address: string; port: number } => ({ address: `10.0.0.${octet}`, port: 53 });
const address = { name: "www.p.test", type: "A", class: 1, ttl: 5, data: "192.0.2.1" };

interface World {
  readonly sim: Simulation;
  readonly client: DnsClient;
  readonly server: SimNode;
  readonly ask: (more?: Partial<DnsQuestion>) => Promise<Verdict>;
}

function world(): World {
  const sim = new Simulation({ seed: 1 });
  const client = new DnsClient(sim.node({ name: "client", addresses: ["10.0.0.1"] }).runtime);
  const server = sim.node({ name: "server", addresses: [at(2).address] });
  return {
    sim,
    client,
    server,
    ask: (more = {}) =>
      sim.complete(
        client.query({ name: "www.p.test", type: "A", servers: [at(2)], deadlineMs: 2_000, ...more }),
      ),
  };
}

type Reply = (question: Message, raw: Uint8Array) => Uint8Array | undefined;

function replyTo(question: Message, more: Partial<Message>): Uint8Array {
  return composeMessage({ id: question.id, questions: question.questions, response: true, ...more });
}

async function serveUdp({ network }: Runtime, reply: Reply): Promise<void> {
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  const answer: AnswerDatagram = (input, offset, length, _client, output) => {
    const raw = input.slice(offset, offset + length);
    const octets = reply(parseMessage(raw), raw) ?? new Uint8Array();
    output.set(octets);
    return octets.length;
  };
  await network.serveUdp({ ...at(2), answer });
}

interface TcpCounts {
  opened: number;
  ended: number;
}

/** Answers the questions of each connection. */
async function serveTcp(
  { network }: Runtime,
  reply: Reply,
  onConnection: (connection: TcpConnection) => void = () => {},
): Promise<TcpCounts> {
  const counts = { opened: 0, ended: 0 };
  const serve = async (connection: TcpConnection): Promise<void> => {
    const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
    for await (const chunk of connection.received)
      for (const frame of frames.read(chunk)) {
        if (typeof frame === "string") continue;
        const octets = reply(parseMessage(frame.slice()), frame.slice());
        if (octets !== undefined) await connection.write(toFrame(octets));
      }
  };
  await network.listenTcp({
    ...at(2),
    onConnection(connection) {
      counts.opened++;
      onConnection(connection);
      const end = (): void => void counts.ended++;
      serve(connection).then(end, end);
    },
  });
  return counts;
}

const cookieOf = ({ edns }: Message): Uint8Array | undefined =>
  edns?.options.find(({ code }) => code === 10)?.octets;
const ednsWith = (cookie: Uint8Array): Message["edns"] => ({
  payloadSize: 1232,
  version: 0,
  dnssecOk: false,
  options: [{ code: 10, octets: cookie }],
});
const serverCookie = new Uint8Array(16).fill(9);

test("each server is asked with a cookie from the first question on, and with its own part once it gave one", async () => {
  const { server, ask } = world();
  const seen: Uint8Array[] = [];
  await serveUdp(server.runtime, (question) => {
    const cookie = cookieOf(question)!;
    seen.push(cookie);
    return replyTo(question, {
      answers: [address],
      edns: ednsWith(Uint8Array.of(...cookie.slice(0, 8), ...serverCookie))!,
    });
  });
  assert.equal((await ask()).state, "answered");
  assert.equal((await ask()).state, "answered");
  assert.deepEqual(
    seen.map((cookie) => cookie.length),
    [8, 24],
  );
  assert.deepEqual(seen[1]!.slice(0, 8), seen[0]);
  assert.deepEqual(seen[1]!.slice(8), serverCookie);
});

test("a reply with somebody else's cookie is ignored while the right one is waited for", async () => {
  const { server, ask } = world();
  const socket = await server.runtime.network.bindUdp({
    ...at(2),
    onDatagram(datagram, from) {
      const question = parseMessage(datagram);
      const forged = replyTo(question, {
        answers: [{ ...address, data: "192.0.2.66" }],
        edns: ednsWith(new Uint8Array(24))!,
      });
      socket.send(forged, from);
      socket.send(
        replyTo(question, {
          answers: [address],
          edns: ednsWith(Uint8Array.of(...cookieOf(question)!, ...serverCookie))!,
        }),
        from,
      );
    },
  });
  const verdict = await ask();
  assert.ok(verdict.state === "answered");
  assert.equal(verdict.records[0]?.data, "192.0.2.1");
});

test("a reply without the cookie that the server gave before is asked for again over TCP", async () => {
  const { server, ask } = world();
  let forged = false;
  await serveUdp(server.runtime, (question) =>
    forged
      ? replyTo(question, { answers: [{ ...address, data: "192.0.2.66" }], edns: plain })
      : replyTo(question, {
          answers: [address],
          edns: ednsWith(Uint8Array.of(...cookieOf(question)!.slice(0, 8), ...serverCookie))!,
        }),
  );
  const first = async (): Promise<string> => {
    const verdict = await ask({ deadlineMs: 600 });
    if (verdict.state !== "answered") return verdict.state === "unreachable" ? verdict.reason : verdict.rcode;
    return verdict.records[0]!.data;
  };
  assert.equal(await first(), "192.0.2.1");
  forged = true;
  assert.equal(await first(), "the reply lacked the server's cookie, and none came over TCP");
  // Nobody keeps asking a server in vain that gives cookies no longer.
  assert.equal(await first(), "192.0.2.66");
  forged = false;
  assert.equal(await first(), "192.0.2.1");
  forged = true;
  const tcp = await serveTcp(server.runtime, (question) => replyTo(question, { answers: [address] }));
  assert.equal(await first(), "192.0.2.1");
  assert.equal(tcp.opened, 1);
});

const plain: Edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };

test("BADCOOKIE is asked again with the cookie that came, and then over TCP", async () => {
  for (const stubborn of [false, true]) {
    const { server, ask } = world();
    let asked = 0;
    await serveUdp(server.runtime, (question) => {
      asked++;
      const cookie = cookieOf(question)!;
      const edns = ednsWith(Uint8Array.of(...cookie.slice(0, 8), ...serverCookie))!;
      return cookie.length === 24 && !stubborn
        ? replyTo(question, { answers: [address], edns })
        : replyTo(question, { rcode: 23, edns });
    });
    const tcp = await serveTcp(server.runtime, (question) => replyTo(question, { answers: [address] }));
    assert.equal((await ask()).state, "answered");
    assert.deepEqual([asked, tcp.opened], [2, stubborn ? 1 : 0]);
  }
});

test("D21: all twelve bits of the rcode count", async () => {
  const { server, ask } = world();
  await serveUdp(server.runtime, (question) =>
    replyTo(question, {
      rcode: 16,
      answers: [address],
      edns: { payloadSize: 512, version: 0, dnssecOk: false, options: [] },
    }),
  );
  assert.deepEqual(await ask(), { state: "refused", rcode: "BADVERS", server: at(2) });
});

test("E23: a reply that is malformed inside is no reply", async () => {
  const { server, ask } = world();
  await serveUdp(server.runtime, (question) => {
    const reply = replyTo(question, { answers: [{ ...address, type: "TXT", data: '"ab"' }] });
    // The text says that it has 255 octets, and its record has three.
    reply[reply.length - 3] = 255;
    return reply;
  });
  assert.deepEqual(await ask({ type: "TXT", deadlineMs: 600 }), {
    state: "unreachable",
    reason: "no reply in time",
  });
});

test("a signed question believes signed replies only", async () => {
  const { server, ask } = world();
  const keyring = new TsigKeyring([key]);
  let lie = false;
  await serveUdp(server.runtime, (question, raw) => {
    const verdict = verifyRequest(raw, { keyring, clock: server.runtime.clock });
    assert.ok(verdict.kind === "verified");
    const reply = replyTo(question, { answers: [address] });
    return lie ? reply : verdict.signer.sign(reply);
  });
  assert.equal((await ask({ key })).state, "answered");
  lie = true;
  assert.deepEqual(await ask({ key, deadlineMs: 600 }), {
    state: "unreachable",
    reason: "the reply is unsigned",
    unproved: true,
  });
});

test("a client whose clock is off asks again by the server's", async () => {
  const { sim, server, ask } = world();
  server.skewMs = 3_600_000;
  const keyring = new TsigKeyring([key]);
  const verdicts: string[] = [];
  await serveUdp(server.runtime, (question, raw) => {
    const verdict = verifyRequest(raw, { keyring, clock: server.runtime.clock });
    verdicts.push(verdict.kind);
    if (verdict.kind === "failed") return verdict.seal(replyTo(question, { rcode: 9 }));
    assert.ok(verdict.kind === "verified");
    return verdict.signer.sign(replyTo(question, { answers: [address] }));
  });
  assert.equal((await ask({ key })).state, "answered");
  assert.equal((await ask({ key })).state, "answered");
  assert.deepEqual(verdicts, ["failed", "verified", "verified"]);
  assert.ok(sim.nowMs < 400);
});

test("NOTIFY is signed, and acknowledged only by a signed reply", async () => {
  const { sim, server, client } = world();
  const keyring = new TsigKeyring([key]);
  let seen = 0;
  await serveUdp(server.runtime, (question, raw) => {
    const verdict = verifyRequest(raw, { keyring, clock: server.runtime.clock });
    assert.ok(verdict.kind === "verified");
    const reply = composeMessage({
      id: question.id,
      opcode: 4,
      questions: question.questions,
      response: true,
    });
    return ++seen < 3 ? reply : verdict.signer.sign(reply);
  });
  const results = await sim.complete(client.notify({ zone: "p.test", servers: [at(2)], key }));
  assert.deepEqual(results, [{ server: at(2), acknowledged: true, rcode: "NOERROR" }]);
  assert.equal(seen, 3);
});

test("many questions over TCP share one connection, which is closed when it is silent", async () => {
  const { sim, server, client } = world();
  const tcp = await serveTcp(server.runtime, (question) =>
    replyTo(question, { answers: [{ ...address, name: question.questions[0]!.name }] }),
  );
  const questions = Array.from({ length: 50 }, (_, index) =>
    client.query({
      name: `n${index}.p.test`,
      type: "A",
      servers: [at(2)],
      deadlineMs: 2_000,
      transport: "tcp",
    }),
  );
  const verdicts = await sim.complete(Promise.all(questions));
  for (const [index, verdict] of verdicts.entries()) {
    assert.ok(verdict.state === "answered");
    assert.equal(verdict.records[0]?.name, `n${index}.p.test`);
  }
  assert.deepEqual(tcp, { opened: 1, ended: 0 });
  await sim.run({ untilMs: sim.nowMs + 5_000 });
  assert.deepEqual(tcp, { opened: 1, ended: 1 });
});

test("a question over TLS is padded to 128 octets", async () => {
  const { server, ask } = world();
  const lengths: number[] = [];
  await serveTcp(server.runtime, (question, raw) => {
    lengths.push(raw.length);
    return replyTo(question, { answers: [{ ...address, name: question.questions[0]!.name }] });
  });
  for (let length = 1; length < 60; length += 7)
    assert.equal((await ask({ transport: "tls", name: `${"n".repeat(length)}.p.test` })).state, "answered");
  assert.deepEqual(new Set(lengths), new Set([128]));
});

test("replies over one connection may come in any order", async () => {
  const { sim, server, client } = world();
  const held: { connection: TcpConnection; octets: Uint8Array }[] = [];
  await server.runtime.network.listenTcp({
    ...at(2),
    onConnection: (connection) => void serve(connection),
  });
  async function serve(connection: TcpConnection): Promise<void> {
    const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
    for await (const chunk of connection.received)
      for (const frame of frames.read(chunk)) {
        if (typeof frame === "string") continue;
        const question = parseMessage(frame.slice());
        const record = { ...address, name: question.questions[0]!.name };
        held.push({ connection, octets: toFrame(replyTo(question, { answers: [record] })) });
        if (held.length < 3) continue;
        for (const { connection: to, octets } of held.reverse()) await to.write(octets);
      }
  }
  const names = ["a.p.test", "b.p.test", "c.p.test"];
  const verdicts = await sim.complete(
    Promise.all(
      names.map((name) =>
        client.query({ name, type: "A", servers: [at(2)], deadlineMs: 2_000, transport: "tcp" }),
      ),
    ),
  );
  assert.deepEqual(
    verdicts.map((verdict) => verdict.state === "answered" && verdict.records[0]?.name),
    names,
  );
});

test("a connection that the server closed between two questions is opened again", async () => {
  const { sim, server, ask } = world();
  const open: TcpConnection[] = [];
  const tcp = await serveTcp(
    server.runtime,
    (question) => replyTo(question, { answers: [address] }),
    (connection) => open.push(connection),
  );
  assert.equal((await ask({ transport: "tcp" })).state, "answered");
  for (const connection of open) connection.destroy();
  assert.equal((await ask({ transport: "tcp" })).state, "answered");
  await sim.run({ untilMs: sim.nowMs + 5_000 });
  assert.equal((await ask({ transport: "tcp" })).state, "answered");
  assert.equal(tcp.opened, 3);
});

test("a connection that opens when nobody waits for it any more is closed, too", async () => {
  const { sim, server, ask } = world();
  const counts = await serveTcp(server.runtime, (question) => replyTo(question, { answers: [address] }));
  sim.setLink("client", "server", { delayMs: { min: 1_000, max: 1_000 } });
  assert.equal((await ask({ transport: "tcp", deadlineMs: 500 })).state, "unreachable");
  await sim.run({ untilMs: sim.nowMs + 10_000 });
  assert.deepEqual(counts, { opened: 1, ended: 1 });
});

test("a server without TCP is asked again at a pace until the deadline", async () => {
  const { sim, ask } = world();
  assert.equal((await ask({ transport: "tcp", deadlineMs: 1_500 })).state, "unreachable");
  assert.ok(sim.nowMs >= 1_499 && sim.nowMs < 1_600, `${sim.nowMs}`);
});

test("a closed client breaks what is on its way", async () => {
  const { sim, server, client } = world();
  await serveTcp(server.runtime, () => undefined);
  const asked = client.query({
    name: "www.p.test",
    type: "A",
    servers: [at(2)],
    deadlineMs: 500,
    transport: "tcp",
  });
  sim.schedule(100, () => void client[Symbol.asyncDispose]());
  assert.equal((await sim.complete(asked)).state, "unreachable");
});
