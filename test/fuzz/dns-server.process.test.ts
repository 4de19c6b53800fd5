import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, freePort, meridianCommand } from "../conformance/child-server.ts";
import { handWritten } from "../conformance/differential-zones.ts";
import { DnsExchange } from "../conformance/dns-exchange.ts";
import { dnsSamples } from "./dns-samples.ts";
import { fuzzRuns, fuzzSeed, pick, seededIntegers, type Integers } from "./fuzz-seed.ts";
import { mutateOctets } from "./octet-mutator.ts";

const datagrams = 50_000 * fuzzRuns;
const connections = 400 * fuzzRuns;
/** What a server of this size may grow by after it has warmed up; a leak of 1 KiB per packet is far above it. */
const growthBytesMax = 32 * 1024 * 1024;

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
let folder: string;
/** Datagrams are answered in two ways: by threads where they work, and by the main thread. */
const datapaths = ["auto", "dgram"] as const;
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
    const local = { address: "127.0.0.1", port: await freePort(runtime) };
    const how = ["--listen", `127.0.0.1:${local.port}`, "--datapath", datapath];
    const args = ["dns", "--zone-file", zoneFile, ...how];
    const server = await ChildServer.start([...meridianCommand, ...args], /Serving /);
    targets.set(datapath, { server, local, probe: new DnsExchange(runtime, local) });
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

for (const datapath of datapaths)
  test(`${datagrams} mutated datagrams: the server answers a probe after each 1,000 and does not grow (${datapath}, seed ${fuzzSeed})`, async () => {
    const target = targets.get(datapath)!;
    const integer = seededIntegers("datagrams");
    await using socket = await runtime.network.bindUdp({ address: "127.0.0.1", port: 0, onDatagram() {} });
    await attack(target, datagrams / 1_000, async () => {
      for (let sent = 0; sent < 1_000; sent++) socket.send(mutateOctets(dnsSamples, integer), target.local);
    });
  });

test(`${connections} TCP connections of mutated frames in pieces: the server answers on and does not grow`, async () => {
  const integer = seededIntegers("connections");
  const target = targets.get("auto")!;
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
