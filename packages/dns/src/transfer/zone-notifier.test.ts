import assert from "node:assert/strict";
import test from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { DnsClient } from "../client/dns-client.ts";
import { composeMessage, parseMessage } from "../message/message.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";
import { ZoneNotifier, type NotifiedZone } from "./zone-notifier.ts";

const at = (octet: number): { address: string; port: number } => ({ address: `10.0.0.${octet}`, port: 53 });

interface FakeZone extends NotifiedZone {
  step(): void;
}

function fakeZone(origin: string): FakeZone {
  const listeners = new Set<() => void>();
  let soa: ZoneSoa = {
    mname: "ns",
    rname: "h",
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 1,
    ttl: 1,
  };
  return {
    origin,
    ready: true,
    get soa() {
      return soa;
    },
    observe(listener) {
      const told = (): void => listener({ fromSerial: 0, toSerial: 0, removed: [], added: [] });
      listeners.add(told);
      return { [Symbol.dispose]: () => void listeners.delete(told) };
    },
    step() {
      soa = { ...soa, serial: soa.serial + 1 };
      for (const listener of listeners) listener();
    },
  };
}

interface Heard {
  readonly ms: number;
  readonly zone: string;
  readonly serial: number;
}

/** A server that hears NOTIFYs, and answers the n-th or not. */
async function world(
  answers: (count: number) => { rcode: number } | undefined = () => ({ rcode: 0 }),
): Promise<{
  sim: Simulation;
  notifier: ZoneNotifier;
  heard: Heard[];
}> {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "us", addresses: [at(1).address] });
  const peer = sim.node({ name: "peer", addresses: [at(2).address] });
  const heard: Heard[] = [];
  await peer.runtime.network.serveUdp({
    ...at(2),
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    answer: (input, offset, length, _client, output) => {
      const { id, opcode, questions, answers: hints } = parseMessage(input.slice(offset, offset + length));
      heard.push({ ms: sim.nowMs, zone: questions[0]!.name, serial: Number(hints[0]!.data.split(" ")[2]) });
      const answer = answers(heard.length);
      if (answer === undefined) return 0;
      const reply = composeMessage({ id, opcode, questions, response: true, ...answer });
      output.set(reply);
      return reply.length;
    },
  });
  return { sim, notifier: new ZoneNotifier(runtime, { client: new DnsClient(runtime) }), heard };
}

test("a zone is told as it is, and after each change with its serial", async () => {
  const { sim, notifier, heard } = await world();
  const zone = fakeZone("p.test");
  const following = notifier.follow(zone, [at(2)]);
  await sim.run({ untilMs: 2_000 });
  zone.step();
  await sim.run({ untilMs: 4_000 });
  following[Symbol.dispose]();
  zone.step();
  await sim.run({ untilMs: 60_000 });
  assert.deepEqual(
    heard.map(({ zone: name, serial }) => `${name} ${serial}`),
    ["p.test 1", "p.test 2"],
  );
  assert.ok(heard[1]!.ms - 2_000 < 50, "at once");
  assert.deepEqual(notifier.counters, { sent: 2, acknowledged: 2, rejected: 0, unanswered: 0 });
});

test("many changes within a second are one message, with the last serial", async () => {
  const { sim, notifier, heard } = await world();
  const zone = fakeZone("p.test");
  notifier.follow(zone, [at(2)]);
  for (let ms = 100; ms < 900; ms += 10) sim.schedule(ms, () => zone.step());
  await sim.run({ untilMs: 10_000 });
  assert.deepEqual(
    heard.map(({ serial }) => serial),
    [1, 81],
  );
});

test("a lost NOTIFY is repeated after 1, 2, 4, 8 and 15 s, until any reply", async () => {
  const { sim, notifier, heard } = await world((count) => (count < 5 ? undefined : { rcode: 5 }));
  notifier.follow(fakeZone("p.test"), [at(2)]);
  await sim.run({ untilMs: 120_000 });
  const gaps = heard.slice(1).map(({ ms }, index) => Math.round((ms - heard[index]!.ms) / 100) / 10);
  assert.equal(heard.length, 5);
  for (const [index, expected] of [1, 2, 4, 8].entries())
    assert.ok(Math.abs(gaps[index]! - expected) < 0.2, gaps.join());
  assert.equal(notifier.counters.rejected, 1);
});

test("a change while the last is repeated is told in its place", async () => {
  const { sim, notifier, heard } = await world(() => undefined);
  const zone = fakeZone("p.test");
  notifier.follow(zone, [at(2)]);
  sim.schedule(5_000, () => zone.step());
  await sim.run({ untilMs: 100_000 });
  assert.deepEqual(
    heard.map(({ serial }) => serial),
    [1, 1, 1, 2, 2, 2, 2, 2, 2],
  );
  assert.equal(notifier.counters.unanswered, 1);
});

test("F13: ten thousand zones that change at once are told at a pace, each once", async () => {
  const { sim, notifier, heard } = await world();
  const zones = Array.from({ length: 10_000 }, (_, index) => fakeZone(`z${index}.test`));
  for (const zone of zones) notifier.follow(zone, [at(2)]);
  for (const zone of zones) zone.step();
  const stepsBefore = sim.steps;
  await sim.run({ untilMs: 120_000 });
  assert.equal(heard.length, 10_000);
  assert.equal(new Set(heard.map(({ zone }) => zone)).size, 10_000);
  for (let index = 0; index + 120 < heard.length; index += 100)
    assert.ok(heard[index + 120]!.ms - heard[index]!.ms > 1_000, "not over 120 in a second");
  assert.ok(sim.steps - stepsBefore < 200_000, "no loop that is busy");
});
