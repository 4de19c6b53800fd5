import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { caseZoneText, concat, hex, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import { QueryLogRing } from "./query-log-ring.ts";
import { QueryLog, type QueryLogOptions } from "./query-log.ts";

interface Fixture {
  readonly sim: Simulation;
  readonly log: QueryLog;
  readonly lines: string[];
  readonly ask: (message: Uint8Array, times?: number) => void;
}

function start(options: Partial<QueryLogOptions> = {}): Fixture {
  const sim = new Simulation({ seed: 5 });
  const { runtime } = sim.node({ name: "server", addresses: ["10.0.0.2"] });
  const authority = new Authority(runtime);
  authority.setZone(loadZone(caseZoneText));
  const lines: string[] = [];
  const write = async (text: string): Promise<void> => {
    lines.push(...text.trimEnd().split("\n"));
  };
  const log = new QueryLog(runtime, { write, ...options });
  const answer = log.noting(authority.answer);
  const client = new ReusedClient("udp", { address: "192.0.2.7", port: 4321 });
  const output = new Uint8Array(65_535);
  const ask = (message: Uint8Array, times = 1): void => {
    for (let index = 0; index < times; index++) answer(message, 0, message.length, client, output);
  };
  return { sim, log, lines, ask };
}

test("a line tells who asked what, and what came of it", async () => {
  const { sim, lines, ask } = start();
  ask(question("www.p.test", "A"));
  ask(question("nx.p.test", "TYPE65280"));
  ask(question("www.p.test", "A", { response: true }));
  await sim.run({ untilMs: 500 });
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    told.map(({ name, type, rcode, flags }) => [name, type, rcode, (flags as string[]).includes("aa")]),
    [
      ["www.p.test.", "A", "NOERROR", true],
      ["nx.p.test.", "TYPE65280", "NXDOMAIN", true],
      ["www.p.test.", "A", "SILENCE", false],
    ],
  );
  assert.equal(told[0]!["client"], "192.0.2.7");
  assert.equal(told[0]!["port"], 4321);
  assert.equal(told[0]!["transport"], "udp");
  assert.match(String(told[0]!["time"]), /^\d{4}-\d\d-\d\dT/);
});

test("all twelve bits of a response code are told", async () => {
  const { sim, lines, ask } = start();
  for (const version of [0, 1]) {
    const message = question("www.p.test", "A");
    message[11] = 1;
    ask(concat(message, hex("00 0029 04d0 00"), Uint8Array.of(version, 0, 0, 0, 0)));
  }
  await sim.run({ untilMs: 500 });
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { rcode: string }).rcode),
    ["NOERROR", "BADVERS"],
  );
});

test("as text it is one line of words", async () => {
  const { sim, lines, ask } = start({ format: "text" });
  ask(question("www.p.test", "A"));
  await sim.run({ untilMs: 500 });
  assert.match(lines[0]!, /^\S+Z udp 192\.0\.2\.7#4321 QUERY www\.p\.test\. IN A NOERROR aa\S* \d+$/);
});

test("a rate of one in ten logs every tenth", async () => {
  const { sim, lines, ask } = start({ rate: 0.1 });
  ask(question("www.p.test", "A"), 100);
  await sim.run({ untilMs: 500 });
  assert.equal(lines.length, 10);
});

test("messages without a whole question are logged without one", async () => {
  const { sim, lines, ask } = start();
  ask(hex("0001 0000 0001 0000 0000 0000 c00c 0001 0001"));
  ask(hex("0001 0000 0001 0000 0000 0000 3f"));
  ask(hex("0001 0000 0000 0000 0000 0000"));
  ask(concat(hex("0001 0000 0001 0000 0000 0000"), new Uint8Array(400).fill(1)));
  ask(hex("00"));
  await sim.run({ untilMs: 500 });
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { name: string }).name),
    ["-", "-", "-", "-"],
  );
});

test("no client subnet and no cookie reaches a line", async () => {
  const { sim, lines, ask } = start();
  const message = question("www.p.test", "A");
  // OPT with a subnet of 198.51.100.0/24 and a cookie.
  const options = hex("0008 0007 0001 18 00 c6 33 64  000a 0008 6162636465666768");
  const opt = concat(hex("00 0029 04d0 00000000"), Uint8Array.of(0, options.length), options);
  message[11] = 1;
  ask(concat(message, opt));
  await sim.run({ untilMs: 500 });
  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines[0]!, /198\.51|abcdefgh|6162/);
});

test("a sink that never ends holds up nothing: what the ring cannot hold is lost and counted", async () => {
  let taken = 0;
  const { sim, log, ask } = start({
    write: (text) => {
      taken += text.trimEnd().split("\n").length;
      return new Promise(() => {});
    },
  });
  ask(question("www.p.test", "A"));
  await sim.run({ untilMs: 500 });
  ask(question("www.p.test", "A"), 5_000);
  await sim.run({ untilMs: 5_000 });
  assert.equal(taken, 1);
  assert.equal(log.counters.lost, 5_000 - 4_096);
});

test("a sink that fails loses its lines only", async () => {
  let fails = true;
  const lines: string[] = [];
  const { sim, log, ask } = start({
    write: async (text) => {
      if (fails) throw new Error("the disk is full");
      lines.push(text);
    },
  });
  ask(question("www.p.test", "A"), 3);
  await sim.run({ untilMs: 500 });
  fails = false;
  ask(question("www.p.test", "A"));
  await sim.complete(Promise.resolve(log[Symbol.asyncDispose]()));
  assert.equal(lines.length, 1);
  assert.deepEqual(log.counters, { written: 1, lost: 3 });
});

test("a ring may be filled by another thread's copy of it", () => {
  const ring = QueryLogRing.create({ every: 1 });
  const other = new QueryLogRing(ring.shared);
  const answer = other.noting(() => -1, { nowMs: () => 1_000 });
  const client = new ReusedClient("tls", { address: "2001:db8::1", port: 9 });
  const message = question("www.p.test", "A");
  answer(message, 0, message.length, client, new Uint8Array(512));
  const note = ring.take();
  assert.deepEqual(
    [note?.timeMs, note?.transport, note?.client.length, note?.port, note?.answerOctets],
    [1_000, "tls", 16, 9, -1],
  );
  assert.equal(ring.take(), undefined);
  const passing = other.noting(() => -1, { nowMs: () => 1_000, passesOn: true });
  passing(message, 0, message.length, client, new Uint8Array(512));
  assert.equal(ring.take(), undefined, "noted where it is answered");
});
