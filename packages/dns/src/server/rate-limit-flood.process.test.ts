import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import test from "node:test";
import { ReusedClient, silentLogger, type Endpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Simulation } from "@meridian/runtime/sim";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { parseMessage } from "../message/message.ts";
import { caseZoneText, concat, hex, loadZone, question } from "../testdata/case-zone.ts";
import { datapaths } from "../testdata/dns-command.ts";
import { UdpWorkers } from "../workers/udp-workers.ts";
import { Authority, type AuthorityOptions } from "./authority.ts";
import { RateLimit, type RateLimitOptions } from "./rate-limit.ts";
import { serveDns } from "./serve-dns.ts";

/*
 * Floods against a running server: how much of the same leaves it. In virtual time the bounds are exact.
 */

const endpoint = { address: "10.0.0.2", port: 53 };
const seed = 11;

interface Tally {
  full: number;
  truncated: number;
  silent: number;
}

/** What becomes of so many questions a second for so long. */
async function flood(options: {
  readonly message: Uint8Array;
  readonly seconds: number;
  readonly perSecond: number;
  readonly limit?: RateLimitOptions;
  readonly from?: readonly string[];
}): Promise<Tally> {
  const { message, seconds, perSecond, limit = {}, from = ["10.0.1.1"] } = options;
  const sim = new Simulation({ seed });
  const node = sim.node({ name: "server", addresses: [endpoint.address] });
  const client = sim.node({ name: "client", addresses: [...from] });
  const authority = new Authority({ ...node.runtime, rateLimit: RateLimit.create({ seed, ...limit }) });
  authority.setZone(loadZone(caseZoneText));
  await sim.complete(serveDns(node.runtime, { authority, listen: [endpoint] }));
  const tally: Tally = { full: 0, truncated: 0, silent: seconds * perSecond };
  const onDatagram = (datagram: Uint8Array): void => {
    tally.silent--;
    if ((datagram[2]! & 2) === 0) tally.full++;
    else tally.truncated++;
  };
  const sockets = await sim.complete(
    Promise.all(from.map((address) => client.runtime.network.bindUdp({ address, port: 0, onDatagram }))),
  );
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    for (let index = 0; index < perSecond / 1_000; index++) {
      sockets[(ms + index) % sockets.length]!.send(message, endpoint);
    }
    await sim.run({ untilMs: sim.nowMs + 1 });
  }
  await sim.run({ untilMs: sim.nowMs + 1_000 });
  return tally;
}

const www = question("www.p.test", "A");

test("of 5,000 like questions a second the limit passes, and of the rest every second one slips", async () => {
  const tally = await flood({ message: www, seconds: 3, perSecond: 5_000 });
  // One second's worth at once, then 1,000 a second; the packets' jitter on the way moves the last ones.
  assert.ok(Math.abs(tally.full - 4_000) <= 10, JSON.stringify(tally));
  assert.ok(Math.abs(tally.truncated - tally.silent) <= 1, JSON.stringify(tally));
});

test("errors have a lower limit, whatever name is asked", async () => {
  const refused = question("www.example.org", "A");
  const tally = await flood({ message: refused, seconds: 2, perSecond: 1_000 });
  assert.ok(Math.abs(tally.full - 150) <= 3, JSON.stringify(tally));
});

test("many hosts of one network count as one, and no address is exempt", async () => {
  const from = Array.from({ length: 50 }, (_, index) => `10.0.1.${index + 1}`);
  const tally = await flood({ message: www, seconds: 2, perSecond: 2_000, limit: { perSecond: 100 }, from });
  assert.ok(Math.abs(tally.full - 300) <= 3, JSON.stringify(tally));
});

test("a truncated answer is never longer than its question", async () => {
  const authority = new Authority({
    ...new Simulation({ seed }).node({ name: "server", addresses: ["10.0.0.2"] }).runtime,
    rateLimit: RateLimit.create({ seed, perSecond: 1, slip: 1 }),
  });
  authority.setZone(loadZone(caseZoneText));
  const client = {
    address: "192.0.2.1",
    port: 4321,
    transport: "udp",
    octets: Uint8Array.of(192, 0, 2, 1),
  } as const;
  const output = new Uint8Array(4096);
  const message = question("www.p.test", "A");
  const lengths = [1, 2, 3].map(() =>
    authority.answer(message, 0, message.length, { ...client, octetCount: 4 }, output),
  );
  assert.ok(lengths[0]! > message.length);
  assert.deepEqual(lengths.slice(1), [message.length, message.length]);
});

test("logging only, all pass", async () => {
  const tally = await flood({
    message: www,
    seconds: 2,
    perSecond: 2_000,
    limit: { perSecond: 10, logOnly: true },
  });
  assert.deepEqual(tally, { full: 4_000, truncated: 0, silent: 0 });
});

/** Asks with a cookie; undefined is silence. */
type AskWithCookie = (cookie: Uint8Array, asked?: Uint8Array) => Uint8Array | undefined;

function withCookies(options: Partial<AuthorityOptions>): AskWithCookie {
  const { runtime } = new Simulation({ seed }).node({ name: "server", addresses: ["10.0.0.2"] });
  const authority = new Authority({ ...runtime, ...options });
  authority.setZone(loadZone(caseZoneText));
  const client = new ReusedClient("udp", { address: "192.0.2.1", port: 4321 });
  const output = new Uint8Array(4096);
  return (cookie, asked = www) => {
    const option = concat(hex("000a"), Uint8Array.of(0, cookie.length), cookie);
    const opt = concat(hex("00 0029 04d0 00000000"), Uint8Array.of(0, option.length), option);
    const message = concat(asked, opt);
    message[11] = 1;
    const length = authority.answer(message, 0, message.length, client, output);
    return length === 0 ? undefined : output.slice(0, length);
  };
}

const clientCookie = new Uint8Array(8).fill(1);
const madeUpCookie = concat(clientCookie, hex("01000000 00000000"), new Uint8Array(8).fill(9));

function cookieOf(answer: Uint8Array | undefined): Uint8Array {
  const option = parseMessage(answer!).edns!.options.find(({ code }) => code === 10);
  return option!.octets;
}

test("a valid cookie exempts, a made-up one does not", () => {
  const ask = withCookies({ rateLimit: RateLimit.create({ seed, perSecond: 10, slip: 0 }) });
  const cookie = cookieOf(ask(clientCookie));
  const passed = (value: Uint8Array): number =>
    Array.from({ length: 100 }, () => ask(value)).filter((answer) => answer !== undefined).length;
  assert.equal(passed(madeUpCookie), 9);
  assert.equal(passed(cookie), 100);
});

test("where long answers need a valid cookie, who has none gets TC and a cookie", () => {
  const ask = withCookies({ noCookieOctetsMax: 300 });
  const big = question("big.p.test", "TXT");
  const first = ask(clientCookie, big)!;
  const isTruncated = (answer: Uint8Array): boolean => (answer[2]! & 2) !== 0;
  assert.ok(isTruncated(first) && first.length <= 300);
  assert.ok(isTruncated(ask(madeUpCookie, big)!));
  const whole = ask(cookieOf(first), big)!;
  assert.ok(!isTruncated(whole) && whole.length > 500);
  assert.ok(!isTruncated(ask(clientCookie)!), "short answers need none");
});

test("over TCP nothing is limited", async () => {
  const sim = new Simulation({ seed });
  const node = sim.node({ name: "server", addresses: [endpoint.address] });
  const client = sim.node({ name: "client", addresses: ["10.0.1.1"] });
  const authority = new Authority({ ...node.runtime, rateLimit: RateLimit.create({ seed, perSecond: 10 }) });
  authority.setZone(loadZone(caseZoneText));
  await sim.complete(serveDns(node.runtime, { authority, listen: [endpoint] }));
  const connection = await sim.complete(client.runtime.network.connectTcp({ to: endpoint }));
  const reading = (async () => {
    const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
    let count = 0;
    for await (const chunk of connection.received) {
      for (const frame of frames.read(chunk)) if (typeof frame !== "string" && (frame[2]! & 2) === 0) count++;
    }
    return count;
  })();
  await sim.complete(connection.write(concat(...Array.from({ length: 1_000 }, () => toFrame(www)))));
  await sim.complete(connection.end());
  assert.equal(await sim.complete(reading), 1_000);
});

for (const [name, exemptLoopback] of [
  ["is exempt by default", true],
  ["is not where the exemption is switched off", false],
] as const)
  for (const { datapath, skip } of datapaths) {
    test(`on real sockets loopback ${name} (${datapath})`, { skip, timeout: 30_000 }, async () => {
      const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });
      const rateLimit = RateLimit.create({ seed, perSecond: 20, exemptLoopback });
      const authority = new Authority({ ...runtime, rateLimit });
      authority.setZone(loadZone(caseZoneText));
      const threads = datapath === "dgram" ? undefined : new UdpWorkers(runtime, { authority, threads: 2 });
      await using server = await serveDns(runtime, {
        authority,
        listen: [{ address: "127.0.0.1", port: 0 }],
        ...(threads === undefined ? {} : { serveUdp: threads.serveUdp }),
      });
      // As many answers as fit the client's receive buffer, should they all come before it reads the first.
      const count = 150;
      const tally = await askInTurn(server.local[0]!, count);
      const { slipped, dropped } = rateLimit.counters;
      const limited = [...slipped, ...dropped].reduce((sum, count) => sum + count, 0);
      assert.equal(tally.full + limited, count);
      assert.equal(tally.truncated, slipped[0]);
      if (exemptLoopback) assert.equal(tally.full, count);
      else assert.ok(tally.truncated > 0 && dropped[0]! > 0, JSON.stringify(tally));
    });
  }

/** Sends so many questions, and behind them one over and over that is not limited so far, whose answer comes last. */
async function askInTurn(to: Endpoint, count: number): Promise<Tally> {
  const socket = createSocket("udp4");
  const tally: Tally = { full: 0, truncated: 0, silent: count };
  const ended = new Promise<void>((resolve) => {
    socket.on("message", (datagram) => {
      if (datagram.readUInt16BE(0) === 9) return resolve();
      tally.silent--;
      if ((datagram[2]! & 2) === 0) tally.full++;
      else tally.truncated++;
    });
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  for (let sent = 0; sent < count; sent++) socket.send(www, to.port, to.address);
  const last = question("mail.p.test", "MX", { id: 9 });
  socket.send(last, to.port, to.address);
  const again = setInterval(() => socket.send(last, to.port, to.address), 500);
  await ended;
  clearInterval(again);
  socket.close();
  return tally;
}
