/*
 * What clients see of a balanced host while its objects come, change and go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { composeMessage, parseMessage, type Message } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { openFeederWorld, type FeederWorld } from "../testdata/feeder-world.ts";

const app = "app.cloud.example.com";
const edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };

function open(): FeederWorld {
  const world = openFeederWorld();
  world.feeder.setZone({
    loadBalancedZone: "cloud.example.com",
    parentZone: "example.com",
    negativeTtlSeconds: 20,
  });
  world.feeder.open();
  return world;
}

const a = (targets: readonly string[], dnsName = app): DnsEndpointRecord => ({
  dnsName,
  recordType: "A",
  recordTTL: 5,
  targets,
});

/** Has what was put shown: one turn of the loop, as after one event of an informer. */
async function put(world: FeederWorld, records: readonly DnsEndpointRecord[] | undefined): Promise<void> {
  world.put("own-app", records);
  await world.simulation.run({ untilMs: world.simulation.nowMs + 1 });
}

function ask(
  { authority }: FeederWorld,
  {
    name = app,
    type = "A",
    transport = "udp",
  }: { name?: string; type?: string; transport?: "udp" | "tcp" } = {},
): Message {
  const asked = composeMessage({ id: 1, questions: [{ name, type, class: 1 }], edns });
  const client = new ReusedClient(transport, { address: "203.0.113.9", port: 40_000 });
  const output = new Uint8Array(65_535);
  return parseMessage(output.slice(0, authority.answer(asked, 0, asked.length, client, output)));
}

const dataOf = (message: Message): string[] => message.answers.map(({ data }) => data).toSorted();

test("a host whose targets are all down is NODATA with the zone's negative TTL, and never NXDOMAIN", async () => {
  const world = open();
  await put(world, [a(["192.0.2.1"])]);
  assert.deepEqual(dataOf(ask(world)), ["192.0.2.1"]);
  await put(world, [a([])]);
  for (const type of ["A", "AAAA", "TXT"]) {
    const { rcode, answers, authority } = ask(world, { type });
    assert.deepEqual([rcode, answers.length], [0, 0]);
    assert.deepEqual(
      authority.map((record) => [record.type, record.ttl]),
      [["SOA", 20]],
    );
  }
});

test("a host that is deleted is NXDOMAIN after one event, and back after one", async () => {
  const world = open();
  await put(world, [a(["192.0.2.1"])]);
  await put(world, undefined);
  assert.equal(ask(world).rcode, 3);
  await put(world, [a(["192.0.2.2"])]);
  assert.deepEqual(dataOf(ask(world)), ["192.0.2.2"]);
});

test("before all objects are known every answer is SERVFAIL, not ready", () => {
  const world = openFeederWorld();
  world.feeder.setZone({
    loadBalancedZone: "cloud.example.com",
    parentZone: "example.com",
    negativeTtlSeconds: 20,
  });
  for (const name of [app, "cloud.example.com", "nx.cloud.example.com"]) {
    const { rcode, edns: opt, authority } = ask(world, { name });
    assert.deepEqual([rcode, authority.length], [2, 0]);
    assert.deepEqual(opt?.options, [{ code: 15, octets: Uint8Array.of(0, 14) }]);
  }
});

test("two hundred targets are truncated over UDP and whole over TCP", async () => {
  const world = open();
  const targets = Array.from({ length: 200 }, (_, index) => `198.51.100.${index + 1}`);
  await put(world, [a(targets)]);
  const { truncated, answers } = ask(world);
  assert.deepEqual([truncated, answers.length], [true, 0]);
  const whole = ask(world, { transport: "tcp" });
  assert.deepEqual([whole.truncated, dataOf(whole)], [false, targets.toSorted()]);
});

test("names that differ in case only are one name, with the targets of both", async () => {
  const world = open();
  await put(world, [a(["192.0.2.1"]), a(["192.0.2.2"], "APP.cloud.EXAMPLE.com")]);
  for (const name of [app, app.toUpperCase()])
    assert.deepEqual(dataOf(ask(world, { name })), ["192.0.2.1", "192.0.2.2"]);
});

test("an answer has the targets of one moment, however often they are swapped", async () => {
  const world = open();
  for (let round = 0; round < 100; round++) {
    await put(world, [a([`192.0.2.${round}`, `198.51.100.${round}`])]);
    assert.deepEqual(dataOf(ask(world)), [`192.0.2.${round}`, `198.51.100.${round}`].toSorted());
  }
});
