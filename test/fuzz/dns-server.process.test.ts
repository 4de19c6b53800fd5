import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { composeMessage, parseMessage, type Edns, type Question } from "@meridian/dns";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, freePort, meridianCommand } from "../conformance/child-server.ts";
import { handWritten } from "../conformance/differential-zones.ts";
import { DnsExchange } from "../conformance/dns-exchange.ts";
import { dnsSamples } from "./dns-samples.ts";
import { fuzzRuns, fuzzSeed, pick, seededIntegers, type Integers } from "./fuzz-seed.ts";
import { mutateOctets } from "./octet-mutator.ts";
import { openPacketSender } from "./packet-sender.ts";

/** To each of the two datapaths. */
const datagrams = 500_000 * fuzzRuns;
const connections = 400 * fuzzRuns;
const limitedDatagrams = 100_000;
const rateLimit = { perSecond: 1_000, errorsPerSecond: 50 };
const plainEdns: Edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };
const refused = 5;
/** What a server of this size may grow by after it has warmed up; a leak of 1 KiB per packet is far above it. */
const growthBytesMax = 32 * 1024 * 1024;

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
let folder: string;
/** Datagrams are answered in two ways: by threads where they work, and by the main thread. */
const datapaths = ["auto", "dgram"] as const;
/** Where nobody is exempt from the rate limit, and where loopback is, as by default. */
const limits = ["limited", "exempt"] as const;
const targets = new Map<string, Target>();

interface Target {
  readonly server: ChildServer;
  readonly local: Endpoint;
  readonly probe: DnsExchange;
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-fuzz-"));
  const zoneFile = path.join(folder, "zone");
  await writeFile(zoneFile, handWritten.text);
  for (const datapath of datapaths) {
    for (const limit of limits) {
      const local = { address: "127.0.0.1", port: await freePort(runtime) };
      const config = path.join(folder, `${datapath}-${limit}.yaml`);
      const exempt = { ...rateLimit, exemptLoopback: limit === "exempt" };
      // YAML contains JSON.
      const settings = {
        listen: [`127.0.0.1:${local.port}`],
        datapath,
        rateLimit: exempt,
        zones: [{ file: zoneFile, origin: "p.test" }],
      };
      await writeFile(config, JSON.stringify(settings));
      const server = await ChildServer.start([...meridianCommand, "dns", "--config", config], /Serving /);
      targets.set(`${datapath} ${limit}`, { server, local, probe: new DnsExchange(runtime, local) });
    }
  }
});

after(async () => {
  for (const { probe, server } of targets.values()) {
    await probe[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  }
  await rm(folder, { recursive: true, force: true });
});

async function answersStill({ probe, server }: Target, told: string): Promise<void> {
  const answer = await probe.overUdp({ questions: [{ name: "www.p.test", type: "A", class: 1 }] });
  assert.equal(answer.answers.length, 2, told);
  assert.ok(server.running, told);
}

/** Runs rounds of attack with a probe after each; the memory after the first third is what the rest is measured by. */
async function attack(
  target: Target,
  rounds: number,
  round: (index: number) => Promise<void>,
): Promise<void> {
  let warm = Infinity;
  for (let index = 0; index < rounds; index++) {
    await round(index);
    await answersStill(target, `after round ${index} of seed ${fuzzSeed}`);
    if (index === Math.floor(rounds / 3)) warm = await target.server.residentBytes();
  }
  const grown = (await target.server.residentBytes()) - warm;
  assert.ok(grown < growthBytesMax, `the server grew by ${grown} bytes`);
}

for (const datapath of datapaths) {
  test(`${datagrams} mutated datagrams: the server answers a probe after each 1,000 and does not grow (${datapath}, seed ${fuzzSeed})`, async () => {
    const target = targets.get(`${datapath} exempt`)!;
    const integer = seededIntegers("datagrams");
    using sender = await openPacketSender(target.local);
    let answers = 0;
    await attack(target, datagrams / 1_000, async () => {
      for (let sent = 0; sent < 1_000; sent++) sender.send(mutateOctets(dnsSamples, integer));
      sender.drain((octets, at, length) => {
        answers++;
        assert.ok(length >= 12 && length <= 1_232 && (octets[at + 2]! & 0x80) !== 0, `${length} octets`);
      });
    });
    // Some get silence, and some are lost in full buffers.
    assert.ok(answers > datagrams / 4 && answers <= datagrams, `${answers} answers`);
  });

  test(`a flood under the rate limit: drops and slips, and who has a cookie is always answered (${datapath})`, async () => {
    const { local, probe } = targets.get(`${datapath} limited`)!;
    const question = { name: "www.p.test", type: "A", class: 1 };
    const cookie = await cookieOf(local, question);
    const withCookie = { edns: { ...plainEdns, options: [{ code: 10, octets: cookie }] } };
    const flood = composeMessage({ id: 1, questions: [question] });
    using sender = await openPacketSender(local);
    const seen = { whole: 0, empty: 0 };
    const note = (octets: Uint8Array, at: number): void => {
      if ((octets[at + 2]! & 2) === 0) seen.whole++;
      else seen.empty++;
    };
    const wholeMin = rateLimit.perSecond * 0.9;
    const startMs = runtime.clock.monotonicMs();
    for (let round = 0; round < limitedDatagrams / 1_000; round++) {
      for (let sent = 0; sent < 1_000; sent++) sender.send(flood);
      const answer = await probe.overUdp({ questions: [question], ...withCookie });
      assert.deepEqual([answer.truncated, answer.answers.length], [false, 2]);
      sender.drain(note);
    }
    // The last answers may still be under way.
    for (let tries = 0; tries < 500 && (seen.whole < wholeMin || seen.empty === 0); tries++) {
      await runtime.clock.sleep(10);
      sender.drain(note);
    }
    const seconds = (runtime.clock.monotonicMs() - startMs) / 1_000;
    const told = `${JSON.stringify(seen)} of ${limitedDatagrams} in ${seconds} s`;
    // Two threads that write one account at once may lose an answer's price.
    assert.ok(seen.whole <= 1.05 * (seconds + 1) * rateLimit.perSecond, told);
    assert.ok(seen.whole >= wholeMin && seen.empty > 0, told);
    assert.ok(seen.whole + seen.empty < limitedDatagrams, told);
  });

  test(`mutated datagrams under the rate limit are answered by no more than it allows (${datapath})`, async () => {
    const { local } = targets.get(`${datapath} limited`)!;
    const integer = seededIntegers("limited");
    using sender = await openPacketSender(local);
    let whole = 0;
    const startMs = runtime.clock.monotonicMs();
    for (let round = 0; round < limitedDatagrams / 1_000; round++) {
      for (let sent = 0; sent < 1_000; sent++) sender.send(mutateOctets(dnsSamples, integer));
      await runtime.clock.sleep(0);
      sender.drain((octets, at) => {
        const isEmpty = (octets[at + 2]! & 2) !== 0;
        const isRefused = (octets[at + 3]! & 15) === refused;
        if (!isEmpty && isRefused) whole++;
      });
    }
    const seconds = (runtime.clock.monotonicMs() - startMs) / 1_000;
    assert.ok(whole <= 1.05 * (seconds + 1) * rateLimit.errorsPerSecond, `${whole} errors in ${seconds} s`);
  });
}

/** What a client of 127.0.0.1 shows on later questions: its own half and the server's, had over TCP. */
async function cookieOf(server: Endpoint, question: Question): Promise<Uint8Array> {
  const connection = await runtime.network.connectTcp({ to: server });
  const own = { code: 10, octets: new Uint8Array(8).fill(7) };
  const asked = composeMessage({ questions: [question], edns: { ...plainEdns, options: [own] } });
  await connection.write(Uint8Array.of(asked.length >> 8, asked.length & 255, ...asked));
  try {
    for await (const octets of connection.received) {
      const [option] = parseMessage(octets.subarray(2)).edns?.options ?? [];
      assert.ok(option?.code === 10 && option.octets.length === 24);
      return option.octets;
    }
    throw new Error("no answer");
  } finally {
    connection.destroy();
  }
}

test(`${connections} TCP connections of mutated frames in pieces: the server answers on and does not grow`, async () => {
  const integer = seededIntegers("connections");
  const target = targets.get("auto exempt")!;
  await attack(target, connections / 20, async () => {
    await Promise.all(Array.from({ length: 20 }, () => dribble(target.local, integer)));
  });
});

/** One connection: frames that fit, lie or end early, cut anywhere; some are left in the middle. */
async function dribble(local: Endpoint, integer: Integers): Promise<void> {
  const connection = await runtime.network.connectTcp({ to: local });
  const reading = (async () => {
    for await (const octets of connection.received) if (octets.length === 0) break;
  })().catch(() => {});
  try {
    for (let frames = integer(6); frames >= 0; frames--) {
      const message = integer(3) === 0 ? pick(dnsSamples, integer) : mutateOctets(dnsSamples, integer);
      const length = integer(8) === 0 ? integer(65_536) : message.length;
      const framed = Uint8Array.of(length >> 8, length & 255, ...message);
      for (let at = 0; at < framed.length;) {
        const end = integer(4) === 0 ? at + 1 + integer(5) : framed.length;
        await connection.write(framed.subarray(at, end));
        at = end;
      }
    }
    if (integer(2) === 0) await connection.end();
  } catch {
    // The server has closed it, as it should after a frame that is no message.
  }
  connection.destroy();
  await reading;
}
