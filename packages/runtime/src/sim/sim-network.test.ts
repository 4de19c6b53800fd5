import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { collect, toBytes, toText } from "../contracts/contract-subject.ts";
import type { TcpConnection } from "../network.ts";
import type { LinkConditions } from "./links.ts";
import type { SimNode } from "./sim-node.ts";
import type { SimulationOptions } from "./simulation.ts";
import { Simulation } from "./simulation.ts";

const serverEndpoint = { address: "10.0.0.1", port: 80 };

describe("simulated datagrams", () => {
  const cases: readonly { name: string; link: Partial<LinkConditions>; check: (got: number[]) => void }[] = [
    {
      name: "all arrive on a clean link",
      link: { delayMs: { min: 1, max: 1 } },
      check: (got) => assert.deepEqual(got, sequence(100)),
    },
    {
      name: "overtake each other where the delay varies",
      link: { delayMs: { min: 1, max: 50 } },
      check(got) {
        assert.notDeepEqual(got, sequence(100));
        assert.deepEqual(sorted(got), sequence(100));
      },
    },
    {
      name: "get lost",
      link: { loss: 0.5 },
      check: (got) => assert.ok(got.length > 25 && got.length < 75, `${got.length} of 100 arrived`),
    },
    {
      name: "arrive twice",
      link: { duplication: 0.5 },
      check(got) {
        assert.ok(got.length > 125 && got.length < 175, `${got.length} arrivals of 100`);
        assert.equal(new Set(got).size, 100);
      },
    },
  ];
  for (const { name, link, check } of cases) {
    it(name, async () => {
      const { simulation, a } = openPair({ link });
      check(await count(simulation, a));
    });
  }

  it("vanish on a cut link, in the cut direction only", async () => {
    const { simulation, a, b } = openPair();
    const got: string[] = [];
    const bind = (node: SimNode) =>
      node.runtime.network.bindUdp({
        address: node.addresses[0] as string,
        port: 7,
        onDatagram: (datagram) => got.push(`${node.name} got ${toText(datagram)}`),
      });
    const [socketA, socketB] = [await bind(a), await bind(b)];
    const exchange = async (text: string): Promise<readonly string[]> => {
      got.length = 0;
      socketA.send(toBytes(text), socketB.local);
      socketB.send(toBytes(text), socketA.local);
      await simulation.run();
      return sorted([...got]);
    };
    assert.deepEqual(await exchange("1"), ["a got 1", "b got 1"]);
    simulation.partition("a", "b", "one");
    assert.deepEqual(await exchange("2"), ["a got 2"]);
    simulation.partition("a", "b");
    assert.deepEqual(await exchange("3"), []);
    simulation.heal("b", "a");
    assert.deepEqual(await exchange("4"), ["a got 4", "b got 4"]);
    simulation.isolate("a");
    assert.deepEqual(await exchange("5"), []);
    simulation.heal();
    assert.deepEqual(await exchange("6"), ["a got 6", "b got 6"]);
  });
});

describe("simulated addresses", () => {
  it("belong to one node each; 127.0.0.1 is everybody's own", async () => {
    const { simulation, a, b } = openPair();
    assert.throws(() => simulation.node({ name: "c", addresses: ["10.0.0.1"] }), /belongs to a/);
    const asked: string[] = [];
    for (const node of [a, b]) {
      await node.runtime.network.serveUdp({
        address: "127.0.0.1",
        port: 53,
        answer: (...args) => {
          asked.push(`${node.name} from ${args[3].address}`);
          return 0;
        },
      });
    }
    const socket = await a.runtime.network.bindUdp({ address: "0.0.0.0", port: 0, onDatagram() {} });
    socket.send(toBytes("?"), { address: "127.0.0.1", port: 53 });
    await simulation.run();
    assert.deepEqual(asked, ["a from 127.0.0.1"]);
  });

  it("may be several of one node, and a wildcard listens on all of its family", async () => {
    const simulation = new Simulation({ seed: 1 });
    const a = simulation.node({ name: "a", addresses: ["10.0.0.1", "10.0.0.2", "2001:db8::1"] });
    const b = simulation.node({ name: "b", addresses: ["10.0.0.9", "2001:db8::9"] });
    const seen: string[] = [];
    for (const address of ["0.0.0.0", "::"]) {
      await a.runtime.network.listenTcp({
        address,
        port: 80,
        onConnection: ({ remote, local }) => seen.push(`${remote.address} to ${local.address}`),
      });
    }
    const { network } = b.runtime;
    for (const address of ["10.0.0.1", "10.0.0.2", "2001:db8::1"]) {
      await simulation.complete(network.connectTcp({ to: { address, port: 80 } }));
    }
    assert.deepEqual(seen, ["10.0.0.9 to 10.0.0.1", "10.0.0.9 to 10.0.0.2", "2001:db8::9 to 2001:db8::1"]);
  });
});

describe("a simulated connection", () => {
  it("keeps its order on a lossy link", async () => {
    const { simulation, a, b } = openPair({ link: { loss: 0.3, delayMs: { min: 1, max: 100 } } });
    const { near, far } = await connectPair(simulation, a, b);
    const send = async (): Promise<void> => {
      for (let i = 0; i < 200; i++) await near.write(Uint8Array.of(i));
      await near.end();
    };
    void send();
    assert.deepEqual([...(await simulation.complete(collect(far.received)))], sequence(200));
  });

  it("waits through a short partition, and delivers after it", async () => {
    const { simulation, a, b } = openPair();
    const { near, far } = await connectPair(simulation, a, b);
    simulation.partition("a", "b");
    await near.write(toBytes("late"));
    const first = far.received[Symbol.asyncIterator]().next();
    let came = false;
    void first.then(() => (came = true));
    await simulation.run({ untilMs: 5_000 });
    assert.equal(came, false);
    simulation.heal();
    const { value } = await simulation.complete(first);
    assert.equal(toText(value as Uint8Array), "late");
    await simulation.run();
    await near.write(toBytes("still fine"));
  });

  const breaks: readonly { name: string; cause: (world: Pair) => void; code: string; withinMs: number }[] = [
    {
      name: "is noticed dead by both keepalives in a long partition",
      cause: ({ simulation }) => simulation.partition("a", "b"),
      code: "Timeout",
      withinMs: 40_000,
    },
    {
      name: "is noticed dead after the peer's machine lost its power",
      cause: ({ b }) => b.crash("power"),
      code: "Timeout",
      withinMs: 40_000,
    },
    {
      name: "is reset when a peer that lost its power is back and gets a probe",
      cause: ({ b }) => b.restart(),
      code: "Broken",
      withinMs: 40_000,
    },
    {
      name: "is reset at once when the peer's process ends",
      cause: ({ b }) => b.crash("process"),
      code: "Broken",
      withinMs: 10,
    },
  ];
  for (const { name, cause, code, withinMs } of breaks) {
    it(name, async () => {
      const world = openPair();
      const { simulation, a, b } = world;
      const { near } = await connectPair(simulation, a, b);
      const startMs = simulation.nowMs;
      cause(world);
      await assert.rejects(simulation.complete(collect(near.received)), { name: "NetworkError", code });
      assert.ok(simulation.nowMs - startMs <= withinMs, `it took ${simulation.nowMs - startMs} ms`);
    });
  }

  it("breaks when nothing was acknowledged for too long, although data gets through", async () => {
    const { simulation, a, b } = openPair({ tcp: { giveUpMs: 5_000 } });
    const { near, far } = await connectPair(simulation, a, b);
    simulation.partition("b", "a", "one");
    await near.write(toBytes("heard"));
    const { value } = await simulation.complete(far.received[Symbol.asyncIterator]().next());
    assert.equal(toText(value as Uint8Array), "heard");
    await assert.rejects(simulation.complete(collect(near.received)), { code: "Timeout" });
  });

  it("is not hurt by a partition that heals before the keepalive gives up", async () => {
    const { simulation, a, b } = openPair();
    const { near, far } = await connectPair(simulation, a, b);
    simulation.partition("a", "b");
    await simulation.run({ untilMs: simulation.nowMs + 5_000 });
    simulation.heal();
    await simulation.run({ untilMs: simulation.nowMs + 200_000 });
    await near.write(toBytes("x"));
    const { value } = await simulation.complete(far.received[Symbol.asyncIterator]().next());
    assert.equal(toText(value as Uint8Array), "x");
  });
});

describe("a simulated connection attempt", () => {
  it("says nothing on a cut link until its signal aborts", async () => {
    const { simulation, a, b } = openPair({ tcp: { connectTimeoutMs: Infinity } });
    await listen(b);
    simulation.partition("a", "b", "one");
    const abort = new AbortController();
    const reason = new Error("an hour is enough");
    simulation.schedule(3_600_000, () => abort.abort(reason));
    const attempt = a.runtime.network.connectTcp({ to: bEndpoint, signal: abort.signal });
    await assert.rejects(simulation.complete(attempt), reason);
    assert.equal(simulation.nowMs, 3_600_000);
  });

  it("times out as on Linux, also towards a machine without power or an address of nobody", async () => {
    const { simulation, a, b } = openPair();
    b.crash("power");
    for (const address of ["10.0.0.2", "10.9.9.9"]) {
      const startMs = simulation.nowMs;
      const attempt = a.runtime.network.connectTcp({ to: { address, port: 80 } });
      await assert.rejects(simulation.complete(attempt), { code: "Timeout" });
      assert.equal(Math.round(simulation.nowMs - startMs), 127_000);
    }
  });

  it("gets through once the link has healed", async () => {
    const { simulation, a, b } = openPair();
    await listen(b);
    simulation.partition("a", "b");
    simulation.schedule(10_000, () => simulation.heal());
    await simulation.complete(a.runtime.network.connectTcp({ to: bEndpoint }));
    assert.ok(simulation.nowMs > 10_000);
  });

  it("is refused where the process has ended", async () => {
    const { simulation, a, b } = openPair();
    await listen(b);
    b.crash("process");
    await assert.rejects(simulation.complete(a.runtime.network.connectTcp({ to: bEndpoint })), {
      code: "Refused",
    });
  });
});

describe("simulated HTTP", () => {
  it("finds a dead connection by PING, at the client within 25 s and at the server within 40 s", async () => {
    const { simulation, a, b } = openPair();
    const watch = await openWatch(simulation, a, b);
    const startMs = simulation.nowMs;
    simulation.partition("a", "b");
    await assert.rejects(simulation.complete(collect(watch.body)), { name: "NetworkError", code: "Timeout" });
    assert.ok(simulation.nowMs - startMs <= 25_000, `it took ${simulation.nowMs - startMs} ms`);
    await simulation.run({ until: () => watch.serverSignal.aborted });
    assert.ok(simulation.nowMs - startMs <= 45_000);
  });

  it("keeps a stream through a short partition", async () => {
    const { simulation, a, b } = openPair();
    const watch = await openWatch(simulation, a, b);
    simulation.partition("a", "b");
    await simulation.run({ untilMs: simulation.nowMs + 8_000 });
    simulation.heal();
    await simulation.run({ untilMs: simulation.nowMs + 100_000 });
    watch.say("still here");
    const { value } = await simulation.complete(watch.body[Symbol.asyncIterator]().next());
    assert.equal(toText(value as Uint8Array), "still here");
  });

  it("breaks a stream at once when the server's process ends, and connects again when it is back", async () => {
    const { simulation, a, b } = openPair();
    const watch = await openWatch(simulation, a, b);
    const startMs = simulation.nowMs;
    b.crash("process");
    await assert.rejects(simulation.complete(collect(watch.body)), { code: "Broken" });
    assert.ok(simulation.nowMs - startMs < 20);
    const down = watch.client.request({ method: "GET", target: "/" });
    await assert.rejects(simulation.complete(down), { code: "Refused" });
    b.restart();
    await serveOk(b);
    const response = await simulation.complete(watch.client.request({ method: "GET", target: "/" }));
    assert.equal(response.status, 200);
  });

  it("gives up connecting after 10 s, and starts afresh with the next request", async () => {
    const { simulation, a, b } = openPair();
    await serveOk(b);
    simulation.partition("a", "b");
    const client = a.runtime.network.httpClient({ origin: "http://10.0.0.2:80" });
    const first = client.request({ method: "GET", target: "/" });
    await assert.rejects(simulation.complete(first), { code: "Timeout" });
    assert.equal(Math.round(simulation.nowMs), 10_000);
    simulation.heal();
    const second = await simulation.complete(client.request({ method: "GET", target: "/" }));
    assert.equal(second.status, 200);
    assert.ok(simulation.nowMs < 10_100);
  });

  it("leaves a request on a cut link to its signal", async () => {
    const { simulation, a, b } = openPair();
    await serveOk(b);
    const client = a.runtime.network.httpClient({ origin: "http://10.0.0.2:80" });
    await simulation.complete(client.request({ method: "GET", target: "/" }));
    simulation.partition("a", "b");
    const abort = new AbortController();
    const startMs = simulation.nowMs;
    simulation.schedule(startMs + 3_000, () => abort.abort(new Error("too slow")));
    const request = client.request({ method: "GET", target: "/", signal: abort.signal });
    await assert.rejects(simulation.complete(request), /too slow/);
    assert.equal(simulation.nowMs, startMs + 3_000);
  });

  it("hears at the server that a client has crashed", async () => {
    for (const kind of ["process", "power"] as const) {
      const { simulation, a, b } = openPair();
      const watch = await openWatch(simulation, a, b);
      a.crash(kind);
      await simulation.run({ until: () => watch.serverSignal.aborted });
    }
  });
});

const bEndpoint = { address: "10.0.0.2", port: serverEndpoint.port };

interface Pair {
  readonly simulation: Simulation;
  readonly a: SimNode;
  readonly b: SimNode;
}

function openPair(options: Partial<SimulationOptions> = {}): Pair {
  const simulation = new Simulation({ seed: 11, ...options });
  const a = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const b = simulation.node({ name: "b", addresses: ["10.0.0.2"] });
  return { simulation, a, b };
}

/** Sends 100 numbered datagrams from a to b and returns their numbers as they arrive. */
async function count(simulation: Simulation, a: SimNode): Promise<number[]> {
  const got: number[] = [];
  const b = simulation.node({ name: "sink", addresses: ["10.0.0.3"] });
  const sink = await b.runtime.network.bindUdp({
    address: "10.0.0.3",
    port: 7,
    onDatagram: (datagram) => got.push(datagram[0] as number),
  });
  const socket = await a.runtime.network.bindUdp({ address: "10.0.0.1", port: 0, onDatagram() {} });
  for (let i = 0; i < 100; i++) socket.send(Uint8Array.of(i), sink.local);
  await simulation.run();
  return got;
}

async function listen(node: SimNode): Promise<TcpConnection[]> {
  const accepted: TcpConnection[] = [];
  await node.runtime.network.listenTcp({
    ...bEndpoint,
    onConnection: (connection) => accepted.push(connection),
  });
  return accepted;
}

async function connectPair(
  simulation: Simulation,
  a: SimNode,
  b: SimNode,
): Promise<{ near: TcpConnection; far: TcpConnection }> {
  const accepted = await listen(b);
  const near = await simulation.complete(a.runtime.network.connectTcp({ to: bEndpoint }));
  const [far] = accepted;
  assert.ok(far !== undefined);
  return { near, far };
}

async function serveOk(node: SimNode): Promise<void> {
  await node.runtime.network.serveHttp({
    ...bEndpoint,
    bodyBytesMax: 100,
    handler: async () => ({ status: 200, headers: {}, body: toBytes("ok") }),
  });
}

interface Watch {
  readonly client: ReturnType<SimNode["runtime"]["network"]["httpClient"]>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly serverSignal: AbortSignal;
  say(text: string): void;
}

/** Opens a stream from b to a on which the server says what it is told to, and else nothing. */
async function openWatch(simulation: Simulation, a: SimNode, b: SimNode): Promise<Watch> {
  let serverSignal: AbortSignal | undefined;
  let say: (text: string) => void = () => {};
  const next = new Promise<string>((resolve) => (say = resolve));
  await b.runtime.network.serveHttp({
    ...bEndpoint,
    bodyBytesMax: 100,
    handler: async ({ signal }) => {
      serverSignal = signal;
      return {
        status: 200,
        headers: {},
        body: (async function* () {
          yield toBytes(await next);
          await new Promise(() => {});
        })(),
      };
    },
  });
  const client = a.runtime.network.httpClient({ origin: "http://10.0.0.2:80" });
  const { body } = await simulation.complete(client.request({ method: "GET", target: "/watch" }));
  assert.ok(serverSignal !== undefined);
  return { client, body, serverSignal, say };
}

function sequence(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

function sorted<T extends string | number>(values: readonly T[]): T[] {
  return [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
