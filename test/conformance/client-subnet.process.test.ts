import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Authority,
  GeoSource,
  serveDns,
  Zone,
  type DnsServer,
  type GeoState,
  type Message,
  type RecordSet,
} from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { installed, output } from "../../e2e/harness/command.ts";
import { datapaths, servedBy, type Datapath } from "./datapath.ts";
import { DnsExchange } from "./dns-exchange.ts";
import { startResolver, type RecursiveResolver } from "./recursive-resolver.ts";

// A resolver whose cache is shared by clients everywhere keeps tailored answers apart by the scopes that they carry. It is
// asked by clients of several networks in turn; each must get what it would have got alone.

const map = `
networks:
  192.0.2.0/25: eu
  192.0.2.128/25: us
  10.0.0.0/8: us
  10.1.0.0/16: eu
  10.1.128.0/17: us
  10.2.3.0/24: eu
`;
const eu = "192.0.2.1";
const us = "192.0.2.129";
const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });

/** A server, and a resolver that asks it; none where it is not installed. */
interface Served {
  readonly authority: Authority;
  readonly server: DnsServer;
  readonly resolver: RecursiveResolver | undefined;
}

const served = new Map<Datapath, Served>();

async function geoState(): Promise<GeoState> {
  let found: GeoState | undefined;
  const file = { path: "map", stamp: async () => "1", read: async () => new TextEncoder().encode(map) };
  const source = new GeoSource(runtime, {
    fields: ["datacenter"],
    map: file,
    onState: (state) => (found = state),
    onProblems: (problems) => assert.fail(JSON.stringify(problems)),
  });
  await source.refresh();
  return found!;
}

before(async () => {
  for (const datapath of datapaths) served.set(datapath, await serve(datapath));
});

async function serve(datapath: Datapath): Promise<Served> {
  const authority = new Authority(runtime);
  const zone = new Zone({
    origin: "p.test",
    soa: {
      ...{ mname: "ns.p.test", rname: "hostmaster.p.test", serial: 1 },
      ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: 300, ttl: 300 },
    },
    nameServers: ["ns.p.test"],
    nameServerTtl: 300,
  });
  const set = (
    name: string,
    policy: RecordSet["policy"],
    data: readonly string[],
  ): [string, readonly RecordSet[]] => [
    name,
    [{ name, type: "A", ttl: 300, data, ...(policy === undefined ? {} : { policy }) }],
  ];
  zone.replace(
    new Map([
      set("ns.p.test", undefined, ["127.0.0.1"]),
      set("app.p.test", { kind: "geo" }, [eu, us]),
      set("plain.p.test", undefined, ["192.0.2.7"]),
    ]),
  );
  authority.setZone(zone);
  authority.setGeo(await geoState());
  const server = await serveDns(runtime, {
    authority,
    listen: [{ address: "127.0.0.1", port: 0 }],
    ...servedBy(datapath, runtime, authority),
  });
  const resolver = await startResolver(runtime, "unbound", {
    zone: "p.test",
    server: server.local[0]!.port,
  });
  return { authority, server, resolver };
}

after(async () => {
  for (const { resolver, server } of served.values()) {
    await resolver?.[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  }
});

/** By the third octets too, so that the resolver's /24 differ. */
const clients: readonly (readonly [string, string])[] = [
  ["10.1.0.0", eu],
  ["10.1.128.0", us],
  ["10.1.1.0", eu],
  ["10.2.3.0", eu],
  ["10.2.2.0", us],
  ["10.2.4.0", us],
  ["10.9.9.0", us],
  ["10.1.129.0", us],
  ["10.1.127.0", eu],
];

function question(name: string, subnet: string): Partial<Message> {
  const octets = Uint8Array.of(0, 1, 24, 0, ...subnet.split(".").slice(0, 3).map(Number));
  return {
    recursionDesired: true,
    questions: [{ name, type: "A", class: 1 }],
    edns: { payloadSize: 1232, version: 0, dnssecOk: false, options: [{ code: 8, octets }] },
  };
}

for (const datapath of datapaths) {
  test(`G-01, G-04: a shared cache gives each client what it would have got alone (${datapath})`, async (t) => {
    const { resolver, authority } = served.get(datapath)!;
    if (resolver === undefined) {
      assert.notEqual(process.env["CI"], "true", "unbound is not installed");
      t.skip("unbound is not installed");
      return;
    }
    await using exchange = new DnsExchange(runtime, { address: "127.0.0.1", port: resolver.port });
    for (let round = 0; round < 3; round++) {
      for (const [subnet, address] of round % 2 === 0 ? clients : clients.toReversed()) {
        const { answers } = await exchange.overUdp(question("app.p.test", subnet));
        assert.deepEqual(
          answers.map(({ data }) => data),
          [address],
          `${subnet} in round ${round}`,
        );
      }
    }
    // Two of the networks hold three clients each, and what was asked once is not asked again.
    assert.ok(
      authority.counters.queries <= clients.length,
      `${authority.counters.queries} questions came through`,
    );
  });

  test(`G-01, G-02, G-05: dig reads the scopes (${datapath})`, async (t) => {
    const { server } = served.get(datapath)!;
    if (!(await installed("dig"))) {
      assert.notEqual(process.env["CI"], "true", "dig is not installed");
      t.skip("dig is not installed");
      return;
    }
    const dig = (...words: readonly string[]): Promise<string> =>
      output("dig", ["@127.0.0.1", "-p", String(server.local[0]!.port), "+tries=3", ...words]);
    assert.match(await dig("app.p.test", "+subnet=10.1.0.0/24"), /CLIENT-SUBNET: 10\.1\.0\.0\/24\/17\n/);
    assert.match(await dig("app.p.test", "+subnet=10.2.3.9/32"), /CLIENT-SUBNET: 10\.2\.3\.9\/32\/24\n/);
    assert.match(await dig("app.p.test", "+subnet=10.9.0.0/16"), /CLIENT-SUBNET: 10\.9\.0\.0\/16\/13\n/);
    assert.match(await dig("plain.p.test", "+subnet=10.9.0.0/16"), /CLIENT-SUBNET: 10\.9\.0\.0\/16\/0\n/);
    assert.match(await dig("none.p.test", "+subnet=10.9.0.0/16"), /CLIENT-SUBNET: 10\.9\.0\.0\/16\/0\n/);
    assert.match(await dig("app.p.test", "+subnet=0/0"), /CLIENT-SUBNET: 0\.0\.0\.0\/0\/0\n/);
    assert.doesNotMatch(await dig("app.p.test"), /CLIENT-SUBNET/);
  });
}
