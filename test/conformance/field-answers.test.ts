import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Edns, Message } from "@meridian/dns";
import { configMapType } from "@meridian/kube";
import { ask as askAt, plainEdns, reply, said as saidAt, type Asking } from "./cluster-asking.ts";
import { ReferenceWorld, zone } from "./reference-world.ts";

// What users of other DNS servers reported, asked of one whole cluster in messages of one's own.

const negativeTtl = 30;
const address = "192.0.2.1";
const hostOf = (name: string): string => `${name}.${zone}`;

let world: ReferenceWorld;

before(async () => {
  world = await ReferenceWorld.open();
  for (const [name, host] of [
    ["app", hostOf("app")],
    ["deep", hostOf("a.b")],
    ["wild", hostOf("*.wild")],
    ["near", hostOf("near")],
  ] as const) {
    await world.serve(name);
    await world.ingress(name, { [host]: name });
    const strategy = { type: name === "near" ? "geoip" : "roundRobin" };
    await world.gslb(
      name,
      { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name },
      { spec: { strategy } },
    );
  }
  const data = { "geo.yaml": "networks: { 192.0.2.0/24: eu, 10.0.0.0/8: eu, 10.1.0.0/16: us }" };
  await world.create(configMapType, "meridian-geo-map", { namespace: "k8gb", data });
  await world.settle(60_000);
});
after(() => world.close());

const said = (name: string, type = "A"): string => saidAt(world, name, type);
const ask = (name: string, asking: Asking = {}): Message => askAt(world, name, asking);

const nodata = `NOERROR SOA of ${zone} for ${negativeTtl}`;
const nxdomain = `NXDOMAIN SOA of ${zone} for ${negativeTtl}`;

test("N-01: a type that a host does not have is no data, with the SOA by which that is cached", () => {
  for (const type of ["AAAA", "TXT", "MX", "HTTPS"]) assert.equal(said(hostOf("app"), type), nodata, type);
  assert.equal(said(hostOf("app")), `NOERROR ${address}`);
});

test("N-02: what exists without data is no data, and only what has nothing at or below it is denied", async () => {
  assert.equal(said(hostOf("b")), nodata, "an empty non-terminal");
  assert.equal(said(hostOf("a.b")), `NOERROR ${address}`);
  assert.equal(said(hostOf("c.b")), nxdomain);
  for (const name of ["app", "deep"]) await world.setReady(name, false);
  await world.settle();
  for (const name of ["app", "a.b", "b"])
    for (const type of ["A", "AAAA", "TXT"])
      assert.equal(said(hostOf(name), type), nodata, `${type} of ${name}`);
  assert.equal(said(hostOf("x.app")), nxdomain);
  for (const name of ["app", "deep"]) await world.setReady(name, true);
  await world.settle();
  assert.equal(said(hostOf("app")), `NOERROR ${address}`);
});

test("D-05: names of others are refused over every transport, whatever is asked, and before any zone is served", async () => {
  const foreign = [
    "registry.example.org",
    "example.com",
    "com",
    "kubernetes.default.svc.cluster.local",
    `not${zone}`,
  ];
  const refused = (): void => {
    for (const name of foreign)
      for (const type of ["A", "AAAA", "NS", "SOA", "ANY"])
        // Over TCP, since errors over UDP have a limit.
        assert.deepEqual([name, type, ask(name, { type, transport: "tcp" }).rcode], [name, type, 5]);
    assert.equal(ask(foreign[0]!).rcode, 5, "over UDP");
  };
  refused();
  await world.restart();
  refused();
  await world.settle(20_000);
});

test("G-01: an answer says for which clients it holds, and where that does not depend on the client it holds for all", () => {
  const scopeOf = (
    name: string,
    [network, bits]: readonly [string, number],
  ): readonly [number, number | undefined] => {
    const octets = network
      .split(".")
      .map(Number)
      .slice(0, Math.ceil(bits / 8));
    const options = [{ code: 8, octets: Uint8Array.of(0, 1, bits, 0, ...octets) }];
    const { rcode, edns } = ask(name, { edns: { ...plainEdns, options } });
    return [rcode, edns?.options.find(({ code }) => code === 8)?.octets[3]];
  };
  assert.deepEqual(scopeOf(hostOf("near"), ["10.1.2.0", 24]), [0, 16]);
  assert.deepEqual(scopeOf(hostOf("near"), ["192.0.2.0", 24]), [0, 24]);
  assert.deepEqual(scopeOf(hostOf("app"), ["10.1.2.0", 24]), [0, 0]);
  assert.deepEqual(scopeOf(hostOf("nobody"), ["10.1.2.0", 24]), [3, 0]);
  assert.deepEqual(scopeOf(zone, ["10.1.2.0", 24]), [0, 0]);
  assert.equal(
    ask(hostOf("near"), { edns: plainEdns }).edns?.options.some(({ code }) => code === 8),
    false,
    "who does not ask for it gets none",
  );
});

test("N-14: of a flood from one forged network little leaves, for names of a wildcard and ANY too; TCP and cookies pass", () => {
  const count = 10_000;
  const { rateLimit } = world.cluster.authority;
  const flood = (nameOf: (index: number) => string, asking: Asking = {}): number[] => {
    let [whole, slipped, silent] = [0, 0, 0];
    for (let index = 0; index < count; index += 1) {
      const octets = reply(world, nameOf(index), {
        ...asking,
        from: asking.from ?? `198.51.100.${index % 256}`,
      });
      if (octets === undefined) silent += 1;
      else if ((octets[2]! & 2) === 0) whole += 1;
      else slipped += 1;
    }
    return [whole, slipped, silent];
  };
  const before = rateLimit!.counters;
  // A second's worth passes, and of the rest every second one is told to come by TCP.
  const limited = [1_000, 4_500, 4_500];
  assert.deepEqual(
    flood((index) => hostOf(`r${index}.wild`)),
    limited,
  );
  assert.deepEqual(
    flood(() => hostOf("app"), { type: "ANY", edns: plainEdns }),
    limited,
  );
  assert.deepEqual(
    flood((index) => hostOf(`nobody${index}`)),
    limited,
  );
  const after = rateLimit!.counters;
  const total = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
  assert.equal(total(after.slipped) - total(before.slipped), 13_500);
  assert.equal(total(after.dropped) - total(before.dropped), 13_500);
  assert.deepEqual(
    flood((index) => hostOf(`r${index}.wild`), { transport: "tcp" }),
    [count, 0, 0],
  );
  const from = "198.51.100.7";
  const cookieOf = (octets: Uint8Array): Edns => ({ ...plainEdns, options: [{ code: 10, octets }] });
  const first = ask(hostOf("nobody"), { from, transport: "tcp", edns: cookieOf(new Uint8Array(8).fill(1)) });
  const cookie = first.edns!.options.find(({ code }) => code === 10)!.octets;
  assert.deepEqual(
    flood((index) => hostOf(`r${index}.wild`), { from, edns: cookieOf(cookie) }),
    [count, 0, 0],
  );
});
