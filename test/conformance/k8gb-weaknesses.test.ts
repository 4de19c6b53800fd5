import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gslbType, zoneDelegationType } from "@meridian/gslb";
import { ingressType, serviceType } from "@meridian/kube";
import { assertServed, ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

// What k8gb gets wrong and no other table here is about, told to one whole cluster whose settings name a GeoIP
// database, and no period in which Gslbs are looked at.

const address = "192.0.2.1";
const databasePath = "/geoip.mmdb";
const toIngress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
const hostOf = (name: string): string => `${name}.${zone}`;

let world: ReferenceWorld;
/** What the file of the database has in it; absent: there is none. */
let database: string | undefined;
let reads = 0;

before(async () => {
  const openFile = (path: string) => ({
    path,
    stamp: async () => (path === databasePath ? database : undefined),
    read: async () => {
      reads += 1;
      return new TextEncoder().encode(database);
    },
  });
  const settings = { MERIDIAN_GEOIP_DATABASE: databasePath, RECONCILE_REQUEUE_SECONDS: "0" };
  world = await ReferenceWorld.open(settings, { openFile });
});
after(() => world.close());

/** A ready Service, an Ingress of its name for one host, and a Gslb that refers to it. */
async function app(
  name: string,
  strategy: object = { type: "roundRobin" },
  host: string = hostOf(name),
): Promise<void> {
  await world.serve(name);
  await world.ingress(name, { [host]: name });
  await world.gslb(name, { ...toIngress, name }, { spec: { strategy } });
  await world.settle();
}

test("D5, G-06: a GeoIP database that is missing, or is none, costs its knowledge and no answer", async () => {
  await app("near", { type: "geoip" });
  await app("other");
  assert.equal(await world.condition("near", "GeoReady"), "False DatabaseMissing");
  const bothServed = async (): Promise<void> => {
    for (const name of ["near", "other"]) await assertServed(world, name, address);
  };
  await bothServed();
  database = "this is no database";
  await world.settle(60_000);
  assert.equal(await world.condition("near", "GeoReady"), "False DatabaseUnusable");
  await bothServed();
});

test("D49, C-01, G-06: a question reads no file and logs nothing, whatever it asks for", async () => {
  await app("asked", { type: "geoip" });
  await world.settle(60_000);
  const before = [reads, world.logged.length];
  for (const host of ["asked", "localtargets-asked", "nobody"].map(hostOf))
    for (const type of ["A", "AAAA", "TXT", "ANY"])
      for (let count = 0; count < 20; count += 1) await world.dig(host, type);
  assert.deepEqual([reads, world.logged.length], before);
});

test("D15: a host that only looks like one of the zone is told so, and one of a zone within it is that one's", async () => {
  await world.create(zoneDelegationType, "inner", {
    spec: { loadBalancedZone: `inner.${zone}`, parentZone: zone, dnsZoneNegTTL: 77 },
  });
  await world.settle(10_000);
  for (const [name, host] of [
    ["evil", `app.${zone}.evil.org`],
    ["lookalike", `my${zone}`],
  ] as const) {
    await app(name, undefined, host);
    assert.equal(await world.condition(name, "Accepted"), "False HostOutsideZones");
    assert.equal(await world.endpoint(name), undefined);
  }
  await app("deep", undefined, `Deep.Inner.${zone}`);
  assert.equal(await world.condition("deep", "Accepted"), "True Accepted");
  assert.equal(await world.dig(`deep.inner.${zone}`), `data ${address}`);
  assert.match(await world.dig(`inner.${zone}`, "SOA"), / 77$/, "the inner zone answers");
});

test("D19: whatever a Gslb depends on is followed at once, without any period", async () => {
  await app("followed", undefined, "followed.late.example.com");
  const becomes = async (expected: string, change: () => Promise<unknown>): Promise<void> => {
    await change();
    await world.settle(1000);
    assert.equal(await world.dig("followed.late.example.com"), expected);
  };
  const annotate = (value: string | null) => (): Promise<void> =>
    world.patch(gslbType, "followed", {
      metadata: { annotations: { "k8gb.io/exposed-ip-addresses": value } },
    });
  const spec = { loadBalancedZone: "late.example.com", parentZone: "example.com", dnsZoneNegTTL: 30 };
  await becomes(`data ${address}`, () => world.create(zoneDelegationType, "late", { spec }));
  await becomes("data 192.0.2.9", () =>
    world.patchStatus(ingressType, "followed", { loadBalancer: { ingress: [{ ip: "192.0.2.9" }] } }),
  );
  await becomes("data 192.0.2.10", annotate("192.0.2.10"));
  await becomes("data 192.0.2.9", annotate(null));
  await becomes("nodata", () => world.remove(serviceType, "followed"));
  await becomes("data 192.0.2.9", () =>
    world.create(serviceType, "followed", { spec: { ports: [{ name: "http", port: 80 }] } }),
  );
  await becomes("nodata", () => world.remove(ingressType, "followed"));
});

test("D57: failover without a primary goes on as in k8gb, and the Gslb is told", async () => {
  await app("headless", { type: "failover" });
  await assertServed(world, "headless", address);
  assert.equal(await world.condition("headless", "Accepted"), "True AcceptedWithWarnings");
  assert.ok(
    (await world.events("headless")).some((event) =>
      /^Gslb AcceptedWithWarnings: .*primaryGeoTag is not set/.test(event),
    ),
  );
});

test("References: of a reference and an embedded Ingress in one spec the reference counts, and none is made", async () => {
  await world.serve("both");
  await world.ingress("both-there", { [hostOf("both")]: "both" });
  const ingress = { rules: ingressRules({ [hostOf("both-embedded")]: "both" }) };
  await world.create(gslbType, "both", {
    spec: { strategy: { type: "roundRobin" }, resourceRef: { ...toIngress, name: "both-there" }, ingress },
  });
  await world.settle();
  await assertServed(world, "both", address);
  assert.equal(await world.find(ingressType, "both"), undefined);
  assert.equal(await world.dig(hostOf("both-embedded")), "nxdomain");
});

test("Zone filter: of a Gslb's hosts those in any zone are served, and the others are named", async () => {
  await world.serve("filtered");
  const hosts = [hostOf("filtered"), `filtered.inner.${zone}`, "filtered.example.org"];
  await world.ingress("filtered", Object.fromEntries(hosts.map((host) => [host, "filtered"])));
  await world.gslb("filtered", { ...toIngress, name: "filtered" });
  await world.settle();
  assert.deepEqual(Object.keys((await world.status("filtered"))?.serviceHealth ?? {}), hosts.slice(0, 2));
  for (const host of hosts.slice(0, 2)) assert.equal(await world.dig(host), `data ${address}`);
  assert.equal(await world.condition("filtered", "Accepted"), "False HostOutsideZones");
});
