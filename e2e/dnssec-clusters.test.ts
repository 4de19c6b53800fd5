import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { dsToText, keyFromFiles, type Message } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer } from "../test/conformance/child-server.ts";
import { DnsExchange } from "../test/conformance/dns-exchange.ts";
import { deploy, exposedAddress } from "./harness/application.ts";
import { output } from "./harness/command.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet, meridianMain } from "./harness/fleet.ts";
import { cut, enterNamespace, heal } from "./harness/namespace.ts";
import { validatingResolvers } from "./harness/validating-resolvers.ts";
import { withCommands } from "./harness/with-commands.ts";

// Three clusters of `meridian up`, each with a signing key of its own in a Secret, and validating resolvers that ask them.

const zone = "cloud.example.com";
const app = { name: "signed", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const host = `signed.${zone}`;
const clusters = ["eu", "us", "za"];
const needed = ["kubectl", "unbound", "named", "dig"];

if (await enterNamespace()) await withCommands(needed, { subject: "signed clusters", define });

function define(): void {
  let fleet: Fleet;
  let folder: string;
  const ds: string[] = [];
  const resolverCommands: (readonly string[])[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "meridian-signed-"));
    fleet = await Fleet.start({
      args: ["--no-examples", "--no-restart", "--port", "53"],
      env: { RECONCILE_REQUEUE_SECONDS: "2" },
    });
    await deploy(fleet, app);
    // They ask each other for their keys by the TSIG key that the clusters of a playground share.
    for (const cluster of clusters)
      await keep(cluster, { name: "zone-key", kind: "dnssec", entries: await makeKey() });
    await fleet.answers(host, Object.values(exposedAddress));
    const { parent } = await fleet.file();
    for (const resolver of validatingResolvers) {
      const own = path.join(folder, resolver.command);
      await mkdir(own);
      const args = await resolver.configure(own, {
        ...{ zone: "example.com", server: parent.dns.address },
        anchor: { zone, ds },
      });
      resolverCommands.push([resolver.command, ...args]);
    }
  });
  after(async () => {
    await fleet.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A key pair as entries of a Secret; its DS record goes to what resolvers trust. */
  async function makeKey(): Promise<Record<string, string>> {
    const args = [meridianMain, "dns", "keygen", "--zone", zone, "--folder", folder];
    const base = (await output(process.execPath, args)).trim();
    const publicText = await readFile(`${base}.key`, "utf8");
    const privateText = await readFile(`${base}.private`, "utf8");
    ds.push(dsToText(zone, keyFromFiles(zone, { publicText, privateText })));
    return { "zone.key": publicText, "zone.private": privateText };
  }

  async function keep(
    cluster: string,
    secret: { readonly name: string; readonly kind: string; readonly entries: Record<string, string> },
  ): Promise<void> {
    const metadata = { name: secret.name, namespace: "k8gb", labels: { "meridian/dns-keys": secret.kind } };
    const object = { apiVersion: "v1", kind: "Secret", metadata, stringData: secret.entries };
    await fleet.apply(JSON.stringify(object), [cluster]);
  }

  async function keysAt(cluster: string): Promise<number> {
    const { answer, raw } = await fleet.dig(cluster, zone, { type: "DNSKEY" });
    assert.ok(answer.length > 0, raw);
    return answer.length;
  }

  /** Asks resolvers with empty caches for many names, each answered by one cluster or another. */
  async function askFreshResolvers(): Promise<void> {
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    for (const [index, command] of resolverCommands.entries()) {
      await using resolver = await ChildServer.start(command, /start of service| running\n/);
      await using exchange = new DnsExchange(runtime, {
        address: validatingResolvers[index]!.address,
        port: 53,
      });
      const ask = (name: string): Promise<Message> =>
        exchange.overUdp({
          recursionDesired: true,
          questions: [{ name, type: "A", class: 1 }],
          edns: { payloadSize: 4096, version: 0, dnssecOk: true, options: [] },
        });
      for (let count = 0; count < 100; count++) {
        const name = count % 2 === 0 ? `n${count}.${zone}` : host;
        const reply = await ask(name);
        assert.notEqual(reply.rcode, 2, `${command[0]}: ${name} is SERVFAIL at question ${count}`);
        assert.equal(reply.authenticData, true, `${command[0]}: ${name} was validated`);
      }
      assert.ok(resolver.running);
    }
  }

  test("every cluster publishes the keys of all, and every answer is validated", async () => {
    for (const cluster of clusters)
      await eventually(`${cluster} has the keys of all`, async () => assert.equal(await keysAt(cluster), 3));
    await askFreshResolvers();
  });

  test("a cluster that restarts while it cannot reach another publishes that one's keys, and no answer fails", async () => {
    const [eu, us, za] = await Promise.all(
      clusters.map(async (name) => (await fleet.cluster(name)).dns.address),
    );
    await cut([
      [us!, eu!],
      [us!, za!],
    ]);
    const { pid } = await fleet.cluster("eu");
    process.kill(pid, "SIGKILL");
    await eventually("eu is gone", () => assert.throws(() => process.kill(pid, 0)));
    fleet.startStopped();
    const first = await eventually("eu answers with its key set", () => keysAt("eu"), { everyMs: 5 });
    assert.equal(first, 3, "the first set that it answers with is whole");
    await askFreshResolvers();
    assert.equal(await keysAt("eu"), 3);
    await heal();
  });
}
