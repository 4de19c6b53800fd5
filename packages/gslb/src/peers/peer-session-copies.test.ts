import assert from "node:assert/strict";
import { test } from "node:test";
import { composeMessage, parseMessage } from "@meridian/dns";
import {
  deadlineMs,
  fleetKey,
  hostNames,
  openPeerWorld,
  PeerReplica,
  peerServer,
  periodMs,
  startPeer,
  startReplicas,
  zoneName,
} from "../testdata/peer-world.ts";

const app = `app.${zoneName}`;

test("C-02: a peer with 10,000 hosts costs one question and its reply in a period in which nothing changes", async () => {
  const hosts = hostNames(10_000);
  const world = openPeerWorld(hosts, { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map(hosts.map((host, index) => [host, [`192.0.2.${index % 250}`]])));
  world.session.setServers([peerServer]);
  await world.pass(5_000);
  assert.equal(world.seen(hosts[9_999]!), "fresh 192.0.2.249");
  assert.equal(world.changed.length, 2 * hosts.length, "each host once for each family");
  assert.equal(peer.transfers.counters.whole, 1);

  world.packets.length = 0;
  world.changed.length = 0;
  await world.pass(10 * periodMs);
  assert.deepEqual([world.packets.length <= 2 * 12, world.packets.length >= 2 * 9], [true, true]);
  assert.deepEqual(world.changed, []);

  world.packets.length = 0;
  peer.publish(new Map([[hosts[7]!, ["198.51.100.7"]]]));
  world.session.hint();
  await world.pass(50);
  assert.equal(world.seen(hosts[7]!), "fresh 198.51.100.7");
  assert.deepEqual([world.changed, peer.transfers.counters.incremental], [[hosts[7]], 1]);
  assert.ok(world.packets.length <= 12, `${world.packets.length} packets for one change`);
});

test("C-02: 20 peers with 10,000 hosts cost a few packets in a period", async () => {
  // Sessions share nothing but the views, so one is as good as another: what one costs, 20 cost 20 times.
  const hosts = hostNames(10_000);
  const world = openPeerWorld(hosts, { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map(hosts.map((host) => [host, ["192.0.2.1"]])));
  world.session.setServers([peerServer]);
  await world.pass(5_000);
  world.packets.length = 0;
  await world.pass(periodMs);
  assert.ok(20 * world.packets.length <= 20 * 4, `${20 * world.packets.length} packets`);
});

test("a peer that gets the key later is copied from its first proved hint on, and learns that we have it, too", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, {});
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(deadlineMs + 500);
  assert.deepEqual([world.session.contact.mode, world.proofs.count], ["questions", 0]);

  peer.keyring.replace([fleetKey()]);
  world.session.hint({ isProved: true });
  await world.pass(50);
  assert.deepEqual([world.session.contact.mode, world.proofs.count], ["copy", 1]);
  assert.equal(world.session.notifyKey?.name, "meridian-peers");
  world.session.hint({ isProved: true });
  await world.pass(2 * periodMs);
  assert.equal(world.proofs.count, 1);
});

test("C-03: a hint brings a change over within a few round trips, and does not wait for the period", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  for (const [index, targets] of [["192.0.2.2"], [], ["192.0.2.3"]].entries()) {
    await world.pass(1_100);
    peer.publish(new Map([[app, targets]]));
    world.session.hint();
    await world.pass(40);
    assert.equal(
      world.seen(app),
      targets.length === 0 ? "empty" : `fresh ${targets.join(" ")}`,
      `change ${index}`,
    );
  }
});

test("D1: a peer that carries a host and serves it nowhere is empty, at once, and a silent one is not", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  peer.publish(new Map([[app, []]]));
  await world.pass(periodMs);
  assert.deepEqual([world.seen(app), world.views.of(app)[0]?.carried], ["empty", true]);
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  await world.pass(periodMs);
  world.simulation.isolate("us");
  await world.pass(periodMs + 2_000);
  assert.equal(world.seen(app), "unreachable 192.0.2.1");
  world.simulation.heal();
  await world.pass(periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.1", "although its serial is the same");
});

test("S-04: a peer without a Gslb for a host says so, and says otherwise when it has one", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  assert.deepEqual([world.seen(app), world.views.of(app)[0]?.carried], ["empty", false]);
  assert.match(world.views.of(app)[0]!.verdict, /^it has no Gslb for it, by serial 1 from 10\.0\.0\.2:53$/);
  peer.publish(new Map([[app, []]]));
  await world.pass(periodMs);
  assert.deepEqual([world.seen(app), world.views.of(app)[0]?.carried], ["empty", true]);
  assert.ok(world.changed.length >= 2, "the host's Gslb is looked at again");
  assert.equal(world.carriages.length, 2, "the first copy told that it carries none");
});

test("a host that is new is known from the copy, without a packet", async () => {
  const world = openPeerWorld([], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  world.packets.length = 0;
  world.views.add(app, { zone: zoneName, thresholdSeconds: 0 });
  world.session.ask(app);
  await world.pass(1);
  assert.deepEqual([world.seen(app), world.packets.length], ["fresh 192.0.2.1", 0]);
  peer.publish(new Map([[app, ["192.0.2.2"]]]));
  await world.pass(periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.2");
});

test("S-04: each time that it becomes known what a peer carries, or that it cannot tell, is told once", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const { carriages: known } = world;
  const peer = await startPeer(world, { key: fleetKey() });
  world.session.setServers([peerServer]);
  await world.pass(2 * periodMs);
  assert.deepEqual([world.session.contact.mode, known], ["copy", [true]], "it carries nothing");

  peer.keyring.replace([]);
  await world.pass(3 * periodMs);
  assert.deepEqual([world.session.contact.mode, known.at(-1)], ["questions", true]);
  const { length } = known;
  await world.pass(2 * periodMs);
  assert.equal(known.length, length);

  peer.keyring.replace([fleetKey()]);
  await world.pass(2 * periodMs);
  assert.deepEqual([world.session.contact.mode, known.length], ["copy", length + 1]);
});

test("the moment of the last answer is that of the last check, although nothing else was said", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  const first = world.views.of(app)[0]!.asOf!;
  await world.pass(10 * periodMs);
  assert.ok(world.views.of(app)[0]!.asOf! > first + 8 * periodMs);
});

test("a peer that was started again has no journal and answers with the whole view; what is the same changes nothing", async () => {
  const world = openPeerWorld(hostNames(50), { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  const all = new Map(hostNames(50).map((host) => [host, ["192.0.2.1"]]));
  peer.publish(all);
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  world.changed.length = 0;
  const node = world.simulation.node({ name: "us again", addresses: ["10.0.0.3"] });
  const again = new PeerReplica(node, { key: fleetKey(), serial: peer.serial });
  again.publish(new Map([...all, [hostNames(50)[3]!, ["192.0.2.9"]]]));
  await world.simulation.complete(again.serve("10.0.0.3"));
  world.session.setServers([{ address: "10.0.0.3", port: 53 }]);
  await world.pass(1_000);
  assert.deepEqual([again.transfers.counters.whole, again.transfers.counters.incremental], [1, 0]);
  assert.deepEqual(world.changed, [hostNames(50)[3]]);
});

test("two replicas behind one address: one that lags takes nothing back, and the one that is ahead is heard soon", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const node = (address: string) => world.simulation.node({ name: address, addresses: [address] });
  const ahead = new PeerReplica(node("10.0.0.2"), { key: fleetKey() });
  const behind = new PeerReplica(node("10.0.0.3"), { key: fleetKey() });
  for (const replica of [ahead, behind]) replica.publish(new Map([[app, ["192.0.2.1"]]]));
  let turn = 0;
  await startReplicas(world, [ahead, behind], () => (turn++ % 2 === 0 ? ahead : behind));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  assert.equal(world.seen(app), "fresh 192.0.2.1");

  // The question for the serial meets the one, the transfer the other.
  ahead.publish(new Map([[app, ["192.0.2.2"]]]));
  const seen: string[] = [];
  for (let step = 0; step < 40; step++) {
    world.session.hint();
    await world.pass(1_500);
    seen.push(world.seen(app));
  }
  const first = seen.indexOf("fresh 192.0.2.2");
  assert.ok(first >= 0 && first < 10, `after ${first} checks`);
  assert.deepEqual(new Set(seen.slice(first)), new Set(["fresh 192.0.2.2"]), "never back");

  behind.publish(new Map([[app, ["192.0.2.2"]]]));
  assert.equal(behind.serial, ahead.serial, "equal content under an equal serial");
  await world.pass(3 * periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.2");
});

test("a peer that has lost its serials is followed after three periods, and not for one answer before", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey(), serial: 1_000 });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  const restored = new PeerReplica(world.simulation.node({ name: "restored", addresses: ["10.0.0.3"] }), {
    key: fleetKey(),
  });
  restored.publish(new Map([[app, ["192.0.2.5"]]]));
  await world.simulation.complete(restored.serve("10.0.0.3"));
  world.session.setServers([{ address: "10.0.0.3", port: 53 }]);
  await world.pass(periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.1");
  await world.pass(3 * periodMs);
  assert.equal(world.seen(app), "fresh 192.0.2.5");
});

/** Sends a reply of somebody who has seen the question and has no key, before that of the server. */
function forge(peer: PeerReplica): { forged: number } {
  const { requests } = peer.authority;
  const count = { forged: 0 };
  peer.authority.requests = {
    async *handle(request) {
      const { id, questions } = parseMessage(request.message);
      const isSerial = questions[0]?.type === "SOA";
      count.forged += 1;
      yield composeMessage({ id, response: true, questions, rcode: isSerial ? 3 : 0 });
      yield* requests!.handle(request);
    },
  };
  return count;
}

test("D47: replies without proof that come before the peer's own change nothing", async () => {
  const world = openPeerWorld([app], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(new Map([[app, ["192.0.2.1"]]]));
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  const count = forge(peer);
  world.changed.length = 0;
  await world.pass(5 * periodMs);
  assert.ok(count.forged >= 4);
  assert.deepEqual([world.seen(app), world.changed], ["fresh 192.0.2.1", []]);
});

test("D47: where proof is required, who cannot prove itself counts as silent", async () => {
  for (const key of [undefined, fleetKey("B")]) {
    const world = openPeerWorld([app], { key: fleetKey(), requiresProof: true });
    const peer = await startPeer(world, { key });
    peer.publish(new Map([[app, ["203.0.113.66"]]]));
    world.session.setServers([peerServer]);
    await world.pass(periodMs);
    assert.equal(world.seen(app), "unreachable");
    peer.keyring.replace([fleetKey()]);
    await world.pass(periodMs);
    assert.equal(world.seen(app), "fresh 203.0.113.66");
  }
});

test("a host for whose name the view has no room is copied as all others, and its changes too", async () => {
  const label = "x".repeat(50);
  const stem = `.${"z".repeat(38)}.${label}.${label}.${label}.${zoneName}`;
  const [long, other, wildcard] = [
    `${"y".repeat(30)}${stem}`,
    `${"w".repeat(30)}${stem}`,
    `*.${"y".repeat(28)}${stem}`,
  ];
  assert.equal(long.length, 240);
  const world = openPeerWorld([app, long, other, wildcard], { key: fleetKey() });
  const peer = await startPeer(world, { key: fleetKey() });
  peer.publish(
    new Map([
      [app, ["192.0.2.1"]],
      [long, ["192.0.2.2"]],
      [wildcard, []],
    ]),
  );
  world.session.setServers([peerServer]);
  await world.pass(1_000);
  assert.equal(world.session.contact.mode, "copy");
  const seen = (): readonly string[] => [long, other, wildcard].map((host) => world.seen(host));
  assert.deepEqual(seen(), ["fresh 192.0.2.2", "empty", "empty"]);
  assert.deepEqual(
    [long, other, wildcard].map((host) => world.session.copy.carries(host)),
    [true, false, true],
  );
  assert.equal(world.session.copy.policy(long)?.strategyName, "roundRobin");
  peer.publish(
    new Map([
      [long, []],
      [other, ["192.0.2.3"]],
      [wildcard, undefined],
    ]),
  );
  world.session.hint();
  await world.pass(1_000);
  assert.deepEqual(seen(), ["empty", "fresh 192.0.2.3", "empty"]);
  assert.equal(peer.transfers.counters.incremental, 1);
  peer.publish(new Map([[long, undefined]]));
  world.session.hint();
  await world.pass(1_000);
  assert.deepEqual(
    [long, other, wildcard].map((host) => world.session.copy.carries(host)),
    [false, true, false],
  );
});
