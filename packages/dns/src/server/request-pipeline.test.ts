import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, silentLogger } from "@meridian/runtime";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import {
  caseZoneText,
  loadZone,
  plainEdns,
  question,
  steadyRandom,
  stillClock,
} from "../testdata/case-zone.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { findTsig } from "../tsig/tsig-record.ts";
import { Authority, type NotifyHint } from "./authority.ts";
import type { RequestHandler, VerifiedRequest } from "./dns-request.ts";
import { RateLimit } from "./rate-limit.ts";
import { readRequestHead, truncateAnswer } from "./request-head.ts";
import { createRequestPipeline, type RequestPipelineOptions } from "./request-pipeline.ts";

const key = parseTsigKey({
  name: "k",
  algorithm: "hmac-sha256",
  secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
});
type Transport = "udp" | "tcp" | "tls" | "https";

interface World {
  readonly authority: Authority;
  readonly hints: NotifyHint[];
  /** All answers to a message as it is. */
  readonly send: (message: Uint8Array, transport?: Transport) => Promise<Uint8Array[]>;
  /** The one answer to a message that is signed, verified and parsed. */
  readonly sendSigned: (message: Uint8Array, transport?: Transport) => Promise<Message & { octets: number }>;
}

function world(options: Partial<RequestPipelineOptions> = {}): World {
  const hints: NotifyHint[] = [];
  const authority = new Authority({
    random: steadyRandom,
    clock: stillClock,
    onNotify: (hint) => void hints.push(hint),
  });
  authority.setZone(loadZone(caseZoneText));
  const pipeline = createRequestPipeline({
    clock: stillClock,
    log: silentLogger,
    keyring: new TsigKeyring([key]),
    authority,
    ...options,
  });
  authority.requests = pipeline;
  const send: World["send"] = async (message, transport = "udp") => {
    const answers: Uint8Array[] = [];
    const client = new ReusedClient(transport, { address: "192.0.2.200", port: 4_000 });
    const { signal } = new AbortController();
    for await (const answer of pipeline.handle({ message, client, signal })) answers.push(answer.slice());
    return answers;
  };
  return {
    authority,
    hints,
    send,
    async sendSigned(message, transport) {
      const request = new SignedRequest(message, { key, clock: stillClock });
      const answers = await send(request.message, transport);
      assert.equal(answers.length, 1);
      const verdict = request.verify(answers[0]!);
      assert.ok(verdict.kind === "verified", JSON.stringify(verdict));
      return { ...parseMessage(verdict.message), octets: answers[0]!.length };
    },
  };
}

const update = composeMessage({ id: 7, opcode: 5, questions: [{ name: "p.test", type: "SOA", class: 1 }] });
const prohibited = { code: 15, octets: Uint8Array.of(0, 18) };
const rcodeOf = ([answer]: readonly Uint8Array[]): number => parseMessage(answer!).rcode;

test("without whoever answers them, updates and transfers are refused, and other opcodes answered NOTIMP", async () => {
  const { send, sendSigned } = world();
  assert.equal(rcodeOf(await send(update)), 5);
  assert.equal((await sendSigned(update)).rcode, 5);
  assert.equal(rcodeOf(await send(question("p.test", "AXFR"), "tcp")), 5);
  assert.equal(rcodeOf(await send(question("p.test", "IXFR"))), 5);
  assert.equal(rcodeOf(await send(question("p.test", "AXFR"))), 4);
  const status = await sendSigned(question("p.test", "A", { opcode: 2 }));
  assert.deepEqual([status.rcode, status.opcode], [4, 2]);
});

for (const transport of ["udp", "tcp", "tls", "https"] as const) {
  test(`a signed question over ${transport} has a signed answer from the zone`, async () => {
    const { sendSigned } = world();
    const { answers, authoritative, rcode } = await sendSigned(
      question("www.p.test", "AAAA", { edns: true }),
      transport,
    );
    assert.deepEqual([rcode, authoritative, answers.map(({ data }) => data)], [0, true, ["2001:db8::1"]]);
  });

  test(`an update over ${transport} goes the same way`, async () => {
    const seen: (string | undefined)[] = [];
    const handler: RequestHandler = async function* ({ key: by, message }) {
      seen.push(by);
      yield composeMessage({ id: parseMessage(message).id, opcode: 5, response: true, rcode: 5 });
    };
    const { send, sendSigned } = world({ update: handler });
    assert.equal(rcodeOf(await send(update, transport)), 5);
    assert.equal((await sendSigned(update, transport)).rcode, 5);
    assert.deepEqual(seen, [undefined, "k"]);
  });
}

test("a signed answer never is larger than the client takes: it is truncated, and signed", async () => {
  const { sendSigned } = world();
  // 497 octets of text and what is around them fit a datagram of 600, but not together with a signature.
  const edns = { ...plainEdns, payloadSize: 650 };
  const whole = await sendSigned(
    question("big.p.test", "TXT", { edns: { ...plainEdns, payloadSize: 1232 } }),
  );
  assert.ok(!whole.truncated && whole.octets > 650, `${whole.octets}`);
  const cut = await sendSigned(question("big.p.test", "TXT", { edns }));
  assert.deepEqual([cut.truncated, cut.answers.length, cut.authoritative], [true, 0, true]);
  assert.ok(cut.edns !== undefined && cut.octets <= 650);
  const plain = await sendSigned(question("big.p.test", "TXT"));
  assert.ok(plain.truncated && plain.octets <= 512);
  const overTcp = await sendSigned(question("big.p.test", "TXT"), "tcp");
  assert.ok(!overTcp.truncated && overTcp.answers.length === 1);
});

test("a signed NOTIFY reaches the authority", async () => {
  const { sendSigned, hints } = world();
  const answer = await sendSigned(question("p.test", "SOA", { opcode: 4 }));
  assert.deepEqual([answer.rcode, answer.opcode], [0, 4]);
  assert.equal(hints[0]?.zone, "p.test");
});

test("what is answered for the authority has its cookies, and DO as it was asked", async () => {
  const { send, sendSigned, authority } = world();
  const cookie = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const edns = { payloadSize: 1232, version: 0, dnssecOk: true, options: [{ code: 10, octets: cookie }] };
  const asked = composeMessage({ ...parseMessage(update), edns });
  const query = composeMessage({ id: 7, questions: [{ name: "nx.p.test", type: "A", class: 1 }], edns });
  const own = (await sendSigned(query)).edns!.options;
  assert.equal(own[0]!.octets.length, 24);
  for (const answer of [parseMessage((await send(asked))[0]!), await sendSigned(asked)]) {
    assert.equal(answer.rcode, 5);
    assert.deepEqual(answer.edns, { ...edns, options: [prohibited, ...own] });
  }
  assert.deepEqual(
    parseMessage((await send(composeMessage({ ...parseMessage(update), edns: { ...edns, version: 1 } })))[0]!)
      .edns?.options,
    [],
  );
  authority.cookieSecrets.set({ active: new Uint8Array(16).fill(1) });
  assert.notDeepEqual(parseMessage((await send(asked))[0]!).edns!.options, own);
});

test("a handler learns who signed and how much room there is; each of its messages is signed", async () => {
  const seen: VerifiedRequest[] = [];
  const { send } = world({
    async *transfer(request) {
      seen.push(request);
      for (let rcode = 0; rcode < 3; rcode++) yield composeMessage({ id: 0x4242, response: true, rcode });
    },
  });
  const plain = question("p.test", "AXFR");
  const request = new SignedRequest(plain, { key, clock: stillClock });
  const answers = await send(request.message, "tcp");
  assert.deepEqual(
    answers.map((answer) => request.verifyNext(answer).kind),
    ["verified", "verified", "verified"],
  );
  assert.ok(request.complete);
  assert.deepEqual([seen[0]!.key, seen[0]!.message], ["k", plain]);
  const unsigned = await send(plain, "tcp");
  assert.deepEqual(
    unsigned.map((answer) => findTsig(answer).kind),
    ["none", "none", "none"],
  );
  assert.deepEqual([seen[1]!.key, seen[1]!.octetsMax], [undefined, 65_535]);
  await send(question("p.test", "IXFR", { edns: true }));
  assert.equal(seen[2]!.octetsMax, 1232);
  const search = findTsig(answers[0]!);
  assert.ok(search.kind === "found");
  assert.equal(seen[0]!.octetsMax, 65_535 - (answers[0]!.length - search.record.at));
});

test("what a handler throws is told as SERVFAIL, signed, and logged", async () => {
  const logged: string[] = [];
  const { sendSigned } = world({
    log: { ...silentLogger, error: (message) => void logged.push(message) },
    // oxlint-disable-next-line require-yield -- it fails before it has anything to yield
    async *update() {
      throw new Error("the disk is full");
    },
  });
  assert.equal((await sendSigned(update)).rcode, 2);
  assert.deepEqual(logged, ["answering a DNS request failed"]);
});

test("what is refused says why and repeats the client subnet, with scope 0", async () => {
  const { send } = world();
  const subnet = (scope: number): { code: number; octets: Uint8Array } => ({
    code: 8,
    octets: Uint8Array.of(0, 1, 24, scope, 192, 0, 2),
  });
  const refused = async (more: Partial<Message>): Promise<readonly unknown[] | undefined> => {
    const edns = { ...plainEdns, options: [subnet(9)] };
    return parseMessage((await send(composeMessage({ ...parseMessage(update), ...more, edns })))[0]!).edns
      ?.options;
  };
  assert.deepEqual(await refused({}), [subnet(0), prohibited]);
  assert.deepEqual(await refused({ opcode: 2 }), [subnet(0), { code: 15, octets: Uint8Array.of(0, 21) }]);
});

test("an update without a zone is malformed, whoever sends it", async () => {
  const { send, sendSigned } = world({ update: async function* () {} });
  const without = composeMessage({ id: 7, opcode: 5, questions: [] });
  assert.equal(rcodeOf(await send(without)), 1);
  assert.equal((await sendSigned(without)).rcode, 1);
});

test("a truncated answer keeps all of its response code", () => {
  const asked = question("p.test", "A", { edns: true });
  const [more] = parseMessage(asked).questions;
  const answer = composeMessage({
    ...{ id: 7, response: true, rcode: 23, edns: plainEdns, questions: [more!] },
    answers: [{ name: "p.test", type: "A", class: 1, ttl: 5, data: "192.0.2.1" }],
  });
  const cut = parseMessage(truncateAnswer(answer, readRequestHead(asked)));
  assert.deepEqual([cut.truncated, cut.answers.length, cut.rcode], [true, 0, 23]);
});

test("malformed requests, and EDNS versions to come, are told so", async () => {
  const { send, sendSigned } = world();
  assert.equal(rcodeOf(await send(Uint8Array.of(...update, 0))), 1);
  assert.equal(rcodeOf(await send(update.slice(0, -2))), 1);
  const version = await sendSigned(question("p.test", "A", { edns: { ...plainEdns, version: 1 } }));
  assert.equal(version.rcode, 16);
});

test("what nobody signed counts against the rate limit over UDP; what is signed does not", async () => {
  const rateLimit = RateLimit.create({ seed: 1, errorsPerSecond: 2, slip: 2 });
  const { send, sendSigned } = world({ rateLimit });
  const rcodes: (string | number)[] = [];
  for (let index = 0; index < 6; index++) {
    const [answer] = await send(update);
    const message = answer === undefined ? undefined : parseMessage(answer);
    rcodes.push(message === undefined ? "dropped" : message.truncated ? "slipped" : message.rcode);
  }
  assert.deepEqual(rcodes, [5, 5, "dropped", "slipped", "dropped", "slipped"]);
  const stranger = new SignedRequest(update, { key: { ...key, name: "other" }, clock: stillClock });
  assert.equal((await send(stranger.message)).length, 0);
  assert.equal((await send(update, "tcp")).length, 1);
  assert.equal((await sendSigned(update)).rcode, 5);
});
