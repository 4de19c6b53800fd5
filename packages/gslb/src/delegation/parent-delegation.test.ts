import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceRecord, Verdict } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { lookUpDelegation, type ParentDelegation } from "./parent-delegation.ts";

const edge: Endpoint = { address: "192.0.2.53", port: 1053 };
const pair = { loadBalancedZone: "cloud.example.com", parentZone: "example.com" };

const record = (text: string): ResourceRecord => {
  const [name = "", ttl = "", type = "", data = ""] = text.split(" ");
  return { name, ttl: Number(ttl), type, data };
};

interface Reply {
  readonly outcome?: "data" | "nodata" | "nxdomain" | "referral";
  readonly aa?: boolean;
  readonly answer?: readonly string[];
  readonly authority?: readonly string[];
  readonly additional?: readonly string[];
}

const answered = (server: Endpoint, reply: Reply): Verdict => ({
  state: "answered",
  outcome: reply.outcome ?? "data",
  authoritative: reply.aa ?? false,
  records: (reply.answer ?? []).map(record),
  authority: (reply.authority ?? []).map(record),
  additional: (reply.additional ?? []).map(record),
  server,
});

/** A world of servers by `address:port`, each with replies by `name type`. */
async function lookUp(
  world: Readonly<Record<string, Readonly<Record<string, Reply | "SERVFAIL">>>>,
): Promise<ParentDelegation> {
  return lookUpDelegation(pair, {
    dnsClient: {
      query: async ({ name, type, servers }) => {
        let refused: Verdict = { state: "unreachable", reason: "no reply in time" };
        for (const server of servers) {
          const reply = world[`${server.address}:${server.port}`]?.[`${name} ${type}`];
          if (reply === "SERVFAIL") refused = { state: "refused", rcode: reply, server };
          else if (reply !== undefined) return answered(server, reply);
        }
        return refused;
      },
    },
    edgeServers: [edge],
    deadlineMs: 1000,
    signal: new AbortController().signal,
  });
}

const toParent = {
  answer: ["example.com 30 NS ns.example.com."],
  additional: ["ns.example.com 30 A 192.0.2.9"],
};
const servers = [
  "cloud.example.com 30 NS gslb-ns-us-cloud.example.com.",
  "cloud.example.com 30 NS gslb-ns-eu-cloud.example.com.",
];
const found = ["gslb-ns-eu-cloud.example.com", "gslb-ns-us-cloud.example.com"];

const cases: readonly {
  readonly name: string;
  readonly world: Parameters<typeof lookUp>[0];
  readonly expect: readonly string[] | RegExp;
}[] = [
  {
    name: "a referral of the parent's server, on the port of the edge server",
    world: {
      "192.0.2.53:1053": { "example.com NS": toParent },
      "192.0.2.9:1053": { "cloud.example.com NS": { outcome: "referral", authority: servers } },
    },
    expect: found,
  },
  {
    name: "D38: NS records in the answer section",
    world: {
      "192.0.2.53:1053": { "example.com NS": toParent },
      "192.0.2.9:1053": { "cloud.example.com NS": { answer: servers } },
    },
    expect: found,
  },
  {
    name: "D38: the parent's servers without an address in the answer, and the first of them dead",
    world: {
      "192.0.2.53:1053": {
        "example.com NS": {
          answer: ["example.com 30 NS ns1.example.net.", "example.com 30 NS ns2.example.net."],
        },
        "ns1.example.net A": { answer: ["ns1.example.net 30 A 192.0.2.8"] },
        "ns1.example.net AAAA": { outcome: "nodata" },
        "ns2.example.net A": { answer: ["ns2.example.net 30 A 192.0.2.9"] },
        "ns2.example.net AAAA": { outcome: "nodata" },
      },
      "192.0.2.9:1053": { "cloud.example.com NS": { outcome: "referral", authority: servers } },
    },
    expect: found,
  },
  {
    name: "an edge server that is the parent's own server",
    world: {
      "192.0.2.53:1053": {
        "example.com NS": { ...toParent, aa: true },
        "cloud.example.com NS": { outcome: "referral", authority: servers },
      },
    },
    expect: found,
  },
  {
    name: "a zone that is not delegated",
    world: {
      "192.0.2.53:1053": { "example.com NS": toParent },
      "192.0.2.9:1053": { "cloud.example.com NS": { outcome: "nxdomain" } },
    },
    expect: [],
  },
  {
    name: "a parent's server that refers to others",
    world: {
      "192.0.2.53:1053": { "example.com NS": toParent },
      "192.0.2.9:1053": {
        "cloud.example.com NS": { outcome: "referral", authority: ["com 30 NS a.gtld.test."] },
      },
    },
    expect: /a referral to other servers/,
  },
  {
    name: "a parent's server that fails",
    world: {
      "192.0.2.53:1053": { "example.com NS": toParent },
      "192.0.2.9:1053": { "cloud.example.com NS": "SERVFAIL" },
    },
    expect: /SERVFAIL/,
  },
  { name: "an edge server that nobody reaches", world: {}, expect: /no reply in time/ },
  {
    name: "a parent zone that nobody serves",
    world: { "192.0.2.53:1053": { "example.com NS": { outcome: "nxdomain" } } },
    expect: /nobody serves the parent zone/,
  },
];

for (const { name, world, expect } of cases) {
  test(`the delegation is found: ${name}`, async () => {
    const delegation = await lookUp(world);
    if (expect instanceof RegExp) {
      assert.equal(delegation.state, "failed");
      assert.match(delegation.verdict, expect);
    } else {
      assert.equal(delegation.state, "known");
      assert.deepEqual(delegation.nameServers, expect);
    }
  });
}
