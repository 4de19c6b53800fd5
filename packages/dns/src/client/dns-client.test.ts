import assert from "node:assert/strict";
import test from "node:test";
import type { AnswerDatagram } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import { Authority, type NotifyHint } from "../server/authority.ts";
import { serveDns } from "../server/serve-dns.ts";
import { caseZoneText, loadZone } from "../testdata/case-zone.ts";
import { DnsClient } from "./dns-client.ts";
import type { DnsQuestion } from "./question-asking.ts";
import type { Verdict } from "./verdict.ts";

const port = 53;
const at = (address: string): { address: string; port: number } => ({ address, port });

interface World {
  readonly sim: Simulation;
  readonly client: DnsClient;
  /** A node with this last octet whose UDP answers come from a function. */
  readonly answering: (
    octet: number,
    answer: (question: Message) => Partial<Message> | undefined,
  ) => Promise<SimNode>;
  readonly ask: (servers: readonly number[], more?: Partial<DnsQuestion>) => Promise<Verdict>;
}

function world(options: { randomCase?: boolean } = {}): World {
  const sim = new Simulation({ seed: 1 });
  const client = new DnsClient(sim.node({ name: "client", addresses: ["10.0.0.1"] }).runtime, {
    from: "10.0.0.1",
    ...options,
  });
  return {
    sim,
    client,
    answering: async (octet, answer) => {
      const node = sim.node({ name: `server${octet}`, addresses: [`10.0.0.${octet}`] });
      await node.runtime.network.serveUdp({ ...at(`10.0.0.${octet}`), answer: toDatagrams(answer) });
      return node;
    },
    ask: (servers, { type = "A", name = "www.p.test", deadlineMs = 2_000, ...more } = {}) =>
      sim.complete(
        client.query({
          name,
          type,
          servers: servers.map((octet) => at(`10.0.0.${octet}`)),
          deadlineMs,
          ...more,
        }),
      ),
  };
}

function toDatagrams(answer: (question: Message) => Partial<Message> | undefined): AnswerDatagram {
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  return (input, offset, length, _client, output) => {
    const question = parseMessage(input.slice(offset, offset + length));
    const reply = answer(question);
    if (reply === undefined) return 0;
    const octets = composeMessage({
      id: question.id,
      opcode: question.opcode,
      questions: question.questions,
      response: true,
      ...reply,
    });
    output.set(octets);
    return octets.length;
  };
}

const address = { name: "www.p.test", type: "A", class: 1, ttl: 5, data: "192.0.2.1" };
const soa = { name: "p.test", type: "SOA", class: 1, ttl: 5, data: "a. b. 1 2 3 4 5" };

async function authority(sim: Simulation, octet: number): Promise<{ node: SimNode; authority: Authority }> {
  const node = sim.node({ name: `server${octet}`, addresses: [`10.0.0.${octet}`] });
  const served = new Authority(node.runtime);
  served.setZone(loadZone(caseZoneText));
  await serveDns(node.runtime, { authority: served, listen: [at(`10.0.0.${octet}`)] });
  return { node, authority: served };
}

test("data, no data and no such name are told apart, with AA and the server that said so", async () => {
  const { sim, ask } = world();
  await authority(sim, 2);
  const data = await ask([2]);
  assert.ok(data.state === "answered");
  assert.deepEqual([data.outcome, data.authoritative, data.server], ["data", true, at("10.0.0.2")]);
  assert.deepEqual(
    data.records.map((record) => record.data),
    ["192.0.2.1", "192.0.2.2"],
  );
  const outcomes = [
    ["www.p.test", "MX", "nodata"],
    ["nx.p.test", "A", "nxdomain"],
    ["x.sub.p.test", "A", "referral"],
    ["alias2.p.test", "A", "data"],
    ["dangling.p.test", "A", "nxdomain"],
  ] as const;
  for (const [name, type, outcome] of outcomes) {
    const verdict = await ask([2], { name, type });
    assert.equal(verdict.state === "answered" && verdict.outcome, outcome, name);
  }
});

test("an answer without AA is accepted", async () => {
  const { ask, answering } = world();
  await answering(2, () => ({ answers: [address] }));
  const verdict = await ask([2]);
  assert.ok(verdict.state === "answered" && !verdict.authoritative);
});

for (const [rcode, name] of [
  [1, "FORMERR"],
  [2, "SERVFAIL"],
  [4, "NOTIMP"],
  [5, "REFUSED"],
  [9, "NOTAUTH"],
] as const) {
  test(`${name} is refused, at once`, async () => {
    const { sim, ask, answering } = world();
    await answering(2, (question) => ({
      rcode,
      ...(question.edns === undefined ? {} : { edns: question.edns }),
    }));
    assert.deepEqual(await ask([2]), { state: "refused", rcode: name, server: at("10.0.0.2") });
    assert.ok(sim.nowMs < 100);
  });
}

test("a server that refuses is passed over for the next", async () => {
  const { ask, answering } = world();
  await answering(2, () => ({ rcode: 5 }));
  await answering(3, () => ({ answers: [address] }));
  const verdict = await ask([2, 3]);
  assert.ok(verdict.state === "answered");
  assert.equal(verdict.server.address, "10.0.0.3");
});

test("a silent server costs one try and not the deadline", async () => {
  const { sim, ask, answering } = world();
  await answering(2, () => undefined);
  await answering(3, () => ({ answers: [address] }));
  assert.equal((await ask([2, 3])).state, "answered");
  assert.ok(sim.nowMs < 500, `${sim.nowMs}`);
});

test("silence everywhere is unreachable, at the deadline", async () => {
  const { sim, ask } = world();
  assert.deepEqual(await ask([8, 9], { deadlineMs: 700 }), {
    state: "unreachable",
    reason: "no reply in time",
  });
  assert.ok(Math.abs(sim.nowMs - 700) < 1, `${sim.nowMs}`);
  assert.equal((await ask([])).state, "unreachable");
});

test("a lost packet is repeated within the deadline", async () => {
  const { ask, answering } = world();
  let seen = 0;
  await answering(2, () => (++seen < 3 ? undefined : { answers: [address] }));
  assert.equal((await ask([2])).state, "answered");
});

test("a reply slower than one try still counts", async () => {
  const { sim, ask, answering } = world();
  await answering(2, () => ({ answers: [address] }));
  sim.setLink("client", "server2", { delayMs: { min: 450, max: 460 } });
  assert.equal((await ask([2])).state, "answered");
});

test("an old server that rejects EDNS is asked again without, and remembered", async () => {
  const { ask, answering } = world();
  const withEdns: boolean[] = [];
  await answering(2, (question) => {
    withEdns.push(question.edns !== undefined);
    return question.edns === undefined ? { answers: [address] } : { rcode: 1 };
  });
  assert.equal((await ask([2])).state, "answered");
  assert.equal((await ask([2])).state, "answered");
  assert.deepEqual(withEdns, [true, false, false]);
});

test("C11: a truncated answer is fetched over TCP; what came with TC is not used", async () => {
  const { sim, ask } = world();
  await authority(sim, 2);
  const verdict = await ask([2], { name: "many.p.test" });
  assert.ok(verdict.state === "answered");
  assert.equal(verdict.records.length, 100);
});

test("F16: a truncated answer without TCP is unreachable", async () => {
  const { ask, answering } = world();
  await answering(2, () => ({ truncated: true, answers: [address] }));
  const verdict = await ask([2]);
  assert.deepEqual(verdict, {
    state: "unreachable",
    reason: "the reply was truncated, and none came over TCP",
  });
});

test("F14, F15: replies with another id, question, opcode or QR=0 are ignored while the right one is waited for", async () => {
  const { sim, ask } = world();
  const node = sim.node({ name: "server2", addresses: ["10.0.0.2"] });
  const socket = await node.runtime.network.bindUdp({
    ...at("10.0.0.2"),
    onDatagram(datagram, from) {
      const question = parseMessage(datagram);
      const forged: Partial<Message>[] = [
        { id: question.id ^ 1 },
        { questions: [{ name: "other.p.test", type: "A", class: 1 }] },
        { opcode: 4 },
        { response: false },
      ];
      const reply = { id: question.id, questions: question.questions, response: true, answers: [] };
      for (const change of forged)
        socket.send(
          composeMessage({ ...reply, answers: [{ ...address, data: "192.0.2.66" }], ...change }),
          from,
        );
      socket.send(Uint8Array.from([1, 2, 3]), from);
      socket.send(composeMessage({ ...reply, answers: [address] }), from);
    },
  });
  const other = sim.node({ name: "other", addresses: ["10.0.0.9"] });
  assert.ok(other);
  const verdict = await ask([2]);
  assert.ok(verdict.state === "answered");
  assert.deepEqual(
    verdict.records.map((record) => record.data),
    ["192.0.2.1"],
  );
});

test("a reply from another address is ignored", async () => {
  const { sim, ask } = world();
  const liar = sim.node({ name: "liar", addresses: ["10.0.0.9"] });
  const liarSocket = await liar.runtime.network.bindUdp({ ...at("10.0.0.9"), onDatagram() {} });
  const node = sim.node({ name: "server2", addresses: ["10.0.0.2"] });
  await node.runtime.network.bindUdp({
    ...at("10.0.0.2"),
    onDatagram(datagram, from) {
      const { id, questions } = parseMessage(datagram);
      liarSocket.send(composeMessage({ id, questions, response: true, answers: [address] }), from);
    },
  });
  assert.equal((await ask([2], { deadlineMs: 500 })).state, "unreachable");
});

test("with random case, a reply in another case is ignored and one in the same is taken", async () => {
  const folding = world({ randomCase: true });
  await folding.answering(2, (question) => ({
    questions: question.questions.map((q) => ({ ...q, name: q.name.toLowerCase() })),
    answers: [address],
  }));
  assert.equal((await folding.ask([2], { deadlineMs: 500 })).state, "unreachable");
  const keeping = world({ randomCase: true });
  await keeping.answering(2, () => ({ answers: [address] }));
  assert.equal((await keeping.ask([2])).state, "answered");
});

test("E22: a CNAME that leads out of the reply is followed at the same servers; a loop ends", async () => {
  const { ask, answering } = world();
  const alias = (name: string, data: string): typeof address => ({ ...address, name, type: "CNAME", data });
  await answering(2, ({ questions }) => {
    switch (questions[0]!.name) {
      case "www.p.test":
        return { answers: [alias("www.p.test", "x.other.")] };
      case "x.other":
        return { answers: [{ ...address, name: "x.other" }] };
      case "a.p.test":
        return { answers: [alias("a.p.test", "b.other.")] };
      default:
        return { answers: [alias("b.other", "a.p.test.")] };
    }
  });
  const verdict = await ask([2]);
  assert.ok(verdict.state === "answered" && verdict.outcome === "data");
  assert.deepEqual(
    verdict.records.map((record) => record.type),
    ["CNAME", "A"],
  );
  const loop = await ask([2], { name: "a.p.test" });
  assert.ok(loop.state === "answered" && loop.outcome === "nodata");
});

test("an empty NOERROR counts as no data, SOA or not", async () => {
  const { ask, answering } = world();
  await answering(2, () => ({}));
  await answering(3, () => ({ authority: [soa] }));
  for (const server of [2, 3]) {
    const verdict = await ask([server]);
    assert.ok(verdict.state === "answered" && verdict.outcome === "nodata");
  }
});

test("a thousand questions at once share four sockets", async () => {
  const { sim, client } = world();
  await authority(sim, 2);
  const questions = Array.from({ length: 1_000 }, () =>
    client.query({ name: "www.p.test", type: "A", servers: [at("10.0.0.2")], deadlineMs: 5_000 }),
  );
  const verdicts = await sim.complete(Promise.all(questions));
  assert.ok(verdicts.every((verdict) => verdict.state === "answered"));
});

test("an abort ends the question with its reason", async () => {
  const { sim, client } = world();
  const stop = new AbortController();
  const asked = client.query({
    name: "a.b",
    type: "A",
    servers: [at("10.0.0.9")],
    deadlineMs: 5_000,
    signal: stop.signal,
  });
  sim.schedule(100, () => stop.abort(new Error("enough")));
  await assert.rejects(sim.complete(asked), /enough/);
  assert.ok(sim.nowMs < 200);
});

test("NOTIFY is acknowledged and reported with serial and MNAME, for zones that are served", async () => {
  const { sim, client } = world();
  const hints: NotifyHint[] = [];
  const { authority: server } = await authority(sim, 2);
  server.onNotify = (hint) => {
    hints.push(hint);
    throw new Error("dropped");
  };
  server.setZone(
    loadZone("$ORIGIN _LocalTargets.cloud.example.com.\n@ 5 SOA ns h 1 2 3 4 5\n@ 5 NS ns.example.\n"),
  );
  const notify = (zone: string, withSoa: boolean): Promise<unknown> =>
    sim.complete(
      client.notify({
        zone,
        servers: [at("10.0.0.2")],
        ...(withSoa
          ? {
              soa: {
                mname: "NS.eu.example",
                rname: "h.example",
                serial: 4_000_000_000,
                refresh: 1,
                retry: 1,
                expire: 1,
                minimum: 1,
                ttl: 1,
              },
            }
          : {}),
      }),
    );
  assert.deepEqual(await notify("_localtargets.cloud.example.com", true), [
    { server: at("10.0.0.2"), acknowledged: true, rcode: "NOERROR" },
  ]);
  await notify("p.test", false);
  assert.deepEqual(await notify("other.test", false), [
    { server: at("10.0.0.2"), acknowledged: true, rcode: "NOTAUTH" },
  ]);
  assert.deepEqual(
    hints.map(({ zone, serial, mname, from }) => ({ zone, serial, mname, from: from.address })),
    [
      {
        zone: "_localtargets.cloud.example.com",
        serial: 4_000_000_000,
        mname: "ns.eu.example",
        from: "10.0.0.1",
      },
      { zone: "p.test", serial: undefined, mname: undefined, from: "10.0.0.1" },
    ],
  );
});

test("NOTIFY is repeated when lost, and given up after half a minute", async () => {
  const { sim, client, answering } = world();
  let seen = 0;
  await answering(2, () => (++seen < 5 ? undefined : {}));
  const results = await sim.complete(
    client.notify({ zone: "p.test", servers: [at("10.0.0.2"), at("10.0.0.9")] }),
  );
  assert.deepEqual(
    results.map((result) => result.acknowledged),
    [true, false],
  );
  assert.equal(seen, 5);
  assert.ok(sim.nowMs < 32_000);
});

for (const [address, octets] of [
  ["192.0.2.77", [0, 1, 32, 0, 192, 0, 2, 77]],
  ["2001:db8::7", [0, 2, 128, 0, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]],
] as const)
  test(`O-03: a question can be asked for a client, ${address}`, async () => {
    const { answering, ask } = world();
    const seen: (readonly number[])[] = [];
    await answering(2, ({ edns }) => {
      seen.push([...(edns?.options.find(({ code }) => code === 8)?.octets ?? [])]);
      return {};
    });
    await ask([2], { clientAddress: address });
    assert.deepEqual(seen[0], octets);
  });
