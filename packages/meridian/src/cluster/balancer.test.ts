import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer, openMemoryStorage, requestBodyBytesMax } from "@meridian/apiserver";
import { KubeClient } from "@meridian/controller";
import { parseOperatorConfig, type OperatorConfig } from "@meridian/gslb";
import type { HttpServer, Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { Registry } from "prom-client";
import { startBalancer, type Balancer } from "./balancer.ts";
import { ClosingStack } from "./closing-stack.ts";
import { installDefinitions } from "./install-definitions.ts";
import { servedDefinitions } from "./served-definitions.ts";

const address = "10.0.0.1";

function configWith(negativeTtl: number): OperatorConfig {
  const { config } = parseOperatorConfig({
    CLUSTER_GEO_TAG: "eu",
    EDGE_DNS_SERVERS: "10.0.0.53",
    DNS_ZONES: `example.com:cloud.example.com:${negativeTtl}`,
    MERIDIAN_DNS_ADDRESSES: address,
  });
  assert.ok(config);
  return config;
}

interface World {
  readonly balancer: Balancer;
  readonly closing: ClosingStack;
  readonly complete: <T>(work: Promise<T>) => Promise<T>;
  readonly pass: (ms: number) => Promise<void>;
  readonly readyz: () => Promise<string>;
  /** The API server listens no more, until it is opened again. */
  readonly leave: () => Promise<void>;
  readonly open: () => Promise<void>;
}

async function runningBalancer(): Promise<World> {
  const simulation = new Simulation({ seed: 7 });
  const complete = <T>(work: Promise<T>): Promise<T> =>
    simulation.complete(work, { untilMs: simulation.nowMs + 60_000 });
  const { runtime } = simulation.node({ name: "eu", addresses: [address] });
  const serve = await complete(apiServerOn(runtime));
  let server = await complete(serve());
  const client = new KubeClient(runtime, { origin: `http://${address}:6443`, token: "token" });
  await complete(installDefinitions(runtime, client, servedDefinitions()));
  const closing = new ClosingStack();
  const balancer = await complete(
    startBalancer(
      runtime,
      {
        ...{ client, config: configWith(30), registry: new Registry() },
        dns: [{ address, port: 53 }],
        from: address,
      },
      closing,
    ),
  );
  await complete(balancer.operator.ready);
  const readyz = async (): Promise<string> => {
    const { status, body } = await balancer.metrics({
      ...{ method: "GET", target: "/readyz", headers: {}, body: new Uint8Array() },
      client: { address, port: 1 },
      signal: new AbortController().signal,
    });
    return `${status} ${new TextDecoder().decode(body as Uint8Array).trim()}`;
  };
  return {
    ...{ balancer, closing, complete, readyz },
    pass: (ms) => simulation.run({ untilMs: simulation.nowMs + ms }),
    leave: () => complete(Promise.resolve(server[Symbol.asyncDispose]())),
    open: async () => void (server = await complete(serve())),
  };
}

async function apiServerOn(runtime: Runtime): Promise<() => Promise<HttpServer>> {
  const storage = await openMemoryStorage(runtime, { persistent: false });
  const apiServer = createApiServer(runtime, {
    storage,
    tokens: [{ token: "token", username: "admin", groups: ["system:masters"] }],
  });
  await apiServer.ready;
  return () =>
    runtime.network.serveHttp({
      ...{ address, port: 6443, handler: apiServer.handler, bodyBytesMax: requestBodyBytesMax },
    });
}

test("other settings whose operator cannot start are told of by /readyz once nobody vouches, and give way to the next ones", async () => {
  const { balancer, closing, complete, pass, readyz, leave, open } = await runningBalancer();
  assert.equal(await readyz(), "200 ok");

  await leave();
  const first = await complete(balancer.reconfigure(configWith(31)));
  const outcome = first.ready.then(
    () => "ready",
    (error: Error) => error.message,
  );
  await pass(20_000);
  assert.equal(await readyz(), "200 ok", "what was published is vouched for until the lease is over");
  await pass(20_000);
  assert.match(await readyz(), /^503 not ready: the operator was started with other settings/);

  const second = await complete(balancer.reconfigure(configWith(32)));
  assert.equal(await complete(outcome), "the operator was stopped");
  assert.match(await readyz(), /^503 /);
  await open();
  await complete(second.ready);
  assert.equal(await readyz(), "200 ok");
  assert.equal(balancer.operator, second);
  await complete(closing.close());
});

test("a balancer whose operator cannot start again is closed, and settings that come meanwhile start nothing", async () => {
  const { balancer, closing, complete, leave } = await runningBalancer();
  await leave();
  const hanging = await complete(balancer.reconfigure(configWith(31)));
  const ready = assert.rejects(hanging.ready, /the operator was stopped/);
  const next = assert.rejects(balancer.reconfigure(configWith(32)), /the balancer is closed/);
  await complete(closing.close());
  await complete(Promise.all([ready, next]));
  assert.equal(balancer.operator, hanging);
});
