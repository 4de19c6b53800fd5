import assert from "node:assert/strict";
import { test } from "node:test";
import { DnsClient } from "@meridian/dns";
import { endpointSliceType } from "@meridian/kube";
import { formatEndpoint, readBody } from "@meridian/runtime";
import { fleetLayout } from "../fleet/fleet-layout.ts";
import { simulatedFleet } from "../testdata/simulated-fleet.ts";

const untilMs = 600_000;
const host = "failover.cloud.example.com";

test("D52: /healthz says why the operator does not do its work, its DNS server vouches no more, and both recover", async () => {
  const { simulation, clusters, answers } = await simulatedFleet(4);
  const eu = clusters.get("eu")!;
  await simulation.complete(Promise.all([...clusters.values()].map((cluster) => cluster.ready)), { untilMs });
  await answers(["192.0.2.1", "192.0.2.2"]);

  const [place] = fleetLayout(
    { kind: "own-addresses", network: 10 },
    { clusterCount: 2, dnsPort: 5300 },
  ).clusters;
  const asker = simulation.node({ name: "asker", addresses: ["127.0.10.97"] }).runtime;
  const http = asker.network.httpClient({ origin: `http://${formatEndpoint(place!.operator)}` });
  const dnsClient = new DnsClient(asker, { from: "127.0.10.97" });
  const complete = <T>(work: Promise<T>): Promise<T> =>
    simulation.complete(work, { untilMs: simulation.nowMs + 60_000 });
  const health = async (): Promise<string> => {
    const { status, body } = await http.request({ method: "GET", target: "/healthz" });
    let text = `${status} `;
    await readBody(body, (chunk) => (text += new TextDecoder().decode(chunk)));
    return text.trim();
  };
  const asked = async (name: string): Promise<string> => {
    const verdict = await dnsClient.query({ name, type: "A", servers: [place!.dns], deadlineMs: 2_000 });
    if (verdict.state === "refused") return verdict.rcode;
    return verdict.state === "answered" ? verdict.outcome : verdict.state;
  };
  const pass = (ms: number): Promise<void> => simulation.run({ untilMs: simulation.nowMs + ms });
  assert.equal(await complete(health()), "200 ok");

  // Whatever the operator writes hangs, without a deadline that could end it: the API server is well.
  const { client } = eu;
  let goOn = (): void => {};
  const hanging = new Promise<void>((resolve) => (goOn = resolve));
  for (const verb of ["create", "update", "updateStatus"] as const) {
    const act = client[verb].bind(client) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(client, {
      [verb]: async (...args: unknown[]) => {
        await hanging;
        return act(...args);
      },
    });
  }
  const endpoints = [{ addresses: ["10.244.3.11"], conditions: { ready: false } }];
  const slice = { namespace: "demo", name: "failover" };
  await complete(client.patch(endpointSliceType, slice, { type: "merge", body: { endpoints } }));

  await pass(200_000);
  assert.deepEqual(
    [await complete(health()), await complete(asked(`localtargets-${host}`))],
    ["200 ok", "data"],
  );
  await pass(200_000);
  assert.match(await complete(health()), /^503 not alive: no reconcile has ended for \d+ s, and some wait$/);
  assert.deepEqual(
    [await complete(asked(`localtargets-${host}`)), await complete(asked(host))],
    ["SERVFAIL", "data"],
    "what it answers for hosts stays",
  );

  goOn();
  await pass(20_000);
  assert.deepEqual(
    [await complete(health()), await complete(asked(`localtargets-${host}`))],
    ["200 ok", "nxdomain"],
    "it does its work, and serves the host no more",
  );
  await answers(["198.51.100.1", "198.51.100.2"]);
  await complete(
    Promise.all([...clusters.values()].map((cluster) => cluster[Symbol.asyncDispose]())).then(() =>
      dnsClient[Symbol.asyncDispose](),
    ),
  );
});
