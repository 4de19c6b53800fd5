import assert from "node:assert/strict";
import { test } from "node:test";
import { delegated, keyOf, openParent } from "../testdata/parent-world.ts";
import { UpdateKeys } from "./update-keys.ts";

const signal = new AbortController().signal;
const child = "cloud.example.com";
const nameServer = (tag: string): string => `gslb-ns-${tag}-cloud.example.com`;
const nsSet = (...tags: readonly string[]): readonly string[] => tags.map((tag) => `${nameServer(tag)}.`);
const eu = delegated("eu", { ownAddresses: { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] } });
const us = delegated("us", { ownAddresses: { A: ["198.51.100.1"], AAAA: [] } });

test("P-14, P-07: clusters join and leave one by one, each by its own records, while the others' stay", async () => {
  const { sim, setOf, provider } = await openParent();
  const [atEu, atUs] = [provider("eu"), provider("us")];
  await sim.complete(Promise.all([atEu.ensure(eu, signal), atUs.ensure(us, signal)]));
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("eu", "us")]);
  assert.deepEqual(setOf(nameServer("eu"), "AAAA"), ["30", "2001:db8::1"]);
  assert.deepEqual(setOf(nameServer("us"), "A"), ["30", "198.51.100.1"]);
  assert.deepEqual(await sim.complete(atUs.members(us, signal)), [nameServer("eu"), nameServer("us")]);

  assert.equal(await sim.complete(atEu.withdraw(eu, signal)), "withdrawn");
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("us")]);
  assert.deepEqual([setOf(nameServer("eu"), "A"), setOf(nameServer("eu"), "AAAA")], [[], []]);
  assert.deepEqual(setOf(nameServer("us"), "A"), ["30", "198.51.100.1"]);

  assert.equal(await sim.complete(atUs.withdraw({ ...us, isLast: true }, signal)), "withdrawn");
  assert.deepEqual([setOf(child, "NS"), setOf(nameServer("us"), "A")], [[], []]);
});

test("M-05: an address that two clusters share stays while one of them has it", async () => {
  const { sim, setOf, provider } = await openParent();
  const shared = { ownAddresses: { A: ["192.0.2.9"], AAAA: [] } };
  const [atEu, atUs] = [provider("eu"), provider("us")];
  await sim.complete(atEu.ensure(delegated("eu", shared), signal));
  await sim.complete(atUs.ensure(delegated("us", shared), signal));
  await sim.complete(atEu.withdraw(delegated("eu", shared), signal));
  assert.deepEqual(setOf(nameServer("us"), "A"), ["30", "192.0.2.9"]);
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("us")]);
});

test("a cluster that believes to be the last takes nobody out that joined meanwhile", async () => {
  const { sim, setOf, provider } = await openParent();
  const [atEu, atUs] = [provider("eu"), provider("us")];
  await sim.complete(atEu.ensure(eu, signal));
  const leaving = atEu.withdraw({ ...eu, isLast: true }, signal);
  await sim.complete(Promise.all([leaving, atUs.ensure(us, signal)]));
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("us")]);
});

test("nothing is written where nothing changed, and a changed address is replaced in one step", async () => {
  const { sim, zone, setOf, provider } = await openParent();
  const atEu = provider("eu");
  await sim.complete(atEu.ensure(eu, signal));
  const serial = zone.serial;
  await sim.complete(atEu.ensure(eu, signal));
  assert.equal(zone.serial, serial);
  await sim.complete(atEu.ensure({ ...eu, ownAddresses: { A: ["192.0.2.7"], AAAA: [] } }, signal));
  assert.deepEqual(setOf(nameServer("eu"), "A"), ["30", "192.0.2.7"]);
  assert.deepEqual(setOf(nameServer("eu"), "AAAA"), []);
  assert.equal(zone.serial, serial + 1);
});

test("a cluster that does not know its own addresses changes nothing", async () => {
  const { sim, zone, provider } = await openParent();
  const atEu = provider("eu");
  await sim.complete(atEu.ensure(eu, signal));
  const serial = zone.serial;
  await sim.complete(atEu.ensure({ ...eu, ownAddresses: { A: [], AAAA: [] } }, signal));
  assert.equal(zone.serial, serial);
});

test("D-10: a parent that cannot be read is an error, and nothing is written in that round", async () => {
  const { sim, zone, provider } = await openParent();
  const atEu = provider("eu");
  await sim.complete(atEu.ensure(eu, signal));
  const serial = zone.serial;
  sim.partition("eu", "parent");
  for (const act of [(): Promise<unknown> => atEu.ensure(us, signal), () => atEu.withdraw(eu, signal)])
    await assert.rejects(
      sim.complete(act()),
      /cannot read \S+ (NS|A|AAAA) of parent zone example\.com: no reply/,
    );
  sim.heal();
  assert.equal(zone.serial, serial);
  await sim.complete(atEu.ensure(eu, signal));
  assert.equal(zone.serial, serial);
});

test("D-13: a parent that tells a cluster nothing still takes its records in and out, and only its own", async () => {
  const { sim, zone, setOf, provider, client } = await openParent();
  const atEu = provider("eu", { dnsClient: client("eu", { blind: true }) });
  const atUs = provider("us");
  await sim.complete(atUs.ensure(us, signal));
  await sim.complete(atEu.ensure(eu, signal));
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("eu", "us")]);
  const serial = zone.serial;
  await sim.complete(atEu.ensure(eu, signal));
  assert.equal(zone.serial, serial, "an update of what is there changes nothing");
  await sim.complete(atEu.ensure({ ...eu, ownAddresses: { A: ["192.0.2.7"], AAAA: [] } }, signal));
  assert.deepEqual(
    [setOf(nameServer("eu"), "A"), setOf(nameServer("eu"), "AAAA")],
    [["30", "192.0.2.7"], []],
  );
  await assert.rejects(atEu.members(eu, signal), /does not tell whom it delegates/);
  await sim.complete(atEu.withdraw(eu, signal));
  assert.deepEqual([setOf(child, "NS"), setOf(nameServer("eu"), "A")], [["30", ...nsSet("us")], []]);
});

test("a zone inside of another that the parent delegates gets the addresses by which its clusters find each other", async () => {
  const { sim, zone, setOf, provider } = await openParent();
  const atEu = provider("eu");
  await sim.complete(atEu.ensure(eu, signal));
  const ownNameServer = "gslb-ns-eu-deep-cloud.example.com";
  const inner = { ...eu, loadBalancedZone: `deep.${child}`, ownNameServer, nameServers: [ownNameServer] };
  await sim.complete(atEu.ensure(inner, signal));
  assert.deepEqual(setOf(ownNameServer, "A"), ["30", "192.0.2.1"]);
  const serial = zone.serial;
  await sim.complete(atEu.ensure(inner, signal));
  assert.equal(zone.serial, serial, "an update of what is there changes nothing");
  await sim.complete(atEu.withdraw(inner, signal));
  assert.deepEqual([setOf(ownNameServer, "A"), setOf(child, "NS")], [[], ["30", ...nsSet("eu")]]);
});

test("a server that is no server of the parent is told, and not written to", async () => {
  const { sim, provider } = await openParent();
  await assert.rejects(
    sim.complete(provider("eu").ensure({ ...eu, parentZone: "example.org" }, signal)),
    /parent zone example\.org/,
  );
});

const refusals: readonly {
  readonly name: string;
  readonly records?: string;
  readonly key?: string;
  readonly says: RegExp;
}[] = [
  {
    name: "a key without rights",
    key: "other",
    says: /cannot change parent zone example\.com by key other: 10\.0\.0\.53:53 refuses; let it change NS of cloud/,
  },
  { name: "an unknown key", key: "stranger", says: /BADKEY/ },
  { name: "a CNAME at the zone", records: "cloud CNAME elsewhere.example.org.", says: /has a CNAME at/ },
  {
    name: "a CNAME at the name server",
    records: "gslb-ns-eu-cloud CNAME elsewhere.example.org.",
    says: /has a CNAME at/,
  },
];
for (const { name, records, key = "k", says } of refusals) {
  test(`refused with a word on what to do: ${name}`, async () => {
    const { sim, provider } = await openParent(records === undefined ? {} : { records });
    const atEu = provider("eu", { keys: { keyFor: () => Promise.resolve(keyOf(key)) } });
    await assert.rejects(sim.complete(atEu.ensure(eu, signal)), (error: Error) => {
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /MDEyMzQ1/, "no secret is told");
      return true;
    });
  });
}

test("a server of both zones, which answers by the child's own NS set, is not taken for having the delegation", async () => {
  const { sim, setOf, provider, serve } = await openParent();
  serve(`$ORIGIN ${child}.\n$TTL 5\n@ SOA ns h 1 1 1 1 1\n@ NS ${nameServer("eu")}.\n`);
  const atEu = provider("eu");
  await sim.complete(atEu.ensure(eu, signal));
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("eu")]);
  await sim.complete(atEu.withdraw(eu, signal));
  assert.deepEqual([setOf(child, "NS"), setOf(nameServer("eu"), "A")], [[], []]);
});

test("the primary is found by the SOA of the parent zone, or by a host name", async () => {
  const { sim, setOf, provider } = await openParent();
  await sim.complete(provider("eu", { servers: [] }).ensure(eu, signal));
  await sim.complete(provider("us", { servers: [{ host: "ns.example.com", port: 53 }] }).ensure(us, signal));
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("eu", "us")]);
});

test("a primary that is down is passed over for the next", async () => {
  const { sim, setOf, provider } = await openParent();
  const servers = ["10.0.9.9", "10.0.0.53"].map((host) => ({ host, port: 53 }));
  await sim.complete(provider("eu", { servers }).ensure(eu, signal));
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("eu")]);
});

test("the TTL that two clusters want different settles, and both are at rest", async () => {
  const { sim, zone, setOf, provider } = await openParent();
  const [atEu, atUs] = [provider("eu"), provider("us")];
  const slow = { ...us, ttlSeconds: 300 };
  await sim.complete(atUs.ensure(slow, signal));
  await sim.complete(atEu.ensure(eu, signal));
  for (let round = 0; round < 2; round++)
    for (const act of [() => atEu.ensure(eu, signal), () => atUs.ensure(slow, signal)])
      await sim.complete(act());
  assert.deepEqual(setOf(child, "NS"), ["30", ...nsSet("eu", "us")]);
  const serial = zone.serial;
  await sim.complete(atEu.ensure(eu, signal));
  await sim.complete(atUs.ensure(slow, signal));
  assert.equal(zone.serial, serial);
});

const keyText = (name: string): string =>
  `key "${name}" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };`;

test("D-13: each parent zone has a key of its own, from a file that is read anew and from Secrets", async () => {
  const logged: string[] = [];
  const log = { error: (message: string) => void logged.push(message), warn() {}, info() {}, debug() {} };
  let text: string | undefined = keyText("a");
  const keys = new UpdateKeys(
    { log: { ...log, child: () => log as never } },
    {
      config: {
        keyFile: "/keys/update.key",
        keyNames: new Map([["example.org", "b"]]),
        unsigned: false,
      },
      openFile: (path) => ({
        path,
        stamp: () => Promise.resolve(text),
        read: () => Promise.resolve(new TextEncoder().encode(text)),
      }),
    },
  );
  assert.equal((await keys.keyFor("example.com"))?.name, "a");
  await assert.rejects(keys.keyFor("Example.org."), /there is no key b for parent zone Example.org./);
  keys.setSecretKeys([keyOf("b")]);
  assert.equal((await keys.keyFor("Example.org."))?.name, "b");
  await assert.rejects(keys.keyFor("example.com"), /there are the keys a, b; say in MERIDIAN_RFC2136_KEYS/);
  keys.setSecretKeys([]);
  text = "key half";
  for (let round = 0; round < 2; round++)
    assert.equal((await keys.keyFor("example.com"))?.name, "a", "what cannot be read leaves what was");
  text = keyText("c");
  assert.equal((await keys.keyFor("example.com"))?.name, "c");
  assert.deepEqual(logged, ["the key file of updates cannot be used"]);
});
