import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { parseOperatorConfig } from "../config/operator-config.ts";
import { FakeGrid, type GridZone } from "../testdata/fake-grid.ts";
import type { DelegatedZone } from "./delegation-provider.ts";
import { InfobloxProvider } from "./infoblox-provider.ts";
import { WapiClient } from "./wapi-client.ts";

const signal = new AbortController().signal;
const zone: DelegatedZone = {
  loadBalancedZone: "cloud.example.com",
  parentZone: "example.com",
  ttlSeconds: 45,
  ownNameServer: "gslb-ns-eu-cloud.example.com",
  ownAddresses: { A: ["192.0.2.1", "192.0.2.2"], AAAA: [] },
  nameServers: ["gslb-ns-eu-cloud.example.com"],
  isLast: true,
};
const entry = (tag: string, address: string): { readonly name: string; readonly address: string } => ({
  name: `gslb-ns-${tag}-cloud.example.com`,
  address,
});
const stored = (...delegateTo: GridZone["delegate_to"]): GridZone => ({
  ...{ fqdn: "cloud.example.com", view: "default", delegate_to: delegateTo },
});

/** A provider and its grid. */
function provided(settings: Readonly<Record<string, string>> = {}): {
  readonly grid: FakeGrid;
  readonly provider: InfobloxProvider;
  readonly entries: () => readonly string[] | undefined;
} {
  const { config, problems } = parseOperatorConfig({
    CLUSTER_GEO_TAG: "eu",
    EDGE_DNS_SERVERS: "192.0.2.53",
    INFOBLOX_GRID_HOST: "grid.example.net",
    INFOBLOX_WAPI_USERNAME: "admin",
    INFOBLOX_WAPI_PASSWORD: "secret",
    INFOBLOX_WAPI_VERSION: "2.3.1",
    ...settings,
  });
  assert.ok(config?.provider.kind === "infoblox", problems?.map(({ message }) => message).join());
  const { infoblox } = config.provider;
  const { runtime } = new Simulation({ seed: 1 }).node({ name: "eu", addresses: ["10.0.0.1"] });
  const grid = new FakeGrid();
  const client = new WapiClient({
    clock: runtime.clock,
    network: { httpClient: () => grid.client },
    config: infoblox,
    readCa: async () => undefined,
  });
  return {
    grid,
    provider: new InfobloxProvider({ client, dnsView: infoblox.dnsView }),
    entries: () =>
      [...grid.zones.values()][0]?.delegate_to.map(({ name, address }) => `${name.slice(8, 10)} ${address}`),
  };
}

test("Infoblox: an absent zone is created", async () => {
  const { grid, provider } = provided();
  await provider.ensure(zone, signal);
  assert.deepEqual(
    [...grid.zones.values()],
    [
      {
        fqdn: "cloud.example.com",
        delegate_to: [entry("eu", "192.0.2.1"), entry("eu", "192.0.2.2")],
        comment: "created by k8gb",
        disable: false,
        locked: false,
        delegated_ttl: 45,
        use_delegated_ttl: true,
        view: "default",
        zone_format: "FORWARD",
      },
    ],
  );
  assert.equal(grid.openSessions, 0, "the session was closed");
  assert.equal(grid.logins, 1);
});

test("Infoblox: the own entries are replaced, those of others stay", async () => {
  const { grid, provider, entries } = provided();
  grid.add(stored(entry("eu", "192.0.2.1"), entry("us", "192.0.2.2")));
  await provider.ensure(zone, signal);
  assert.deepEqual(entries(), ["eu 192.0.2.1", "eu 192.0.2.2", "us 192.0.2.2"]);
  assert.equal([...grid.zones.values()][0]?.comment, "updated by k8gb");
  await provider.ensure({ ...zone, ownAddresses: { A: ["192.0.2.9"], AAAA: ["2001:db8::9"] } }, signal);
  assert.deepEqual(entries(), ["us 192.0.2.2", "eu 192.0.2.9", "eu 2001:db8::9"]);
});

test("Infoblox: own entries of a family that nobody could tell of stay", async () => {
  const { grid, provider, entries } = provided();
  grid.add(stored(entry("eu", "192.0.2.9"), entry("eu", "2001:db8::9"), entry("us", "192.0.2.2")));
  await provider.ensure({ ...zone, unknownFamily: "AAAA" }, signal);
  const wanted = ["eu 192.0.2.1", "eu 192.0.2.2", "us 192.0.2.2", "eu 2001:db8::9"];
  assert.deepEqual(entries(), wanted);
  const AAAA = ["2001:db8::9"];
  await provider.ensure(
    { ...zone, ownAddresses: { ...zone.ownAddresses, AAAA }, unknownFamily: "AAAA" },
    signal,
  );
  assert.deepEqual(entries(), wanted);
});

test("P-08: nothing is written where the grid is right", async () => {
  const { grid, provider } = provided();
  await provider.ensure(zone, signal);
  grid.requests.length = 0;
  await provider.ensure(zone, signal);
  assert.deepEqual(grid.requests, ["GET zone_delegated", "POST logout"]);
});

test("Infoblox: what another cluster writes at the same time is not lost, nor the own entries", async () => {
  const { grid, provider, entries } = provided();
  grid.add(stored());
  let writes = 0;
  grid.onWrite = () => {
    writes += 1;
    // The other read before our write, and wrote after it.
    if (writes === 1)
      for (const [ref, each] of grid.zones)
        grid.zones.set(ref, { ...each, ...stored(entry("us", "198.51.100.1")) });
  };
  await provider.ensure(zone, signal);
  assert.deepEqual(entries(), ["eu 192.0.2.1", "eu 192.0.2.2", "us 198.51.100.1"]);
});

test("Infoblox: leaving takes the own entries only, and the last one takes the zone", async () => {
  const { grid, provider, entries } = provided();
  grid.add(stored(entry("eu", "192.0.2.1"), entry("us", "198.51.100.1")));
  // What the grid has counts, not what this cluster believes.
  assert.equal(await provider.withdraw(zone, signal), "withdrawn");
  assert.deepEqual(entries(), ["us 198.51.100.1"]);
  const us = { ...zone, ownNameServer: "gslb-ns-us-cloud.example.com" };
  assert.equal(await provider.withdraw(us, signal), "withdrawn");
  assert.equal(grid.zones.size, 0);
});

test("D33: withdrawing a zone that is not there, or goes meanwhile, is a success", async () => {
  const { grid, provider } = provided();
  assert.equal(await provider.withdraw(zone, signal), "withdrawn");
  grid.add(stored(entry("eu", "192.0.2.1")));
  grid.override = ({ method }) => {
    if (method === "DELETE") grid.zones.clear();
    return undefined;
  };
  assert.equal(await provider.withdraw(zone, signal), "withdrawn");
});

test("D32: another view's zone is nobody's business, and the own view is created in", async () => {
  const { grid, provider } = provided({ INFOBLOX_DNS_VIEW: "internal" });
  grid.views.add("internal");
  grid.add(stored(entry("us", "198.51.100.1")));
  await provider.ensure(zone, signal);
  assert.deepEqual(
    [...grid.zones.values()].map(({ view, delegate_to }) => `${view} ${delegate_to.length}`),
    ["default 1", "internal 2"],
  );
});

const text = (status: number, body: string): ReturnType<NonNullable<FakeGrid["override"]>> => ({
  ...{ status, headers: {}, body: new TextEncoder().encode(body) },
});

const outages: readonly {
  readonly name: string;
  readonly answer: ReturnType<typeof text>;
  readonly says: RegExp;
}[] = [
  { name: "a grid that is down", answer: text(503, "<html>sorry</html>"), says: /refused with 503/ },
  {
    name: "a refusal",
    answer: text(400, '{"Error":"AdmConProtoError: no","code":"x","text":"no such field"}'),
    says: /GET zone_delegated at grid.example.net was refused with 400 \(no such field\)/,
  },
  {
    name: "an answer that ends in the middle",
    answer: text(200, '[{"_ref":"zone_dele'),
    says: /no JSON; nothing is written/,
  },
  {
    name: "an answer that is no list",
    answer: text(200, '{"result":[]}'),
    says: /no list of delegated zones/,
  },
  {
    name: "an object without its reference",
    answer: text(200, '[{"delegate_to":[]}]'),
    says: /without its reference/,
  },
  {
    name: "an object without its servers",
    answer: text(200, '[{"_ref":"zone_delegated/x"}]'),
    says: /without its reference or servers/,
  },
];

for (const { name, answer, says } of outages)
  test(`D32, D-10: ${name} is not an absent zone, and nothing is written`, async () => {
    const { grid, provider, entries } = provided();
    grid.add(stored(entry("us", "198.51.100.1")));
    grid.override = ({ method }) => (method === "GET" ? answer : undefined);
    for (const attempt of [provider.ensure(zone, signal), provider.withdraw(zone, signal)])
      await assert.rejects(attempt, says);
    assert.deepEqual(entries(), ["us 198.51.100.1"]);
    assert.ok(
      grid.requests.every((request) => request === "GET zone_delegated" || request === "POST logout"),
    );
  });

test("D34: a wrong password is told without it, and a logout that fails hides nothing", async () => {
  const wrong = provided({ INFOBLOX_WAPI_PASSWORD: "guess" });
  await assert.rejects(wrong.provider.ensure(zone, signal), (error: Error) => {
    assert.match(error.message, /refused with 401; check INFOBLOX_WAPI_USERNAME and INFOBLOX_WAPI_PASSWORD/);
    assert.ok(!error.message.includes("guess"));
    return true;
  });
  const { grid, provider, entries } = provided();
  grid.override = ({ target }) => (target.endsWith("/logout") ? text(500, "") : undefined);
  await provider.ensure(zone, signal);
  assert.equal(entries()?.length, 2);
});

test("Infoblox: the grid tells which clusters there are", async () => {
  const { grid, provider } = provided();
  assert.deepEqual(await provider.members(zone, signal), []);
  grid.add(stored(entry("US", "198.51.100.1"), entry("eu", "192.0.2.1"), entry("eu", "192.0.2.2")));
  assert.deepEqual(await provider.members(zone, signal), [
    "gslb-ns-eu-cloud.example.com",
    "gslb-ns-us-cloud.example.com",
  ]);
});

test("Infoblox: the version may be written with or without its v", async () => {
  for (const version of ["v2", "2.3.1", ""]) {
    const { provider, entries } = provided({ INFOBLOX_WAPI_VERSION: version });
    await provider.ensure(zone, signal);
    assert.equal(entries()?.length, 2);
  }
});
