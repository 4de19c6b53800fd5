import assert from "node:assert/strict";
import test from "node:test";
import { Registry } from "prom-client";
import { ReusedClient, serveMetrics } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { GeoStatus } from "../geo/geo-source.ts";
import { caseZoneText, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import { registerDnsMetrics, type ThreadCounters } from "./metrics.ts";
import { QueryLog } from "./query-log.ts";
import { RateLimit, responseClass } from "./rate-limit.ts";
import { serveDns } from "./serve-dns.ts";

const endpoint = { address: "10.0.0.2", port: 53 };

test("metrics and health are served beside the server", async () => {
  const sim = new Simulation({ seed: 9 });
  const { runtime } = sim.node({ name: "server", addresses: [endpoint.address] });
  const client = sim.node({ name: "client", addresses: ["10.0.0.1"] });
  const authority = new Authority(runtime);
  authority.setZone(loadZone(caseZoneText));
  const server = await sim.complete(serveDns(runtime, { authority, listen: [endpoint] }));
  const rateLimit = RateLimit.create({ seed: 1, perSecond: 1, slip: 2 });
  const queryLog = new QueryLog(runtime, { write: async () => {} });
  const registry = new Registry();
  const geo = (): GeoStatus => ({
    problems: [{ reason: "MapMissing", message: "it is not there" }],
    databaseType: "Test",
    databaseBuildEpochSeconds: 1_700_000_000,
    mapEntries: 3,
  });
  const threads = (): ThreadCounters => ({
    received: 9,
    answered: 8,
    unsendable: 0,
    deferred: 1,
    deferredLost: 0,
  });
  const parts = {
    updates: { counters: { applied: 4, unchanged: 5, refused: 6 } },
    transfersIn: { counters: { whole: 1, incremental: 2, current: 3, failed: 7 } },
  };
  const geoTags = (): readonly string[] => ["eu", "us"];
  registerDnsMetrics(registry, { authority, server, rateLimit, queryLog, threads, geo, geoTags, parts });
  let ready: boolean | string = "no content of p.test";
  const listen = { address: endpoint.address, port: 8080 };
  await sim.complete(serveMetrics(runtime, { listen, registry, ready: () => ready }));

  const from = new ReusedClient("udp", { address: "192.0.2.7", port: 4321 });
  for (const message of [
    question("www.p.test", "A"),
    question("nx.p.test", "A"),
    question("nx.p.test", "A"),
  ]) {
    authority.answer(message, 0, message.length, from, new Uint8Array(65_535));
  }
  for (let index = 0; index < 3; index++) rateLimit.check(from, responseClass.nxdomain, 1, 0);

  const http = client.runtime.network.httpClient({ origin: "http://10.0.0.2:8080" });
  const get = async (target: string): Promise<readonly [number, string]> => {
    const response = await http.request({ method: "GET", target });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return [response.status, Buffer.concat(chunks).toString()];
  };
  const [status, text] = await sim.complete(get("/metrics"));
  assert.equal(status, 200);
  for (const line of [
    "meridian_dns_queries_total 3",
    'meridian_dns_responses_total{rcode="NXDOMAIN"} 2',
    'meridian_dns_zone_serial{zone="p.test"} 7',
    'meridian_dns_rate_limit_dropped_total{class="nxdomain"} 1',
    'meridian_dns_rate_limit_slipped_total{class="nxdomain"} 1',
    "meridian_dns_tcp_connections 0",
    'meridian_dns_question_types_total{type="A"} 3',
    'meridian_dns_question_types_total{type="other"} 0',
    'meridian_dns_cookies_total{verdict="bad"} 0',
    'meridian_dns_thread_datagrams_total{event="answered"} 8',
    'meridian_dns_weighted_answers_total{geotag="us"} 0',
    "meridian_dns_geo_database_built_seconds 1700000000",
    'meridian_dns_geo_problems{reason="MapMissing"} 1',
    'meridian_dns_updates_total{outcome="refused"} 6',
    'meridian_dns_transfers_in_total{outcome="failed"} 7',
  ]) {
    assert.ok(text.split("\n").includes(line), `${line}\n${text}`);
  }
  assert.ok(!text.includes("meridian_dns_transfers_out_total"), "a part that is absent has no series");
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    assert.match(name, /^meridian_dns_[a-z_]+$/);
    assert.equal(name.endsWith("_total"), String(type) === "counter", name);
  }
  const again = await sim.complete(get("/metrics"));
  assert.match(again[1], /^meridian_dns_queries_total 3$/m, "a scrape changes nothing");
  assert.deepEqual(await sim.complete(get("/healthz")), [200, "ok\n"]);
  assert.deepEqual(await sim.complete(get("/readyz")), [503, "not ready: no content of p.test\n"]);
  ready = false;
  assert.equal((await sim.complete(get("/readyz")))[0], 503);
  ready = true;
  assert.equal((await sim.complete(get("/readyz")))[0], 200);
  assert.equal((await sim.complete(get("/")))[0], 404);
  await sim.complete(Promise.resolve(queryLog[Symbol.asyncDispose]()));
});
