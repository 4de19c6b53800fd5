import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import {
  DnsClient,
  dnskeyOf,
  dsToText,
  generateKey,
  introduceKey,
  KeyExchange,
  keyState,
  keyTagOf,
  type ForeignKey,
  type KeyQuestion,
  type KeyState,
  type Message,
  type SigningKey,
} from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer } from "../test/conformance/child-server.ts";
import { datapaths } from "../test/conformance/datapath.ts";
import { DnsExchange } from "../test/conformance/dns-exchange.ts";
import { eventually } from "./harness/eventually.ts";
import { enterNamespace } from "./harness/namespace.ts";
import { SignedCluster } from "./harness/signed-cluster.ts";
import { SignedParent } from "./harness/signed-parent.ts";
import { validatingResolvers } from "./harness/validating-resolvers.ts";
import { withCommands } from "./harness/with-commands.ts";

// Three clusters answer one signed zone behind one delegation of a signed parent, and real validating resolvers ask them.

const parentZone = "example.test";
/** Each cluster has keys of its own, and publishes those of all (RFC 8901 model 2). */
const ownKeysZone = `cloud.${parentZone}`;
/** All clusters have the same keys. */
const sharedKeysZone = `shared.${parentZone}`;
/** Its DS in the parent is of another key. */
const brokenZone = `broken.${parentZone}`;
const needed = ["unbound", "named", "dnssec-cds", "dnssec-signzone", "dig"];
const delays = { dnskeyTtl: 2, recordTtlMax: 4, dsTtl: 1, propagation: 1 };

const clusters = [
  { name: `ns-eu.${parentZone}`, address: "127.0.97.1" },
  { name: `ns-us.${parentZone}`, address: "127.0.97.2" },
  { name: `ns-za.${parentZone}`, address: "127.0.97.3" },
];
const childServer = { name: `ns-child.${parentZone}`, address: "127.0.97.9" };
const parentAddress = "127.0.97.53";

const soa = (origin: string): string =>
  `$ORIGIN ${origin}.\n$TTL 1\n@ SOA ns-eu.${parentZone}. host 1 3600 600 86400 1\n`;
const nameServers = clusters.map(({ name }) => `@ NS ${name}.\n`).join("");
const zoneText = (origin: string): string => `${soa(origin)}${nameServers}
www A 192.0.2.1
www A 192.0.2.2
www A 192.0.2.3
alias CNAME www
far CNAME www.${sharedKeysZone}.
dangling CNAME nothing
*.wild A 192.0.2.9
*.wild TXT "wild"
deep.ent A 192.0.2.10
old DNAME ent
long TXT ${Array.from({ length: 12 }, (_, index) => `"${String(index % 10).repeat(200)}"`).join(" ")}
srv SRV 1 2 443 www
plain NS ${childServer.name}.
signed NS ${childServer.name}.
`;
const childText = (origin: string): string => `${soa(origin)}@ NS ${childServer.name}.\nwww A 192.0.2.20\n`;

if (await enterNamespace()) await withCommands(needed, { subject: "DNSSEC", define });

function define(): void {
  const running: AsyncDisposable[] = [];
  let folder: string;
  let parent: SignedParent;
  let servers: readonly SignedCluster[];
  let exchanges: readonly KeyExchange[];
  const resolvers: DnsExchange[] = [];
  const names = validatingResolvers.map(({ command }) => command);
  let asked = 0;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "meridian-dnssec-"));
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    const key = (secureEntryPoint: boolean): SigningKey =>
      generateKey(runtime.random, { secureEntryPoint, times: { publish: 0, activate: 0 } });
    // One cluster with a CSK, two with KSK and ZSK: they need not agree.
    const own = [[key(true)], [key(true), key(false)], [key(true), key(false)]];
    const shared = { own: [key(true), key(false)], foreign: [] };
    const broken = { own: [key(true)], foreign: [] };
    const child = { own: [key(true)], foreign: [] };
    const childDs = dsToText(`signed.${ownKeysZone}`, child.own[0]!);
    servers = await Promise.all(
      clusters.map(({ address }, index) => {
        const others = own.filter((_, other) => other !== index).flat();
        // Every other one answers by threads: resolvers meet both datapaths, in one zone.
        const datapath = datapaths[index % datapaths.length]!;
        return SignedCluster.start(runtime, { address, datapath }, [
          {
            text: `${zoneText(ownKeysZone)}signed DS ${childDs}\n`,
            keys: { own: own[index]!, foreign: others.map(foreignOf) },
          },
          { text: zoneText(sharedKeysZone), keys: shared },
          { text: zoneText(brokenZone), keys: broken },
        ]);
      }),
    );
    const children = await SignedCluster.start(runtime, { address: childServer.address, datapath: "dgram" }, [
      { text: childText(`plain.${ownKeysZone}`) },
      { text: childText(`signed.${ownKeysZone}`), keys: child },
    ]);
    const entryPoints = own.flat().filter(({ secureEntryPoint }) => secureEntryPoint);
    await mkdir(path.join(folder, "parent"));
    parent = await SignedParent.start({
      zone: parentZone,
      address: parentAddress,
      folder: path.join(folder, "parent"),
      delegations: [
        ...[ownKeysZone, sharedKeysZone, brokenZone].map((zone) => ({ zone, servers: clusters })),
        { zone: `nobody.${parentZone}`, servers: [childServer] },
      ],
      ds: new Map([
        [ownKeysZone, entryPoints.map((one) => dsToText(ownKeysZone, one))],
        [sharedKeysZone, [dsToText(sharedKeysZone, shared.own[0]!)]],
        [brokenZone, [dsToText(brokenZone, shared.own[0]!)]],
      ]),
    });
    for (const resolver of validatingResolvers) {
      const own = path.join(folder, resolver.command);
      await mkdir(own);
      const args = await resolver.configure(own, {
        ...{ zone: parentZone, server: parentAddress },
        anchor: { zone: parentZone, ds: [parent.ds] },
      });
      running.push(await ChildServer.start([resolver.command, ...args], /start of service| running\n/));
      resolvers.push(new DnsExchange(runtime, { address: resolver.address, port: 53 }));
    }
    const client = new DnsClient(runtime);
    const question = (address: string): KeyQuestion => ({
      servers: [{ address, port: 53 }],
      deadlineMs: 5_000,
    });
    exchanges = servers.map(
      (server) =>
        new KeyExchange({
          clock: runtime.clock,
          client,
          zoneKeys: server.keysOf(ownKeysZone),
          ownKeysLabel: "_own-dnskey",
          peers: () =>
            new Map(
              servers.flatMap((other) =>
                other === server ? [] : [[other.address, question(other.address)]],
              ),
            ),
          parent: () => question(parentAddress),
          delays,
          persist: () => Promise.resolve(),
        }),
    );
    running.push(client, parent, children, ...servers, ...resolvers);
  });
  after(async () => {
    for (const one of running) await one[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** What every resolver says to a question, which must be validated unless `insecure`. */
  async function ask(name: string, type: string, insecure = false): Promise<readonly Message[]> {
    const replies = await Promise.all(
      resolvers.map((resolver) =>
        resolver.overUdp({
          recursionDesired: true,
          questions: [{ name, type, class: 1 }],
          edns: { payloadSize: 4096, version: 0, dnssecOk: true, options: [] },
        }),
      ),
    );
    asked += replies.length;
    for (const [index, reply] of replies.entries()) {
      assert.equal(reply.rcode, 0, `${names[index]}: ${name} ${type} has rcode ${reply.rcode}`);
      assert.equal(reply.authenticData, !insecure, `${names[index]}: ${name} ${type} validated`);
    }
    return replies;
  }

  /** One of each kind of question about a zone, under names that no cache has. */
  async function askAll(zone: string): Promise<void> {
    const fresh = `n${asked}`;
    const addresses = await ask(`www.${zone}`, "A");
    for (const { answers } of addresses) assert.equal(answers.filter(({ type }) => type === "A").length, 3);
    await ask(`${fresh}.wild.${zone}`, "A");
    await ask(`${fresh}.wild.${zone}`, "MX");
    await ask(`${fresh}.${zone}`, "A");
    await ask(`alias.${zone}`, "A");
    await ask(`deep.old.${zone}`, "A");
    await ask(`${zone}`, "SOA");
  }

  /** Every cluster asks the others for their keys; then the parent takes CDS from the first. */
  async function exchangeKeys(): Promise<void> {
    for (const exchange of exchanges) {
      const { unknown } = await exchange.round();
      assert.equal(unknown.size, 0, JSON.stringify([...unknown]));
    }
    await parent.takeCds(ownKeysZone, clusters[0]!.address);
  }

  /** Rolls one kind of key of one cluster over, asking all the time; which states the old and the new key were seen in. */
  async function rollOver(server: SignedCluster, secureEntryPoint: boolean): Promise<readonly string[]> {
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    const keys = server.keysOf(ownKeysZone);
    const tagOf = (key: SigningKey): number => keyTagOf(dnskeyOf(key));
    const old = keys.keys.own.find((key) => key.secureEntryPoint === secureEntryPoint)!;
    const fresh = generateKey(runtime.random, { secureEntryPoint, times: { publish: 0 } });
    const now = (): number => Math.floor(runtime.clock.now() / 1000);
    const stateOf = (key: SigningKey): KeyState => {
      const found = keys.keys.own.find((one) => tagOf(one) === tagOf(key));
      return found === undefined ? "removed" : keyState(found, now());
    };
    const seen = new Set<string>();
    keys.set(introduceKey(keys.keys, fresh, now()));
    while (stateOf(old) !== "removed") {
      seen.add(`${stateOf(old)} ${stateOf(fresh)}`);
      await askAll(ownKeysZone);
      await exchangeKeys();
    }
    await exchangeKeys();
    await askAll(ownKeysZone);
    return [...seen];
  }

  test("every kind of answer is validated, whichever of the clusters gives it", async () => {
    for (const zone of [ownKeysZone, sharedKeysZone]) {
      await eventually(`resolvers find ${zone}`, () => ask(`www.${zone}`, "A"));
      for (const [name, type] of [
        ["www", "AAAA"],
        ["WwW", "A"],
        ["ent", "A"],
        ["dangling", "A"],
        ["far", "A"],
        ["old", "DNAME"],
        ["x.old", "A"],
        ["long", "TXT"],
        ["srv", "SRV"],
        ["plain", "DS"],
        ["*.wild", "A"],
      ] as const) {
        await ask(`${name}.${zone}`, type);
      }
      for (const type of ["DNSKEY", "CDS", "CDNSKEY", "NS", "NSEC3PARAM", "DS"]) await ask(zone, type);
    }
  });

  test("several hundred answers of mixed clusters are validated, and none fails", async () => {
    const before = servers.map(({ queries }) => queries);
    for (let round = 0; round < 25; round++) {
      await askAll(ownKeysZone);
      await askAll(sharedKeysZone);
    }
    assert.ok(asked > 700, `${asked} answers`);
    for (const [index, { queries }] of servers.entries())
      assert.ok(queries > before[index]! + 20, `cluster ${index}`);
  });

  test("a delegation below the zone is secure with a DS record, and insecure without", async () => {
    await ask(`www.signed.${ownKeysZone}`, "A");
    await ask(`nx.signed.${ownKeysZone}`, "A");
    await ask(`signed.${ownKeysZone}`, "DS");
    await ask(`www.plain.${ownKeysZone}`, "A", true);
  });

  test("a zone whose DS is of another key is bogus", async () => {
    for (const [index, resolver] of resolvers.entries()) {
      const reply = await resolver.overUdp({
        recursionDesired: true,
        questions: [{ name: `www.${brokenZone}`, type: "A", class: 1 }],
      });
      assert.equal(reply.rcode, 2, names[index]);
    }
  });

  test("no answer fails while the one key of a cluster rolls over", async () => {
    const seen = await rollOver(servers[0]!, true);
    assert.deepEqual(seen, ["active published", "retired active"]);
    assert.equal(parent.dsOf(ownKeysZone).length, 3);
  });

  test("no answer fails while a zone signing key rolls over", async () => {
    const seen = await rollOver(servers[1]!, false);
    assert.deepEqual(seen, ["active published", "retired active"]);
  });

  test("no answer fails while a key signing key rolls over", async () => {
    const seen = await rollOver(servers[2]!, true);
    assert.deepEqual(seen, ["active published", "retired active"]);
    assert.equal(parent.dsOf(ownKeysZone).length, 3);
  });
}

function foreignOf(key: SigningKey): ForeignKey {
  return { dnskey: dnskeyOf(key), wantsDs: key.secureEntryPoint };
}
