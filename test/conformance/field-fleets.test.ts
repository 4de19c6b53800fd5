import assert from "node:assert/strict";
import { test } from "node:test";
import { dnsEndpointType, dnsKeysLabel, gslbType, peerKeyName } from "@meridian/gslb";
import {
  endpointSliceType,
  findCondition,
  ingressType,
  namespaceType,
  secretType,
  serviceType,
  type Condition,
  type KubeObject,
} from "@meridian/kube";
import { addressesOf, host, name, ReferenceFleet } from "./reference-fleet.ts";
import { ingressRules, zone } from "./reference-world.ts";

// What users of other balancers reported, told to whole fleets and asked at each of their DNS servers.

const failover = { type: "failover", primaryGeoTag: "eu" };
const roundRobin = { type: "roundRobin" };
const answerOf = (...members: readonly string[]): string =>
  members.length === 0 ? "nodata" : `data ${members.flatMap(addressesOf).toSorted().join()}`;

/** Waits until a question at a cluster is answered so; a peer that lost a hint is asked a period later. */
async function becomes(
  fleet: ReferenceFleet,
  [tag, type, asked]: readonly [tag: string, type: string, asked: string],
  expected: string,
): Promise<void> {
  let found = "";
  for (let tries = 0; tries < 70 && found !== expected; tries += 1) {
    if (tries > 0) await fleet.at(tag).settle(500);
    found = await fleet.at(tag).dig(asked, type);
  }
  assert.equal(found, expected, `${asked} ${type} at ${tag}`);
}

/** What a cluster answers over some time, but for when its zone is not open yet. */
async function answersWithin(fleet: ReferenceFleet, tag: string, forMs: number): Promise<readonly string[]> {
  const world = fleet.at(tag);
  const until = world.simulation.nowMs + forMs;
  const seen = new Set<string>();
  while (world.simulation.nowMs < until) {
    seen.add(await world.dig(host));
    await world.settle(20);
  }
  return [...seen].filter((answer) => answer !== "unreachable" && answer !== "refused");
}

/** Gives all clusters the key by which they copy what the others say of themselves. */
async function shareKey(fleet: ReferenceFleet): Promise<void> {
  const key =
    'key "meridian-peers" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };';
  for (const tag of fleet.tags)
    await fleet.at(tag).create(secretType, peerKeyName, {
      ...{ namespace: "k8gb", labels: { [dnsKeysLabel]: "tsig" }, stringData: { "peers.key": key } },
    });
  await fleet.at("eu").settle(10_000);
}

/** So far apart that there is a time in which peers were asked and did not answer yet. */
function setApart(fleet: ReferenceFleet): void {
  const { simulation } = fleet.at("eu");
  for (const a of fleet.tags)
    for (const b of fleet.tags) if (a < b) simulation.setLink(a, b, { delayMs: { min: 300, max: 400 } });
}

for (let count = 2; count <= 7; count += 1)
  test(`S-01: failover on ${count} clusters: all answer the primary alone, and alike while it is down`, async () => {
    const fleet = await ReferenceFleet.open(count);
    await fleet.deploy("referenced", () => failover);
    await fleet.answers("eu");
    await fleet.at("eu").setReady(name, false);
    await fleet.answers(...fleet.tags.slice(1));
    await fleet.at("eu").setReady(name, true);
    await fleet.answers("eu");
    await fleet.close();
  });

test("H-07: no cluster that starts again answers the backup while the primary is well, one alone nor all at once", async () => {
  const fleet = await ReferenceFleet.open(3);
  await fleet.deploy("referenced", () => failover);
  await fleet.answers("eu");
  setApart(fleet);
  for (const restarted of [["us"], ["eu"], fleet.tags]) {
    for (const tag of restarted) await fleet.at(tag).restart();
    for (const tag of restarted)
      assert.deepEqual(
        await answersWithin(fleet, tag, 10_000),
        [answerOf("eu")],
        `${tag} of ${restarted.join()}`,
      );
  }
  await fleet.close();
});

test("H-07: a Gslb that is new at a backup answers the primary from the first, where clusters share the key", async () => {
  const fleet = await ReferenceFleet.open(2);
  await shareKey(fleet);
  setApart(fleet);
  await fleet.deploy("referenced", () => failover, ["eu"]);
  await fleet.answers("eu");
  await fleet.deploy("referenced", () => failover, ["us"]);
  assert.deepEqual(await answersWithin(fleet, "us", 10_000), [answerOf("eu")]);
  assert.equal(await fleet.at("us").condition(name, "Programmed"), "True Programmed");
  await fleet.at("eu").setReady(name, false);
  await fleet.answers("us");
  await fleet.close();
});

test("S-03: a peer that cannot be found stops nobody from finding the others", async () => {
  const peers = "cz=10.0.2.1:53";
  const settingsOf = (tag: string): Readonly<Record<string, string>> =>
    tag === "eu" ? { MERIDIAN_PEERS: peers } : {};
  const fleet = await ReferenceFleet.open(3, { settingsOf });
  await fleet.deploy("referenced", () => failover);
  await fleet.answers("eu");
  await fleet.at("eu").setReady(name, false);
  await fleet.answersAt("eu", "cz");
  await fleet.at("eu").settle(30_000);
  assert.equal(await fleet.at("eu").condition(name, "PeersReachable"), "False PeerUnreachable");
  await fleet.answersAt("us", "us", "cz");
  await fleet.close();
});

test("H-19: clusters start and serve while one is unreachable, say so, and take it in when it comes", async () => {
  const fleet = await ReferenceFleet.open(3, { started: 2 });
  await fleet.deploy("referenced", () => roundRobin);
  await fleet.answers("eu", "us");
  for (const tag of ["eu", "us"]) {
    await fleet.at(tag).settle(15_000);
    assert.equal(await fleet.at(tag).condition(name, "PeersReachable"), "False PeerUnreachable");
    assert.equal(await fleet.at(tag).condition(name, "Healthy"), "True Healthy");
  }
  await fleet.join("cz");
  await fleet.deploy("referenced", () => roundRobin, ["cz"]);
  await fleet.answers("eu", "us", "cz");
  for (const tag of fleet.tags) {
    await fleet.at(tag).settle(35_000);
    assert.equal(await fleet.at(tag).condition(name, "PeersReachable"), "True PeersReachable");
  }
  await fleet.close();
});

test("V-01: of a dual-stack Service A and AAAA are learnt and answered apart, beside a cluster with IPv4 only", async () => {
  const fleet = await ReferenceFleet.open(2);
  const annotations = { "k8gb.io/hostname": host };
  const entries = { eu: ["192.0.2.1", "2001:db8::1"], us: ["192.0.2.2"] } as const;
  const deploy = async (tag: "eu" | "us"): Promise<void> => {
    const world = fleet.at(tag);
    await world.serve(name, { type: "LoadBalancer" });
    await world.patchStatus(serviceType, name, {
      loadBalancer: { ingress: entries[tag].map((ip) => ({ ip })) },
    });
    const reference = { apiVersion: "v1", kind: "Service", name };
    await world.gslb(name, reference, { annotations, spec: { strategy: roundRobin } });
  };
  for (const tag of ["eu", "us"] as const) await deploy(tag);
  const everywhere = async (a: string, aaaa: string): Promise<void> => {
    for (const tag of fleet.tags) {
      await becomes(fleet, [tag, "A", host], a);
      await becomes(fleet, [tag, "AAAA", host], aaaa);
    }
  };
  await everywhere("data 192.0.2.1,192.0.2.2", "data 2001:db8::1");
  await fleet.at("eu").setReady(name, false);
  await everywhere("data 192.0.2.2", "nodata");
  await fleet.at("eu").setReady(name, true);
  for (const tag of fleet.tags)
    await fleet
      .at(tag)
      .patch(gslbType, name, { spec: { strategy: { type: "failover", primaryGeoTag: "us" } } });
  // An IPv4-only primary is not left for another's IPv6.
  await everywhere("data 192.0.2.2", "nodata");
  await fleet.close();
});

test("W-01, W-06: a weight of 0 is never answered while another cluster serves, and is the last resort", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", () => ({ ...roundRobin, weight: { eu: 0, us: 100 } }));
  const alwaysAnswered = async (tag: string): Promise<void> => {
    await fleet.answers(tag);
    for (const at of fleet.tags)
      for (let asked = 0; asked < 500; asked += 1) assert.equal(await fleet.at(at).dig(host), answerOf(tag));
  };
  await alwaysAnswered("us");
  await fleet.at("us").setReady(name, false);
  await alwaysAnswered("eu");
  await fleet.close();
});

test("W-02: the weights' shares are seen in what all clusters count, to the last answer", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", () => ({ ...roundRobin, weight: { eu: 80, us: 20 } }));
  await fleet.at("eu").settle(60_000);
  const seen = { eu: 0, us: 0 };
  for (const tag of fleet.tags)
    for (let asked = 0; asked < 500; asked += 1)
      seen[(await fleet.at(tag).dig(host)) === answerOf("eu") ? "eu" : "us"] += 1;
  const drawnOf = (geoTag: string): number =>
    fleet.tags.reduce((sum, tag) => sum + fleet.at(tag).cluster.authority.drawnFor(geoTag), 0);
  assert.deepEqual({ eu: drawnOf("eu"), us: drawnOf("us") }, seen);
  // 800 are expected; five deviations are 63.
  assert.ok(Math.abs(seen.eu - 800) < 70, JSON.stringify(seen));
  await fleet.close();
});

test("W-03: a cluster that the weights leave out has the mean of them, and balancing goes on", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", () => ({ ...roundRobin, weight: { eu: 1 } }));
  const { simulation } = fleet.at("eu");
  await simulation.run({ untilMs: simulation.nowMs + 35_000 });
  for (const tag of fleet.tags) {
    const counts = new Map<string, number>();
    for (let asked = 0; asked < 400; asked += 1) {
      const answer = await fleet.at(tag).dig(host);
      counts.set(answer, (counts.get(answer) ?? 0) + 1);
    }
    // An answer is of one cluster; 200 each are expected, five deviations are 50.
    assert.deepEqual([...counts.keys()].toSorted(), [answerOf("eu"), answerOf("us")]);
    assert.ok(Math.abs(counts.get(answerOf("eu"))! - 200) < 60, JSON.stringify([...counts]));
  }
  await fleet.close();
});

test("H-17: a DNSEndpoint that is deleted by hand comes back as it is decided now, without targets that are dead", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", () => roundRobin);
  await fleet.answers("eu", "us");
  const targetsAfterDeletion = async (): Promise<readonly unknown[] | undefined> => {
    await fleet.at("eu").remove(dnsEndpointType, name);
    await fleet.at("eu").settle();
    return (await fleet.at("eu").endpoint(name))?.spec?.endpoints?.map(({ dnsName, targets }) => [
      dnsName,
      targets?.toSorted(),
    ]);
  };
  const both = ["eu", "us"].flatMap(addressesOf).toSorted();
  assert.deepEqual(await targetsAfterDeletion(), [
    [`localtargets-${host}`, addressesOf("eu")],
    [host, both],
  ]);
  await fleet.at("eu").setReady(name, false);
  await fleet.answers("us");
  assert.deepEqual(await targetsAfterDeletion(), [[host, addressesOf("us")]]);
  await fleet.answers("us");
  await fleet.close();
});

test("H-18: of two hosts at one address each is healthy for itself", async () => {
  const fleet = await ReferenceFleet.open(2);
  const [first, second] = [`first.${zone}`, `second.${zone}`];
  for (const [index, tag] of fleet.tags.entries()) {
    const world = fleet.at(tag);
    for (const service of ["first", "second"]) await world.serve(service);
    await world.ingress("shared", { [first]: "first", [second]: "second" });
    await world.patchStatus(ingressType, "shared", {
      loadBalancer: { ingress: [{ ip: `192.0.2.${index}` }] },
    });
    await world.gslb("shared", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "shared" });
  }
  await fleet.at("eu").setReady("second", false);
  for (const tag of fleet.tags) {
    await becomes(fleet, [tag, "A", first], "data 192.0.2.0,192.0.2.1");
    await becomes(fleet, [tag, "A", second], "data 192.0.2.1");
  }
  await fleet.close();
});

test("F-12: of two tenants who claim a host the first keeps it in every cluster, over restarts, and is all that the other is told of", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", () => roundRobin);
  // Ages are in whole seconds.
  await fleet.at("eu").settle(5_000);
  const thief = { namespace: "thief", name: "mine" };
  const ofThief = async (tag: string): Promise<string> => {
    const world = fleet.at(tag);
    const { status } = await world.simulation.complete(
      world.cluster.client.get<
        KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }
      >(gslbType, thief),
    );
    const accepted = findCondition(status?.conditions, "Accepted");
    return `${accepted?.reason}: ${accepted?.message}`;
  };
  for (const tag of fleet.tags) {
    const world = fleet.at(tag);
    const { namespace } = thief;
    await world.create(namespaceType, namespace);
    await world.create(serviceType, thief.name, { namespace, spec: { ports: [{ name: "http", port: 80 }] } });
    await world.create(endpointSliceType, thief.name, {
      ...{ namespace, labels: { "kubernetes.io/service-name": thief.name }, addressType: "IPv4" },
      endpoints: [{ addresses: ["10.244.0.9"], conditions: { ready: true } }],
    });
    await world.create(ingressType, thief.name, {
      namespace,
      spec: { rules: ingressRules({ [host]: thief.name }) },
    });
    const annotations = { "k8gb.io/exposed-ip-addresses": "203.0.113.66" };
    const resourceRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: thief.name };
    await world.create(gslbType, thief.name, {
      namespace,
      annotations,
      spec: { strategy: failover, resourceRef },
    });
  }
  const holds = async (): Promise<void> => {
    await fleet.answers("eu", "us");
    for (const tag of fleet.tags) {
      assert.equal(await fleet.at(tag).condition(name, "Accepted"), "True Accepted");
      assert.equal(
        await ofThief(tag),
        `HostConflict: host ${host} is held by the older Gslb default/${name}; remove it from one of the two`,
      );
    }
  };
  await fleet.at("eu").settle(10_000);
  await holds();
  for (const tag of fleet.tags) await fleet.at(tag).restart();
  await fleet.at("eu").settle(10_000);
  await holds();
  for (const tag of fleet.tags) await fleet.at(tag).remove(gslbType, name);
  for (const tag of fleet.tags) {
    await becomes(fleet, [tag, "A", host], "data 203.0.113.66");
    assert.match(await ofThief(tag), /^Accepted: /);
  }
  await fleet.close();
});

test("C-03: with 1,000 hosts, 7 clusters all answer right within 2 s of a Pod that is not ready any more", async () => {
  // So long a period that what comes in time came by a push. The simulator's clock counts waits and not work, which the
  // benchmark measures.
  const settingsOf = (): Readonly<Record<string, string>> => ({ RECONCILE_REQUEUE_SECONDS: "3600" });
  const fleet = await ReferenceFleet.open(7, { settingsOf });
  await shareKey(fleet);
  const services = ["still", "moved"];
  const hostsOf = (service: string): readonly string[] =>
    Array.from({ length: 500 }, (_, index) => `${service}-${index}.${zone}`);
  for (const [index, tag] of fleet.tags.entries()) {
    const world = fleet.at(tag);
    for (const service of services) {
      await world.serve(service);
      const rules = ingressRules(Object.fromEntries(hostsOf(service).map((each) => [each, service])));
      await world.create(ingressType, service, { spec: { rules } });
      await world.patchStatus(ingressType, service, {
        loadBalancer: { ingress: [{ ip: `192.0.2.${index}` }] },
      });
      const reference = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: service };
      await world.gslb(service, reference, { spec: { strategy: failover } });
    }
  }
  await fleet.at("eu").settle(60_000);
  const assertAll = async (expected: string): Promise<void> => {
    for (const tag of fleet.tags)
      for (const each of hostsOf("moved"))
        assert.equal(await fleet.at(tag).dig(each), expected, `${each} at ${tag}`);
  };
  const backups = [1, 2, 3, 4, 5, 6].map((index) => `192.0.2.${index}`).join();
  await assertAll("data 192.0.2.0");
  for (const ready of [false, true]) {
    await fleet.at("eu").setReady("moved", ready);
    await fleet.at("eu").settle(2_000);
    await assertAll(ready ? "data 192.0.2.0" : `data ${backups}`);
  }
  await fleet.close();
});
