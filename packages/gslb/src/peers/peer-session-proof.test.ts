import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deadlineMs,
  fleetKey,
  hostNames,
  openPeerWorld,
  peerServer,
  startPeer,
  zoneName,
  type PeerReplica,
  type PeerWorld,
} from "../testdata/peer-world.ts";

const hosts = hostNames(100);
const all = (address: string): ReadonlyMap<string, readonly string[]> =>
  new Map(hosts.map((host) => [host, [address]]));

/** A peer that was asked host by host where proof is required, and of which an impostor answers all that is not signed. */
async function openImpostor(
  key: ReturnType<typeof fleetKey> | undefined,
): Promise<PeerWorld & { readonly impersonate: () => void; readonly seenOfAll: () => readonly string[] }> {
  const world = openPeerWorld(hosts, { key, requiresProof: true });
  const peer: PeerReplica = await startPeer(world, { key });
  peer.publish(all("192.0.2.1"));
  peer.transfers.setPolicy({ allows: () => false });
  world.session.setServers([peerServer]);
  await world.pass(deadlineMs + 1_500);
  const seenOfAll = (): readonly string[] => [...new Set(hosts.map(world.seen))];
  assert.deepEqual([world.session.contact.mode, seenOfAll()], ["questions", ["fresh 192.0.2.1"]]);
  const impersonate = (): void => {
    // Replies to what is signed are lost.
    peer.authority.requests = { async *handle() {} };
    peer.publish(all("203.0.113.66"));
  };
  return { ...world, impersonate, seenOfAll };
}

for (const [what, act] of [
  ["a hint", ({ session }: PeerWorld) => session.hint()],
  ["a host that is wanted", ({ session }: PeerWorld) => session.ask(hosts[0]!)],
] as const)
  test(`D47: ${what} while a proved peer is asked the second time has nobody asked without proof`, async () => {
    const world = await openImpostor(fleetKey());
    world.impersonate();
    world.session.hint();
    await world.pass(deadlineMs + 500);
    assert.equal(world.session.notifyKey, undefined, "the second look is under way");
    act(world);
    await world.pass(deadlineMs);
    assert.deepEqual(world.seenOfAll(), ["unreachable 192.0.2.1"]);
  });

for (const [what, key] of [
  ["another key", fleetKey()],
  ["the first key", undefined],
] as const)
  for (const act of ["hint", "ask"] as const)
    test(`D47: what is asked about the time when ${what} comes, by ${act}, does not count without proof by that`, async () => {
      const world = await openImpostor(key);
      world.impersonate();
      const start = (): void => (act === "hint" ? world.session.hint() : world.session.ask(hosts[0]!));
      start();
      await world.pass(0);
      world.session.setKey(fleetKey("B"));
      start();
      await world.pass(2 * deadlineMs + 1_500);
      assert.deepEqual(world.seenOfAll(), ["unreachable 192.0.2.1"]);
    });

test("D47: a host that is wanted while a proved peer is asked the second time is asked once that has proved itself", async () => {
  const world = await openImpostor(fleetKey());
  const added = `new.${zoneName}`;
  world.simulation.partition("us", "eu", "one");
  world.session.hint();
  await world.pass(deadlineMs + 100);
  world.views.add(added, { zone: zoneName, thresholdSeconds: 0 });
  world.session.ask(added);
  world.simulation.heal();
  await world.pass(2 * deadlineMs);
  assert.equal(world.seen(added), "empty");
});
