import assert from "node:assert/strict";
import test from "node:test";
import { silentLogger, type Clock, type Endpoint, type TcpConnection } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { DnsClient } from "../client/dns-client.ts";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { composeMessage, parseMessage, type Message, type MessageRecord } from "../message/message.ts";
import { Authority } from "../server/authority.ts";
import { createRequestPipeline } from "../server/request-pipeline.ts";
import { serveDns } from "../server/serve-dns.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import type { ZoneDelta } from "../zone/wire-record.ts";
import { parseZoneFile } from "../zone/zone-file.ts";
import type { Zone } from "../zone/zone.ts";
import { SecondaryZone, type SecondaryZoneOptions } from "./secondary-zone.ts";
import type { Primary } from "./transfer-exchange.ts";
import { TransferPolicy } from "./transfer-policy.ts";
import { TransferServer } from "./transfer-server.ts";
import { ZoneTransferClient } from "./zone-transfer-client.ts";

const key = parseTsigKey({ name: "k", algorithm: "hmac-sha256", secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=" });
const longKey = parseTsigKey({
  name: "k512",
  algorithm: "hmac-sha512",
  secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=",
});
const at = (octet: number): Endpoint => ({ address: `10.0.0.${octet}`, port: 53 });

function makeZone(serial = 10): Zone {
  const { zone } = parseZoneFile(`$ORIGIN p.test.
$TTL 60
@ SOA ns host ${serial} 60 10 300 30
@ NS ns
ns A 192.0.2.53
www A 192.0.2.1
`);
  return zone!;
}

const put = (zone: Zone, name: string, data: readonly string[]): void =>
  void zone.replace(new Map([[name, [{ name, type: "A", ttl: 60, data }]]]));

/** A node that serves a zone and its transfers. */
async function primaryNode(sim: Simulation, octet: number, zone: Zone): Promise<SimNode> {
  const node = sim.node({ name: `primary${octet}`, addresses: [at(octet).address] });
  await serveZone(node, octet, zone);
  return node;
}

async function serveZone(node: SimNode, octet: number, zone: Zone): Promise<void> {
  const { runtime } = node;
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const policy = new TransferPolicy([{ zone: ".", allow: [{ clients: "10.0.0.0/8" }] }]);
  authority.requests = createRequestPipeline({
    clock: runtime.clock,
    log: silentLogger,
    keyring: new TsigKeyring([key, longKey]),
    authority,
    transfer: new TransferServer({ clock: runtime.clock, zones: authority, policy }).answer,
  });
  await serveDns(runtime, { authority, listen: [at(octet)] });
}

interface World {
  readonly sim: Simulation;
  readonly node: SimNode;
  readonly open: (
    primaries: readonly Primary[],
    more?: Partial<SecondaryZoneOptions>,
  ) => Promise<SecondaryZone>;
}

function world(seed = 1): World {
  const sim = new Simulation({ seed });
  const node = sim.node({ name: "secondary", addresses: ["10.0.0.1"] });
  return {
    sim,
    node,
    open: (primaries, more = {}) => {
      const { runtime } = node;
      const client = new DnsClient(runtime);
      const transfers = new ZoneTransferClient(runtime, { idleMs: 5_000, totalMs: 20_000, recordsMax: 500 });
      return sim.complete(
        SecondaryZone.open(runtime, { origin: "p.test", primaries, client, transfers, ...more }),
      );
    },
  };
}

const lines = (zone: Zone): string[] =>
  [...zone.recordSets()].flatMap(({ name, ttl, type, data }) =>
    data.map((text) => `${name} ${ttl} ${type} ${text}`),
  );

test("a zone is fetched, and followed by its refresh time alone, with jitter", async () => {
  for (const seed of [1, 2, 3]) {
    const { sim, open } = world(seed);
    const zone = makeZone();
    await primaryNode(sim, 2, zone);
    const secondary = await open([at(2)]);
    assert.equal(secondary.zone.ready, false);
    await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
    assert.deepEqual(lines(secondary.zone), lines(zone));
    const start = sim.nowMs;
    put(zone, "new.p.test", ["192.0.2.9"]);
    await sim.run({ until: () => secondary.zone.serial === zone.serial, untilMs: start + 70_000 });
    assert.deepEqual(lines(secondary.zone), lines(zone));
    const tookMs = sim.nowMs - start;
    assert.ok(tookMs > 44_000 && tookMs < 61_000, `${tookMs}`);
  }
});

test("any number of NOTIFYs leads to one check a second, from the primaries only", async () => {
  const { sim, open } = world();
  const zone = makeZone();
  await primaryNode(sim, 2, zone);
  const secondary = await open([at(2)]);
  await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
  assert.equal(secondary.takeNotify({ from: at(3) }), false);
  const before = secondary.state.checks;
  const start = sim.nowMs;
  for (let ms = 0; ms < 5_000; ms += 10)
    sim.schedule(start + ms, () => void secondary.takeNotify({ from: at(2) }));
  put(zone, "new.p.test", ["192.0.2.9"]);
  await sim.run({ until: () => secondary.zone.serial === zone.serial, untilMs: start + 1_500 });
  assert.equal(secondary.zone.serial, zone.serial);
  await sim.run({ untilMs: start + 7_000 });
  const checks = secondary.state.checks - before;
  assert.ok(checks >= 5 && checks <= 6, `${checks}`);
});

test("where a primary has a key, a NOTIFY counts by the key and not by its address", async () => {
  const { open } = world();
  const secondary = await open([{ ...at(2), key }]);
  assert.equal(secondary.takeNotify({ from: at(2) }), false);
  assert.equal(secondary.takeNotify({ from: at(2), key: "other" }), false);
  assert.equal(secondary.takeNotify({ from: at(9), key: "k" }), true);
});

test("without its primary a zone expires at its time and not before, and comes back with it", async () => {
  const { sim, open } = world();
  const zone = makeZone();
  const node = await primaryNode(sim, 2, zone);
  const secondary = await open([at(2)]);
  await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
  const start = sim.nowMs;
  node.crash();
  await sim.run({ untilMs: start + 299_000 });
  assert.equal(secondary.state.at, "current");
  assert.ok(secondary.zone.ready && secondary.state.problem !== undefined);
  await sim.run({ until: () => !secondary.zone.ready, untilMs: start + 370_000 });
  assert.equal(secondary.state.at, "expired");
  node.restart();
  const older = makeZone(3);
  await sim.complete(serveZone(node, 2, older));
  await sim.run({ until: () => secondary.zone.ready, untilMs: sim.nowMs + 60_000 });
  assert.equal(secondary.zone.serial, 3, "an expired zone takes what its primary has");
});

test("the next primary is asked where one is gone, behind, or lies", async () => {
  const { sim, open } = world();
  const zone = makeZone(20);
  await primaryNode(sim, 2, makeZone(5));
  await primaryNode(sim, 3, zone);
  const secondary = await open([at(9), at(3), at(2)]);
  await sim.run({ until: () => secondary.zone.ready, untilMs: 60_000 });
  assert.equal(secondary.zone.serial, 20);
  const before = secondary.state.checks;
  assert.equal(secondary.takeNotify({ from: at(2) }), true);
  await sim.run({
    until: () => secondary.state.checks > before && secondary.state.problem === undefined,
    untilMs: 120_000,
  });
  assert.equal(secondary.zone.serial, 20, "a primary behind us changes nothing");
});

test("a restarted secondary serves its copy at once, also after a crash, but no expired one", async () => {
  const { sim, node, open } = world(4);
  const zone = makeZone();
  const primary = await primaryNode(sim, 2, zone);
  const first = await open([at(2)], { copyFolder: "zones" });
  await sim.run({ until: () => first.zone.ready, untilMs: 5_000 });
  await sim.run({ untilMs: sim.nowMs + 1_000 });
  primary.crash();
  node.restart();
  const second = await open([at(2)], { copyFolder: "zones" });
  assert.equal(second.state.at, "current");
  assert.deepEqual(lines(second.zone), lines(zone));
  await sim.run({ untilMs: sim.nowMs + 200_000 });
  node.restart();
  const third = await open([at(2)], { copyFolder: "zones" });
  assert.ok(third.zone.ready, "the time of the copy goes on");
  await sim.run({ untilMs: sim.nowMs + 110_000 });
  assert.equal(third.state.at, "expired");
  node.restart();
  const fourth = await open([at(2)], { copyFolder: "zones" });
  assert.deepEqual([fourth.state.at, fourth.zone.ready], ["expired", false]);
});

test("a damaged copy is no copy", async () => {
  const { sim, node, open } = world();
  const zone = makeZone();
  await primaryNode(sim, 2, zone);
  const first = await open([at(2)], { copyFolder: "zones" });
  await sim.run({ until: () => first.zone.ready, untilMs: 5_000 });
  await sim.run({ untilMs: sim.nowMs + 1_000 });
  const copy = (await sim.complete(node.runtime.disk.read("zones/p.test.axfr")))!;
  for (const damaged of [
    copy.subarray(0, copy.length - 1),
    new Uint8Array(),
    copy.map((octet, at_) => octet ^ (at_ === 14 ? 0xff : 0)),
  ]) {
    await sim.complete(node.runtime.disk.replace("zones/p.test.axfr", damaged));
    const next = await open([at(9)], { copyFolder: "zones" });
    assert.equal(next.state.at, "empty");
    await sim.complete(next[Symbol.asyncDispose]());
  }
});

type Script = (connection: TcpConnection, question: Message) => Promise<void>;

/** A node that says over UDP that it has serial 11 and then plays a script over TCP. */
async function liar(sim: Simulation, octet: number, script: Script): Promise<void> {
  const { network } = sim.node({ name: `liar${octet}`, addresses: [at(octet).address] }).runtime;
  await network.serveUdp({
    ...at(octet),
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    answer: (input, offset, length, _client, output) => {
      const { id, questions } = parseMessage(input.slice(offset, offset + length));
      const reply = composeMessage({
        id,
        questions,
        response: true,
        authoritative: true,
        answers: [record("SOA11")],
      });
      output.set(reply);
      return reply.length;
    },
  });
  await network.listenTcp({
    ...at(octet),
    onConnection: (connection) =>
      void (async () => {
        const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
        for await (const chunk of connection.received)
          for (const frame of frames.read(chunk))
            if (typeof frame !== "string") await script(connection, parseMessage(frame));
      })().catch(() => {}),
  });
}

function record(word: string): MessageRecord {
  const serial = /^SOA(\d+)$/.exec(word)?.[1];
  const [name, type, data] =
    serial === undefined ? word.split(" ") : ["p.test", "SOA", `ns. h. ${serial} 60 10 300 30`];
  return { name: name!, type: type!, class: 1, ttl: 60, data: data! };
}

const reply = (question: Message, words: readonly string[], more: Partial<Message> = {}): Uint8Array =>
  toFrame(
    composeMessage({
      id: question.id,
      response: true,
      authoritative: true,
      questions: question.questions,
      answers: words.map(record),
      ...more,
    }),
  );
const whole = ["SOA11", "p.test NS ns.p.test.", "evil.p.test A 192.0.2.66", "SOA11"];

const lies: readonly [string, Script][] = [
  ["half a transfer, then the end", async (c, q) => (await c.write(reply(q, whole.slice(0, 3))), c.end())],
  [
    "half a transfer, then a reset",
    async (c, q) => (await c.write(reply(q, whole.slice(0, 3))), c.destroy()),
  ],
  ["half a transfer, then silence", async (c, q) => c.write(reply(q, whole.slice(0, 3)))],
  ["another id", async (c, q) => c.write(reply(q, whole, { id: q.id ^ 1 }))],
  ["a question", async (c, q) => c.write(reply(q, whole, { response: false }))],
  ["truncation", async (c, q) => c.write(reply(q, whole, { truncated: true }))],
  ["REFUSED with data", async (c, q) => c.write(reply(q, whole, { rcode: 5 }))],
  ["NOTAUTH", async (c, q) => c.write(reply(q, [], { rcode: 9 }))],
  ["an SOA that changes", async (c, q) => c.write(reply(q, [...whole.slice(0, 3), "SOA12"]))],
  ["no name server", async (c, q) => c.write(reply(q, ["SOA11", "evil.p.test A 192.0.2.66", "SOA11"]))],
  [
    "a CNAME beside data",
    async (c, q) =>
      c.write(
        reply(q, ["SOA11", "p.test NS ns.p.test.", "e.p.test A 192.0.2.66", "e.p.test CNAME x.", "SOA11"]),
      ),
  ],
  [
    "differences that do not fit",
    async (c, q) =>
      c.write(
        reply(q, ["SOA11", "SOA10", "nx.p.test A 192.0.2.1", "SOA11", "evil.p.test A 192.0.2.66", "SOA11"]),
      ),
  ],
  ["garbage", async (c) => c.write(toFrame(new Uint8Array(40).fill(0xff)))],
  ["a frame that is too short", async (c) => c.write(Uint8Array.of(0, 1, 0))],
  [
    "no end",
    async (c, q) => {
      await c.write(reply(q, whole.slice(0, 3)));
      for (;;)
        await c.write(
          reply(
            q,
            Array.from({ length: 50 }, () => "evil.p.test A 192.0.2.66"),
            { questions: [] },
          ),
        );
    },
  ],
];
for (const [name, script] of lies) {
  test(`a primary that answers a transfer with ${name} changes nothing, and is passed over`, async () => {
    const { sim, open } = world();
    const zone = makeZone(10);
    await primaryNode(sim, 2, zone);
    await liar(sim, 3, script);
    const secondary = await open([at(2), at(3)], { bounds: { refreshMin: 100_000 } });
    await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
    const before = lines(secondary.zone);
    secondary.takeNotify({ from: at(3) });
    const { checks } = secondary.state;
    await sim.run({
      until: () => secondary.state.checks > checks && secondary.state.problem === undefined,
      untilMs: 10_000,
    });
    await sim.run({ untilMs: sim.nowMs + 60_000 });
    assert.deepEqual(lines(secondary.zone), before);
    assert.ok(secondary.zone.ready);
    assert.equal(secondary.state.problem, undefined, "the honest primary vouched");
    put(zone, "after.p.test", ["192.0.2.9"]);
    secondary.takeNotify({ from: at(2) });
    await sim.run({ until: () => secondary.zone.serial === zone.serial, untilMs: sim.nowMs + 60_000 });
    assert.deepEqual(lines(secondary.zone), lines(zone));
  });
}

test("records outside the zone are not taken", async () => {
  const { sim, open } = world();
  await liar(sim, 3, async (c, q) =>
    c.write(reply(q, [...whole.slice(0, 3), "www.other.test A 192.0.2.66", "test A 192.0.2.66", "SOA11"])),
  );
  const secondary = await open([at(3)]);
  await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
  assert.deepEqual(
    [...secondary.zone.recordSets()].map((set) => set.name),
    ["p.test", "p.test", "evil.p.test"],
  );
});

test("with a key nothing unsigned is taken", async () => {
  const { sim, open } = world();
  await liar(sim, 3, async (c, q) => c.write(reply(q, whole)));
  const secondary = await open([{ ...at(3), key }]);
  await sim.run({ untilMs: 30_000 });
  assert.equal(secondary.state.at, "empty");
  assert.match(secondary.state.problem ?? "", /unsigned/);
});

for (const signedBy of [key, longKey])
  test(`F5: with a key of ${signedBy.algorithm} the transfer is signed and verified`, async () => {
    const { sim, open } = world();
    const zone = makeZone();
    for (let index = 0; index < 400; index++) put(zone, `n${index}.p.test`, ["192.0.2.1"]);
    await primaryNode(sim, 2, zone);
    const secondary = await open([{ ...at(2), key: signedBy }]);
    await sim.run({ until: () => secondary.zone.ready, untilMs: 10_000 });
    assert.deepEqual(lines(secondary.zone), lines(zone));
  });

test("records that signing made come along with a transfer, also where the apex is not signed (yet)", async () => {
  const { sim, open } = world();
  const sets = [...whole.slice(0, 3), "SOA11"].map(record);
  const alias = { name: "c.p.test", class: 1, ttl: 60 };
  const signed: MessageRecord[] = [
    { ...alias, type: "CNAME", data: "www.p.test." },
    { ...alias, type: "NSEC", data: "www.p.test. CNAME RRSIG NSEC" },
  ];
  const answers = [...sets.slice(0, 3), ...signed, sets[3]!];
  await liar(sim, 3, async (c, q) => c.write(reply(q, [], { answers })));
  const secondary = await open([at(3)]);
  await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
  assert.equal(secondary.zone.presigned, false);
  assert.deepEqual(
    secondary.zone.recordSetsOf("c.p.test").map(({ type }) => type),
    ["CNAME", "NSEC"],
  );
});

test("without a folder for copies, a zone that waits for its refresh time does nothing else", async () => {
  const { sim, node } = world();
  await primaryNode(sim, 2, makeZone());
  let timers = 0;
  const { clock } = node.runtime;
  const counted: Clock = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, callback) => {
      timers++;
      return clock.after(ms, callback);
    },
  };
  const runtime = { ...node.runtime, clock: counted };
  const [client, transfers] = [new DnsClient(node.runtime), new ZoneTransferClient(node.runtime)];
  const secondary = await SecondaryZone.open(runtime, {
    ...{ origin: "p.test", primaries: [at(2)], client, transfers },
  });
  await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
  timers = 0;
  const { checks } = secondary.state;
  await sim.run({ untilMs: sim.nowMs + 600_000 });
  const made = secondary.state.checks - checks;
  assert.ok(made >= 9, `${made} checks`);
  // One until the zone is due and one until it expires.
  assert.ok(timers <= 2 * made + 2, `${timers} timers for ${made} checks`);
});

test("a zone of another content is exchanged whole, with its observers and threads", async () => {
  const { sim, open } = world();
  const zone = makeZone();
  await primaryNode(sim, 2, zone);
  const secondary = await open([at(2)]);
  await sim.run({ until: () => secondary.zone.ready, untilMs: 5_000 });
  const authority = new Authority(sim.node({ name: "other", addresses: ["10.0.0.77"] }).runtime);
  authority.setZone(secondary.zone);
  const deltas: ZoneDelta[] = [];
  using _listening = secondary.zone.observe((delta) => void deltas.push(delta));
  let shared = 0;
  authority.onShareChanged = () => void shared++;
  const large = parseZoneFile(
    `$ORIGIN p.test.\n@ 60 SOA ns host 7 60 10 300 30\n@ 60 NS ns2\n${Array.from({ length: 5_000 }, (_, index) => `n${index} 60 A 192.0.2.1`).join("\n")}\n`,
    { hashSeed: authority.hashSeed },
  ).zone!;
  const expected = lines(large);
  await secondary.zone.adopt(
    large,
    new WorkSlices(sim.node({ name: "c", addresses: ["10.0.0.78"] }).runtime.clock),
  );
  assert.deepEqual(lines(secondary.zone), expected);
  assert.equal(shared, 1, "threads were told of other memory");
  assert.deepEqual(
    deltas.map(({ fromSerial, toSerial, isAnew, removed, added }) => ({
      ...{ fromSerial, toSerial, isAnew },
      records: [removed.length, added.length],
    })),
    [{ fromSerial: 10, toSerial: 7, isAnew: true, records: [1, 1] }],
  );
  put(secondary.zone, "n1.p.test", ["192.0.2.99"]);
  assert.deepEqual(deltas.at(-1)?.added.length, 2, "later steps are told as ever");
});

test("a copy expires at its time from the start where the clock was set back meanwhile", async () => {
  const { sim, node, open } = world();
  const primary = await primaryNode(sim, 2, makeZone());
  const first = await open([at(2)], { copyFolder: "zones" });
  await sim.run({ until: () => first.zone.ready, untilMs: 5_000 });
  await sim.run({ untilMs: sim.nowMs + 1_000 });
  primary.crash();
  node.restart();
  node.skewMs = -86_400_000;
  const second = await open([at(2)], { copyFolder: "zones" });
  assert.equal(second.state.at, "current");
  await sim.run({ untilMs: sim.nowMs + 310_000 });
  assert.equal(second.state.at, "expired");
});
