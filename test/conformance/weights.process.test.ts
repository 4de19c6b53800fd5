import assert from "node:assert/strict";
import { test } from "node:test";
import { Authority, serveDns, Zone, type RecordSet } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Simulation } from "@meridian/runtime/sim";
import { datapaths, servedBy, type Datapath } from "./datapath.ts";
import { DnsExchange } from "./dns-exchange.ts";
import { startResolver, type ResolverKind } from "./recursive-resolver.ts";

// Resolvers stand between clients and the server and shuffle what is in an answer, and clients take the first. So weights
// must decide what is in the answer; this counts what arrives.

const questions = 1500;
/** Of a χ² with two degrees of freedom: exceeded by chance once in a million. */
const chiSquareMax = 27.6;

const weights = { "192.0.2.1": 80, "192.0.2.2": 15, "192.0.2.3": 5, "192.0.2.4": 0 } as const;
const groups = Object.entries(weights).map(([address, weight]) => ({ weight, data: [address] }));
const data = Object.keys(weights);

function zone(): Zone {
  const made = new Zone({
    origin: "p.test",
    soa: {
      ...{ mname: "ns.p.test", rname: "hostmaster.p.test", serial: 1 },
      ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: 0, ttl: 0 },
    },
    nameServers: ["ns.p.test"],
    nameServerTtl: 0,
  });
  const set = (name: string, kind: "weighted" | "weightedOrder"): [string, readonly RecordSet[]] => [
    name,
    [{ name, type: "A", ttl: 0, data, policy: { kind, groups } }],
  ];
  made.replace(
    new Map<string, readonly RecordSet[]>([
      ["ns.p.test", [{ name: "ns.p.test", type: "A", ttl: 0, data: ["127.0.0.1"] }]],
      set("*.choice.p.test", "weighted"),
      set("*.order.p.test", "weightedOrder"),
    ]),
  );
  return made;
}

/**
 * How often each address came first. Each question has a name of its own, so that no cache answers: it stands for one
 * resolver somewhere.
 */
async function countFirst(exchange: DnsExchange, name: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(data.map((address) => [address, 0]));
  for (let index = 0; index < questions; index++) {
    const { answers } = await exchange.overUdp({
      recursionDesired: true,
      questions: [{ name: `n${index}.${name}`, type: "A", class: 1 }],
    });
    counts[answers[0]!.data]!++;
  }
  return counts;
}

function chiSquare(counts: Readonly<Record<string, number>>): number {
  return Object.entries(weights)
    .filter(([, weight]) => weight > 0)
    .reduce((sum, [address, weight]) => {
      const expected = (questions * weight) / 100;
      return sum + (counts[address]! - expected) ** 2 / expected;
    }, 0);
}

/** Counts through a resolver or without one; `undefined` where it is not installed. Threads draw by numbers of their own. */
async function count(
  by: ResolverKind | "nobody",
  name: string,
  datapath: Datapath,
): Promise<Record<string, number> | undefined> {
  const { random } = new Simulation({ seed: 7 }).node({ name: "draws", addresses: ["10.0.0.1"] }).runtime;
  const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });
  const authority = new Authority({ random, clock: runtime.clock });
  authority.setZone(zone());
  await using server = await serveDns(runtime, {
    authority,
    listen: [{ address: "127.0.0.1", port: 0 }],
    ...servedBy(datapath, runtime, authority),
  });
  const { port } = server.local[0]!;
  if (by === "nobody") {
    await using exchange = new DnsExchange(runtime, { address: "127.0.0.1", port });
    return await countFirst(exchange, name);
  }
  await using resolver = await startResolver(runtime, by, { zone: "p.test", server: port });
  if (resolver === undefined) {
    assert.notEqual(process.env["CI"], "true", `${by} is not installed`);
    return undefined;
  }
  await using exchange = new DnsExchange(runtime, { address: "127.0.0.1", port: resolver.port });
  return await countFirst(exchange, name);
}

for (const datapath of datapaths) {
  for (const by of ["nobody", "unbound", "named"] as const) {
    test(`W-01: weights that choose what is answered keep their share with ${by} in between (${datapath})`, async (t) => {
      const counts = await count(by, "choice.p.test", datapath);
      if (counts === undefined) {
        t.skip(`${by} is not installed`);
        return;
      }
      assert.ok(chiSquare(counts) < chiSquareMax, JSON.stringify(counts));
      assert.equal(counts["192.0.2.4"], 0, "a weight of 0 is never answered beside others");
    });
  }

  test(`weights that order what is answered, as k8gb's do, keep their share where nobody is in between (${datapath})`, async () => {
    const counts = (await count("nobody", "order.p.test", datapath))!;
    assert.ok(chiSquare(counts) < chiSquareMax, JSON.stringify(counts));
    assert.equal(counts["192.0.2.4"], 0, "a weight of 0 comes last");
  });

  for (const by of ["unbound", "named"] as const) {
    test(`C9: weights that order what is answered are lost with ${by} in between, which is why they are no default (${datapath})`, async (t) => {
      const counts = await count(by, "order.p.test", datapath);
      if (counts === undefined) {
        t.skip(`${by} is not installed`);
        return;
      }
      // A quarter each, a weight of 0 included: the order is the resolver's.
      for (const [address, seen] of Object.entries(counts))
        assert.ok(seen > questions / 6 && seen < questions / 3, `${address} in ${JSON.stringify(counts)}`);
    });
  }
}
