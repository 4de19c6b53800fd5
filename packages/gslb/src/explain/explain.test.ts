import assert from "node:assert/strict";
import { test } from "node:test";
import { planGslb } from "../decide/plan-gslb.ts";
import { explain } from "./explain.ts";

test("peers are told as they stand now: when they last answered, and whether their time is over", () => {
  const view = {
    geoTag: "us",
    family: "A",
    targets: ["192.0.2.1"],
    asOf: 5000,
    verdict: "1 of type A",
  } as const;
  const about = {
    host: "app.x",
    geoTag: "eu",
    holder: undefined,
    wildcard: undefined,
    isOfFleet: false,
    hosts: [],
    latest: undefined,
  };
  const told = (state: "fresh" | "unreachable"): unknown =>
    explain({
      ...about,
      views: [{ ...view, state, ...(state === "fresh" ? {} : { unreachableSince: 6000 }) }],
      sessions: [{ geoTag: "us", servers: [{ address: "10.0.0.2", port: 53 }] }],
      zone: undefined,
      now: 7000,
    }).peers[0]?.views.map(({ state: shown, asOf }) => [shown, asOf]);
  assert.deepEqual(told("fresh"), [["fresh", "1970-01-01T00:00:05.000Z"]]);
  assert.deepEqual(told("unreachable"), [["expired", "1970-01-01T00:00:05.000Z"]]);
});

test("own addresses are told as published only where the DNSEndpoint holds them: not with an invalid spec", () => {
  const host = "app.x";
  const exposed = { targets: { A: ["192.0.2.1"], AAAA: [] }, source: "test" };
  const isPublished = (type: string): boolean | undefined => {
    const metadata = { name: "a", namespace: "b" };
    const gslb = { apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata, spec: { strategy: { type } } };
    const plan = planGslb({
      ...{ gslb, exposed },
      ...{ geoTag: "eu", geoTags: ["eu"], zones: ["x"], views: () => [], now: 0, stored: undefined },
      reference: { kind: "resolved", servers: [{ host, services: [{ namespace: "b", name: "s" }] }] },
      otherHolder: () => undefined,
      backend: () => ({ state: "healthy", readyEndpoints: 1 }),
    });
    return explain({
      ...{ host, geoTag: "eu", holder: "b/a", isOfFleet: false, wildcard: undefined, hosts: [host] },
      ...{ latest: { plan, exposed, at: 0 }, views: [], sessions: [], zone: undefined, now: 0 },
    }).local?.published;
  };
  assert.equal(isPublished("roundRobin"), true);
  assert.equal(isPublished("roundrobbin"), false);
});

test("of a host that nobody answers for the hosts that there are are told, and else not", () => {
  const about = {
    host: "app.x",
    geoTag: "eu",
    latest: undefined,
    views: [],
    sessions: [],
    zone: undefined,
    now: 0,
  };
  const hosts = Array.from({ length: 60 }, (_, index) => `h${index}.x`);
  const told = (more: { holder?: string; wildcard?: { host: string; holder: string } }): number | undefined =>
    explain({ ...about, hosts, holder: undefined, isOfFleet: false, wildcard: undefined, ...more }).knownHosts
      ?.length;
  assert.equal(told({}), 50);
  assert.equal(told({ holder: "a/b" }), undefined);
  assert.equal(told({ wildcard: { host: "*.x", holder: "a/b" } }), undefined);
});
