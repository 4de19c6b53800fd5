import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deadlineMs,
  fleetKey,
  hostNames,
  openPeerWorld,
  PeerReplica,
  peerServer,
  periodMs,
  startPeer,
  zoneName,
  type PeerWorld,
} from "../testdata/peer-world.ts";

const app = `app.${zoneName}`;

for (const [what, ours, theirs] of [
  ["that has no such view, as k8gb", { key: fleetKey() }, { hasView: false }],
  ["that has no key", { key: fleetKey() }, {}],
  ["that has another key", { key: fleetKey() }, { key: fleetKey("B") }],
  ["while we have no key", {}, { key: fleetKey() }],
] as const)
  test(`a peer ${what} is asked host by host`, async () => {
    const hosts = hostNames(100);
    const world = openPeerWorld(hosts, ours);
    const peer = await startPeer(world, theirs);
    peer.publish(new Map(hosts.map((host) => [host, ["192.0.2.1"]])));
    world.session.setServers([peerServer]);
    await world.pass(deadlineMs + 500);
    assert.deepEqual(new Set(hosts.map(world.seen)), new Set(["fresh 192.0.2.1"]));
    assert.equal(world.views.of(hosts[0]!)[0]?.carried, undefined, "it does not tell");
    peer.publish(new Map([[hosts[5]!, []]]));
    await world.pass(periodMs + deadlineMs);
    assert.equal(world.seen(hosts[5]!), "empty");
    assert.equal(peer.transfers.counters.whole, 0);
  });

for (const [what, theirs] of [
  ["no key", {}],
  ["another key", { key: fleetKey("B") }],
] as const)
  test(`C-03: a hint from a peer with ${what} does not wait for a signed answer that will not come`, async () => {
    const world = openPeerWorld([app], { key: fleetKey() });
    const peer = await startPeer(world, theirs);
    peer.publish(new Map([[app, ["192.0.2.1"]]]));
    world.session.setServers([peerServer]);
    await world.pass(deadlineMs + 500);
    for (const [targets, seen] of [
      [["192.0.2.2"], "fresh 192.0.2.2"],
      [[], "empty"],
      [["192.0.2.3"], "fresh 192.0.2.3"],
    ] as const) {
      await world.pass(1_100);
      peer.publish(new Map([[app, targets]]));
      world.session.hint();
      await world.pass(40);
      assert.equal(world.seen(app), seen);
    }
  });

test("C-02: questions about hosts are spread over the period, and each host is asked once in it", async () => {
  const hosts = hostNames(600);
  const world = openPeerWorld(hosts);
  const peer = await startPeer(world, { hasView: false });
  peer.publish(new Map(hosts.map((host) => [host, ["192.0.2.1"]])));
  world.session.setServers([peerServer]);
  await world.pass(2 * periodMs);
  const bySecond: number[] = [];
  for (let second = 0; second < 60; second++) {
    world.packets.length = 0;
    await world.pass(1_000);
    bySecond.push(world.packets.length / 4);
  }
  const asked = bySecond.reduce((sum, count) => sum + count, 0);
  // Two rounds of each host's two questions and replies, and at most a tenth more since rounds begin a little early.
  assert.ok(asked >= 2 * 600 * 0.9 && asked <= 2 * 600 * 1.25, `${asked} hosts asked`);
  assert.ok(Math.max(...bySecond) <= 2 * (600 / 25.5), `${Math.max(...bySecond)} hosts in one second`);
});

test("a host that joins between rounds is asked within a period, as all others are", async () => {
  const world = openPeerWorld(hostNames(20));
  const peer = await startPeer(world, { hasView: false });
  world.session.setServers([peerServer]);
  await world.pass(2.3 * periodMs);
  for (const host of ["x1", "x2", "x3", "x4"].map((label) => `${label}.${zoneName}`)) {
    world.views.add(host, { zone: zoneName, thresholdSeconds: 0 });
    world.session.ask(host);
    await world.pass(100);
    assert.equal(world.seen(host), "empty");
    peer.publish(new Map([[host, ["192.0.2.1"]]]));
    await world.pass(periodMs + 100);
    assert.equal(world.seen(host), "fresh 192.0.2.1");
    await world.pass(3_333);
  }
});

test("D20: a silent peer with 2,000 hosts is known as silent after two deadlines, costs little, and is found again soon", async () => {
  const hosts = hostNames(2_000);
  const world = openPeerWorld(hosts);
  const peer = await startPeer(world, { hasView: false });
  peer.publish(new Map(hosts.map((host) => [host, ["192.0.2.1"]])));
  world.session.setServers([peerServer]);
  await world.pass(2 * periodMs);
  world.simulation.partition("us", "eu", "one");
  await world.pass(periodMs + deadlineMs);
  const states = new Set(hosts.map((host) => world.seen(host).split(" ")[0]));
  assert.deepEqual(states, new Set(["unreachable"]));
  world.packets.length = 0;
  await world.pass(periodMs);
  assert.ok(world.packets.length <= 120, `${world.packets.length} packets in a period`);
  world.simulation.heal();
  await world.pass(periodMs / 16 + deadlineMs + 1_000);
  assert.deepEqual(new Set(hosts.map(world.seen)), new Set(["fresh 192.0.2.1"]));
});

for (const [how, key] of [
  ["is asked host by host", undefined],
  ["is copied from", fleetKey()],
] as const)
  test(`D1: a peer that ${how} is not taken for silent before it was asked twice in vain`, async () => {
    const world = openPeerWorld([app], { key });
    const peer = await startPeer(world, { key });
    peer.publish(new Map([[app, ["192.0.2.1"]]]));
    world.session.setServers([peerServer]);
    await world.pass(deadlineMs + 1_500);
    const look = (): void => (key === undefined ? world.session.ask(app) : world.session.hint());

    world.simulation.partition("us", "eu", "one");
    look();
    await world.pass(deadlineMs + 100);
    assert.equal(world.seen(app), "fresh 192.0.2.1");
    world.simulation.heal();
    await world.pass(deadlineMs);
    assert.equal(world.seen(app), "fresh 192.0.2.1");

    world.simulation.partition("us", "eu", "one");
    look();
    await world.pass(2 * deadlineMs + 100);
    assert.equal(world.seen(app), "unreachable 192.0.2.1");
  });

test("D2: of a peer's addresses any that answers is enough", async () => {
  for (const key of [undefined, fleetKey()]) {
    const world = openPeerWorld([app], { key });
    const peer = await startPeer(world, { key, addresses: ["10.0.0.3"] });
    peer.publish(new Map([[app, ["192.0.2.1"]]]));
    world.session.setServers([
      peerServer,
      { address: "10.0.0.4", port: 53 },
      { address: "10.0.0.3", port: 53 },
    ]);
    await world.pass(deadlineMs);
    assert.equal(world.seen(app), "fresh 192.0.2.1");
    assert.deepEqual(world.session.notifyServers.length, 3);
  }
});

/** A peer that proves itself and whose view cannot be transferred. */
async function openUntransferable(): Promise<{ readonly world: PeerWorld; readonly peer: PeerReplica }> {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  peer.transfers.setPolicy({ allows: () => false });
  world.session.setServers([peerServer]);
  await world.pass(deadlineMs);
  return { world, peer };
}

test("a peer whose view cannot be transferred is asked host by host, and proves its answers", async () => {
  const { world } = await openUntransferable();
  assert.equal(world.seen(app), "fresh 192.0.2.1");
  const questions = world.packets.filter((line) => line.includes("datagram 10.0.0.1"));
  assert.ok(questions.length > 0);
});

test("C-03: a hint from a proved peer whose view cannot be transferred has its hosts asked at once, and once for each serial", async () => {
  const { world, peer } = await openUntransferable();
  world.session.hint();
  await world.pass(1_100);
  for (const [targets, seen] of [
    [["192.0.2.2"], "fresh 192.0.2.2"],
    [[], "empty"],
  ] as const) {
    peer.publish(new Map([[app, targets]]));
    world.session.hint();
    await world.pass(1_100);
    assert.equal(world.seen(app), seen);
  }
  world.packets.length = 0;
  world.session.hint();
  await world.pass(1_100);
  const sent = world.packets.filter((line) => line.includes("datagram 10.0.0.1"));
  assert.equal(sent.length, 1, "the serial is the same");
});

test("a peer that keeps its view back, since nobody vouches for it, is asked host by host and silent where those are kept back too", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  peer.isViewReady = false;
  await world.pass(periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.1");
  peer.authority.lease?.renew(0);
  await world.pass(periodMs + deadlineMs);
  assert.equal(world.seen(app), "unreachable 192.0.2.1");
  peer.authority.lease?.renew(1e9);
  peer.isViewReady = true;
  await world.pass(periodMs + deadlineMs);
  assert.equal(world.seen(app), "fresh 192.0.2.1");
});

test("a peer may become a k8gb and one of ours again: what it serves is known all the time", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  assert.equal(peer.transfers.counters.whole, 1);
  peer.keyring.replace([]);
  peer.authority.removeZone(`_localtargets.${zoneName}`);
  world.changed.length = 0;
  await world.pass(3 * periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.1");
  assert.deepEqual(
    world.changed.filter((_, index) => index > 1),
    [],
    "nothing but that it does not tell any more whether it carries the host",
  );
});

test("keys that come later are used at once, and keys that go are not", async () => {
  const world = openPeerWorld([app]);
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  assert.deepEqual([world.seen(app), peer.transfers.counters.whole], ["fresh 192.0.2.1", 0]);
  world.session.setKey(fleetKey());
  await world.pass(1_000);
  assert.equal(peer.transfers.counters.whole, 1);
  world.session.setKey(undefined);
  peer.publish(new Map([[app, ["192.0.2.2"]]]));
  await world.pass(periodMs);
  assert.deepEqual([world.seen(app), peer.transfers.counters.whole], ["fresh 192.0.2.2", 1]);
});

test("D21: a server that refuses hides no good one behind it, and an answer that does not fit a datagram is whole", async () => {
  const many = Array.from({ length: 120 }, (_, index) => `192.0.2.${index + 1}`).sort();
  for (const key of [undefined, fleetKey()]) {
    const world = openPeerWorld([app], { key });
    const refusing = new PeerReplica(world.simulation.node({ name: "refusing", addresses: ["10.0.0.9"] }), {
      key,
    });
    refusing.authority.removeZone(zoneName);
    refusing.authority.removeZone(`_localtargets.${zoneName}`);
    await world.simulation.complete(refusing.serve("10.0.0.9"));
    const peer = await startPeer(world, { key });
    peer.publish(new Map([[app, many]]));
    world.session.setServers([{ address: "10.0.0.9", port: 53 }, peerServer]);
    await world.pass(2 * deadlineMs);
    assert.deepEqual(world.seen(app), `fresh ${many.join(" ")}`);
  }
});

test("D20: a peer that is silent from the start is known as that after its deadline", async () => {
  for (const key of [undefined, fleetKey()]) {
    const world = openPeerWorld([app], { key });
    world.simulation.node({ name: "us", addresses: ["10.0.0.2"] });
    world.session.setServers([peerServer]);
    await world.pass(deadlineMs - 100);
    assert.equal(world.seen(app), "unknown");
    await world.pass(200);
    assert.equal(world.seen(app), "unreachable");
  }
});
