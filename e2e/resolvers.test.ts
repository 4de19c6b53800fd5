import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { deploy, exposedAddress, setReady } from "./harness/application.ts";
import { installed, output } from "./harness/command.ts";
import { dig } from "./harness/dig.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";
import { enterNamespace } from "./harness/namespace.ts";
import { namedConfig, unboundConfig } from "./harness/resolver-config.ts";

// Real resolvers, told only where the parent zone is, follow the delegation to the clusters: all on port 53.

const eu = exposedAddress["eu"]!;
const us = exposedAddress["us"]!;
const za = exposedAddress["za"]!;
const app = { name: "resolved", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const host = "resolved.cloud.example.com";

interface Resolver {
  readonly command: string;
  readonly address: string;
  /** Writes the configuration and returns the arguments that run it in the foreground. */
  configure(folder: string, parent: string): Promise<readonly string[]>;
}

const resolvers: readonly Resolver[] = [
  {
    command: "unbound",
    address: "127.0.99.1",
    async configure(folder, parent) {
      const file = path.join(folder, "unbound.conf");
      const settings = ['module-config: "iterator"', "cache-max-negative-ttl: 1"];
      await writeFile(
        file,
        unboundConfig(
          { folder, address: this.address, port: 53 },
          { zone: "example.com", server: parent, settings },
        ),
      );
      return ["-d", "-c", file];
    },
  },
  {
    command: "named",
    address: "127.0.99.2",
    async configure(folder, parent) {
      await output("ip", ["address", "add", `${this.address}/32`, "dev", "lo"]); // named listens on known addresses only
      const file = path.join(folder, "named.conf");
      const config = namedConfig(
        { folder, address: this.address, port: 53 },
        {
          settings: ["dnssec-validation no; max-ncache-ttl 1;"],
          statements: [`zone "example.com" { type static-stub; server-addresses { ${parent}; }; };`],
        },
      );
      await writeFile(file, config);
      return ["-g", "-c", file];
    },
  },
];

if (await enterNamespace()) {
  let fleet: Fleet;
  const folders: string[] = [];

  before(async () => {
    fleet = await Fleet.start({ args: ["--ephemeral", "--no-examples", "--port", "53"] });
    await deploy(fleet, app);
    await fleet.answers(host, [eu, us, za]);
  });
  after(async () => {
    await fleet.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });

  test("the parent refers to all three clusters with glue", async () => {
    const referral = await fleet.dig("parent", host);
    assert.equal(referral.status, "NOERROR");
    assert.ok(!referral.flags.includes("aa"));
    assert.deepEqual(referral.answer, []);
    const targets = referral.authority.map((line) => line.split(/\s+/)[4]).toSorted();
    assert.deepEqual(
      targets,
      ["eu", "us", "za"].map((tag) => `gslb-ns-${tag}-cloud.example.com.`),
    );
    const file = await fleet.file();
    const glue = referral.additional.map((line) => line.split(/\s+/)[4]).toSorted();
    assert.deepEqual(glue, file.clusters.map((cluster) => cluster.dns.address).toSorted());
  });

  test("D7, D8: each cluster's apex NS set is the parent's, with AA, and the parent gives its addresses", async () => {
    const wanted = ["eu", "us", "za"].map((tag) => `gslb-ns-${tag}-cloud.example.com.`);
    for (const cluster of ["eu", "us", "za"]) {
      const answer = await fleet.dig(cluster, "cloud.example.com", { type: "NS" });
      assert.ok(answer.flags.includes("aa"));
      assert.deepEqual(answer.answer.map((line) => line.split(/\s+/)[4]).toSorted(), wanted);
    }
    for (const name of wanted) {
      const answer = await fleet.dig("parent", name);
      assert.ok(answer.flags.includes("aa"));
      assert.equal(answer.addresses.length, 1);
    }
  });

  for (const resolver of resolvers) {
    test(`${resolver.command} resolves through the parent, negative answers, the apex and a failover included`, async (t) => {
      if (!(await installed(resolver.command))) {
        assert.notEqual(process.env["CI"], "true", `${resolver.command} is not installed`);
        t.skip(`${resolver.command} is not installed`);
        return;
      }
      const folder = await mkdtemp(path.join(tmpdir(), "meridian-resolver-"));
      folders.push(folder);
      const { parent } = await fleet.file();
      const args = await resolver.configure(folder, parent.dns.address);
      const child = spawn(resolver.command, args, { stdio: ["ignore", "pipe", "pipe"] });
      let printed = "";
      child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      const ask = (name: string, type: string): ReturnType<typeof dig> =>
        dig({ server: resolver.address, port: 53, name, type, options: ["+recurse", "+time=5"] });
      try {
        await eventually(`${resolver.command} resolves`, async () => {
          assert.deepEqual((await ask(host, "A")).addresses, [eu, us, za].toSorted());
        });
        const negative = await ask(host, "AAAA");
        assert.equal(negative.status, "NOERROR");
        assert.equal((await ask("nosuch.cloud.example.com", "A")).status, "NXDOMAIN");
        const apex = await ask("cloud.example.com", "NS");
        assert.equal(apex.status, "NOERROR", "the apex NS set resolves, so that the resolver keeps the zone");
        assert.equal(apex.answer.length, 3);
        await eventually("names still resolve after the apex was asked", async () => {
          assert.deepEqual((await ask(host, "A")).addresses, [eu, us, za].toSorted());
        });
        await setReady(fleet, "eu", { ...app, ready: false });
        await eventually("the resolver answers without eu", async () => {
          assert.deepEqual((await ask(host, "A")).addresses, [us, za].toSorted());
        });
        await setReady(fleet, "eu", { ...app, ready: true });
        await eventually("the resolver answers with eu again", async () => {
          assert.deepEqual((await ask(host, "A")).addresses, [eu, us, za].toSorted());
        });
      } catch (error) {
        throw new Error(`${resolver.command} printed:\n${printed.slice(-4000)}`, { cause: error });
      } finally {
        const closed = new Promise((resolve) => child.on("close", resolve));
        child.kill("SIGTERM");
        await closed;
      }
    });
  }

  test("dig +trace style: the answer of a referred server is authoritative", async () => {
    for (const cluster of ["eu", "us", "za"]) {
      const answer = await fleet.dig(cluster, host);
      assert.ok(answer.flags.includes("aa"));
      assert.match(
        await output("dig", ["+short", "+tcp", `@${(await fleet.cluster(cluster)).dns.address}`, host]),
        /192\.0\.2\.11/,
      );
    }
  });
}
