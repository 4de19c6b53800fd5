import assert from "node:assert/strict";
import { test } from "node:test";
import { composeMessage, parseMessage, type Message } from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import type { K8gbEndpoint } from "./k8gb-endpoint.ts";
import { answerAsPlugin, type PluginContent } from "./plugin-answer.ts";

const random = new Simulation({ seed: 1 }).random("plugin");

function entry(
  dnsName: string,
  targets: readonly string[],
  labels: Record<string, string> = {},
): K8gbEndpoint {
  return { dnsName, recordTtlSeconds: 5, targets, labels };
}

const content: PluginContent = {
  synced: true,
  zones: ["cloud.example.com"],
  serial: 1,
  siteOf: (address) =>
    address.startsWith("10.1.") ? "one" : address.startsWith("10.2.") ? "two" : undefined,
  endpoints: [
    entry("app.cloud.example.com", ["10.1.0.1", "10.2.0.1", "10.1.0.1"]),
    entry("geo.cloud.example.com", ["10.1.0.1", "10.2.0.1"], { strategy: "geoip" }),
    entry("none.cloud.example.com", []),
    entry(
      "many.cloud.example.com",
      Array.from({ length: 60 }, (_, index) => `10.3.0.${index}`),
    ),
    entry("first.cloud.example.com", ["10.2.0.1", "10.1.0.1"], {
      strategy: "roundRobin",
      "weight-eu-0-0": "10.2.0.1",
      "weight-us-0-1": "10.1.0.1",
    }),
    entry("dash.cloud.example.com", ["10.2.0.1", "10.1.0.1"], {
      strategy: "roundRobin",
      "weight-eu-west-0-0": "10.2.0.1",
      "weight-us-0-1": "10.1.0.1",
    }),
  ],
};

function ask(
  name: string,
  type = "A",
  of: { client?: string; edns?: Message["edns"]; synced?: boolean } = {},
): Message {
  const { client = "192.0.2.1", edns, synced = true } = of;
  const query = composeMessage({
    id: 1,
    recursionDesired: true,
    questions: [{ name, type, class: 1 }],
    ...(edns === undefined ? {} : { edns }),
  });
  return parseMessage(answerAsPlugin({ ...content, synced }, parseMessage(query), { client, random }));
}

const targetsOf = ({ answers }: Message): readonly string[] => answers.map(({ data }) => data);

test("a name with targets is answered once each, with its TTL and never with authority", () => {
  const message = ask("app.cloud.example.com");
  assert.deepEqual(targetsOf(message), ["10.1.0.1", "10.2.0.1"]);
  assert.deepEqual([message.rcode, message.authoritative, message.answers[0]?.ttl], [0, false, 5]);
});

test("in another case the TTL is 60, and labels do not count", () => {
  assert.equal(ask("APP.cloud.example.com").answers[0]?.ttl, 60);
  assert.equal(ask("Geo.cloud.example.com", "A", { client: "10.1.9.9" }).answers.length, 2);
});

test("a name that is not there, has no targets or only something below it is NXDOMAIN, for any type", () => {
  for (const name of ["missing.cloud.example.com", "none.cloud.example.com", "x.app.cloud.example.com"])
    for (const type of ["A", "AAAA", "SOA"]) assert.equal(ask(name, type).rcode, 3, `${name} ${type}`);
});

test("other types of a name with targets are NODATA, TXT is all of them", () => {
  const { rcode, answers, authority } = ask("app.cloud.example.com", "AAAA");
  assert.deepEqual([rcode, answers.length, authority[0]?.type], [0, 0, "SOA"]);
  assert.equal(ask("app.cloud.example.com", "TXT").answers.length, 1);
});

test("a client gets the targets of its site, and all where it is at none", () => {
  assert.deepEqual(targetsOf(ask("geo.cloud.example.com", "A", { client: "10.2.9.9" })), ["10.2.0.1"]);
  assert.equal(ask("geo.cloud.example.com").answers.length, 2);
});

test("without EDNS an answer ends at 512 octets", () => {
  const { truncated, answers } = ask("many.cloud.example.com");
  assert.ok(truncated && answers.length > 20 && answers.length < 32, `${answers.length}`);
  const edns = { payloadSize: 4096, version: 0, dnssecOk: false, options: [] };
  assert.equal(ask("many.cloud.example.com", "A", { edns }).answers.length, 60);
});

test("weight 0 goes last; a geo tag with a dash turns weights off", () => {
  for (let count = 0; count < 20; count++) {
    assert.deepEqual(targetsOf(ask("first.cloud.example.com")), ["10.1.0.1", "10.2.0.1"]);
    assert.deepEqual(targetsOf(ask("dash.cloud.example.com")), ["10.2.0.1", "10.1.0.1"]);
  }
});

test("the zone's apex, names of the plugin's own, other zones, and an empty cache", () => {
  assert.deepEqual(targetsOf(ask("cloud.example.com", "NS")), ["ns1.dns.cloud.example.com."]);
  assert.deepEqual([ask("ns1.dns.cloud.example.com").rcode, ask("x.dns.cloud.example.com").rcode], [0, 3]);
  assert.equal(ask("app.example.org").rcode, 5);
  assert.equal(ask("app.cloud.example.com", "A", { synced: false }).rcode, 2);
});
