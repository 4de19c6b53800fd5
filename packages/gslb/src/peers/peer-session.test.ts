import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsClient, Verdict } from "@meridian/dns";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import type { PeerMemory } from "./peer-memory.ts";
import { PeerSession } from "./peer-session.ts";
import { PeerViews } from "./peer-views.ts";

const server: Endpoint = { address: "10.0.0.2", port: 53 };
const noMemory: PeerMemory = { get: () => undefined, set() {}, retain() {} };

/** A peer's DNS server: its targets by host, the serial of its view, and whether it answers at all. */
class FakePeer {
  targets = new Map<string, readonly string[]>();
  serial = 1;
  isSilent = false;
  readonly asked: string[] = [];
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(sleep: (ms: number) => Promise<void>) {
    this.#sleep = sleep;
  }

  readonly client: Pick<DnsClient, "query"> = {
    query: async ({ name, type, deadlineMs }): Promise<Verdict> => {
      this.asked.push(`${name} ${type}`);
      if (this.isSilent) {
        await this.#sleep(deadlineMs);
        return { state: "unreachable", reason: `no reply in ${deadlineMs} ms` };
      }
      await this.#sleep(1);
      const common = {
        state: "answered",
        authoritative: false,
        authority: [],
        additional: [],
        server,
      } as const;
      if (type === "SOA") {
        const data = `ns.x. host.x. ${this.serial} 1 1 1 1`;
        return { ...common, outcome: "data", records: [{ name, type, ttl: 1, data }] };
      }
      const targets = type === "A" ? (this.targets.get(name) ?? []) : [];
      const records = targets.map((data) => ({ name, type, ttl: 1, data }));
      return { ...common, outcome: records.length > 0 ? "data" : "nxdomain", records };
    },
  };
}

function talk(hosts: readonly string[]): {
  readonly simulation: Simulation;
  readonly peer: FakePeer;
  readonly session: PeerSession;
  readonly views: PeerViews;
  readonly changed: string[];
  readonly states: () => string;
} {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const peer = new FakePeer((ms) => runtime.clock.sleep(ms));
  const changed: string[] = [];
  const views = new PeerViews(runtime.clock, noMemory, (host) => changed.push(host));
  views.setPeers("x", ["us"]);
  for (const host of hosts) views.add(host, { zone: "x", thresholdSeconds: 0 });
  const session = new PeerSession(runtime, {
    ...{ zone: "x", geoTag: "us", dnsClient: peer.client, deadlineMs: 2000, periodMs: 30_000, views },
    tasks: new TaskScope(silentLogger),
  });
  const states = (): string => hosts.map((host) => views.of(host)[0]?.state).join(" ");
  return { simulation, peer, session, views, changed, states };
}

test("a peer is asked as soon as its address is known, host by host at once", async () => {
  const { simulation, peer, session, states } = talk(["a.x", "b.x"]);
  peer.targets.set("localtargets-a.x", ["192.0.2.1"]);
  await simulation.run({ untilMs: 1000 });
  assert.equal(states(), "unknown unknown");
  session.setServers([server]);
  await simulation.run({ untilMs: 1010 });
  assert.equal(states(), "fresh empty");
});

test("a peer whose address nobody knows is unreachable at once", async () => {
  const { simulation, session, states } = talk(["a.x"]);
  session.setServers([]);
  await simulation.run({ untilMs: 1 });
  assert.equal(states(), "unreachable");
});

test("a silent peer is unreachable after its deadline, is asked again each period, and is found again within one", async () => {
  const { simulation, peer, session, states } = talk(["a.x"]);
  peer.isSilent = true;
  session.setServers([server]);
  await simulation.run({ untilMs: 1999 });
  assert.equal(states(), "unknown");
  await simulation.run({ untilMs: 2001 });
  assert.equal(states(), "unreachable");
  await simulation.run({ untilMs: 200_000 });
  const rounds = peer.asked.filter((question) => question.endsWith(" A")).length;
  assert.ok(rounds >= 6 && rounds <= 10, `${rounds} rounds in 200 s`);
  peer.isSilent = false;
  await simulation.run({ untilMs: 230_010 });
  assert.equal(states(), "empty");
});

test("a round with a silent peer ends early, however many hosts there are", async () => {
  const hosts = Array.from({ length: 500 }, (_, n) => `h${n}.x`);
  const { simulation, peer, session, states } = talk(hosts);
  peer.isSilent = true;
  session.setServers([server]);
  await simulation.run({ untilMs: 4001 });
  assert.deepEqual(new Set(states().split(" ")), new Set(["unreachable"]));
  assert.ok(peer.asked.length <= 2 * 2 * 64);
});

test("a hint costs one serial check, and the hosts are asked only where the serial moved", async () => {
  const { simulation, peer, session, changed, states } = talk(["a.x"]);
  session.setServers([server]);
  await simulation.run({ untilMs: 100 });
  session.hint();
  await simulation.run({ untilMs: 200 });
  assert.equal(peer.asked.at(2), "_localtargets.x SOA");
  changed.length = 0;
  peer.asked.length = 0;

  session.hint();
  session.hint();
  await simulation.run({ untilMs: 3000 });
  assert.deepEqual(peer.asked, ["_localtargets.x SOA"]);

  peer.asked.length = 0;
  peer.serial = 2;
  peer.targets.set("localtargets-a.x", ["192.0.2.1"]);
  session.hint();
  await simulation.run({ untilMs: 3003 });
  assert.equal(states(), "fresh");
  assert.deepEqual(changed, ["a.x"]);
});

test("a hint from a peer that was unreachable asks it again although its serial is the same", async () => {
  const { simulation, peer, session, states } = talk(["a.x"]);
  peer.targets.set("localtargets-a.x", ["192.0.2.1"]);
  session.setServers([server]);
  session.hint();
  await simulation.run({ untilMs: 100 });
  peer.isSilent = true;
  session.ask("a.x");
  await simulation.run({ untilMs: 5000 });
  assert.equal(states(), "unreachable");
  peer.isSilent = false;
  session.hint();
  await simulation.run({ untilMs: 5010 });
  assert.equal(states(), "fresh");
});

test("a closed session asks nobody", async () => {
  const { simulation, peer, session } = talk(["a.x"]);
  session.setServers([server]);
  await simulation.run({ untilMs: 100 });
  session.close();
  peer.asked.length = 0;
  session.hint();
  session.setServers([server, { address: "10.0.0.3", port: 53 }]);
  await simulation.run({ untilMs: 100_000 });
  assert.deepEqual(peer.asked, []);
});
