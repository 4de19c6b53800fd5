import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { EdgeServers } from "./edge-servers.ts";

const servers = [
  { host: "dns.example.net", port: 53 },
  { host: "192.0.2.53", port: 1053 },
];
const texts = (edge: EdgeServers): readonly string[] =>
  edge.endpoints.map(({ address, port }) => `${address}:${port}`);

test("an edge server that is given by name is asked at its addresses, which are kept while they cannot be looked up", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  let answer: readonly string[] | Error = new Error("EAI_AGAIN");
  const edge = new EdgeServers(runtime, {
    servers,
    periodMs: 30_000,
    resolveHost: async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const stop = new AbortController();
  await edge.open(stop.signal);
  assert.deepEqual(texts(edge), ["192.0.2.53:1053"]);
  const running = edge.run(stop.signal);
  answer = ["198.51.100.53", "2001:db8::53"];
  await simulation.complete(runtime.clock.sleep(6_000));
  const found = ["198.51.100.53:53", "2001:db8::53:53", "192.0.2.53:1053"];
  assert.deepEqual(texts(edge), found);
  answer = new Error("EAI_AGAIN");
  await simulation.complete(runtime.clock.sleep(60_000));
  assert.deepEqual(texts(edge), found);
  answer = ["203.0.113.53"];
  await simulation.complete(runtime.clock.sleep(60_000));
  assert.deepEqual(texts(edge), ["203.0.113.53:53", "192.0.2.53:1053"]);
  stop.abort();
  await simulation.complete(running);
});
