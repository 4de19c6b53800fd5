import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseTsigKeyFile, ZoneTransferClient } from "@meridian/dns";
import { nodeRuntime } from "@meridian/runtime/node";
import { silentLogger } from "@meridian/runtime";
import type { FleetFile } from "./fleet/fleet-file.ts";
import { clusterClient } from "./fleet/open-fleet.ts";

const main = fileURLToPath(new URL("./main.js", import.meta.url));
const root = await mkdtemp(join(tmpdir(), "meridian-up-"));
const runtime = nodeRuntime({ dataFolder: root, log: silentLogger });
const linux = process.platform === "linux";
/** Both, in turn: of a fleet that is asked as a whole, one cluster answers by threads and the next by its main thread. */
const datapaths = linux ? "mmsg,dgram" : "dgram";
after(() => rm(root, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly printed: string;
}

/** A `meridian up` under test. */
class Up {
  readonly folder: string;
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  printed = "";

  constructor(folder: string, args: readonly string[] = []) {
    this.folder = folder;
    this.process = spawn(process.execPath, [main, "up", "--data", folder, "--datapath", datapaths, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process.stdout?.on("data", (chunk: Buffer) => (this.printed += chunk.toString()));
    this.process.stderr?.on("data", (chunk: Buffer) => (this.printed += chunk.toString()));
    this.ended = new Promise((resolve) =>
      this.process.on("close", (code) => resolve({ code, printed: this.printed })),
    );
  }

  async ready(): Promise<FleetFile> {
    return eventually("fleet.json", async () => {
      assert.equal(this.process.exitCode, null, this.printed);
      const fleet = await this.file();
      assert.equal(fleet.pid, this.process.pid, "a file of an earlier one");
      return fleet;
    });
  }

  async file(): Promise<FleetFile> {
    return JSON.parse(await readFile(join(this.folder, "fleet.json"), "utf8")) as FleetFile;
  }

  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<Ended> {
    this.process.kill(signal);
    return this.ended;
  }
}

/** Repeats a check until it holds, for at most 60 s, and returns what it returned. */
async function eventually<T>(what: string, check: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await check();
    } catch (error) {
      if (attempt > 600) throw new Error(`never came true: ${what}`, { cause: error });
      await sleep(100);
    }
  }
}

function meridian(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, printed: stdout + stderr });
    });
  });
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function pidsOf(fleet: FleetFile): readonly number[] {
  return [fleet.parent.pid, ...fleet.clusters.map((cluster) => cluster.pid)];
}

async function allGone(pids: readonly number[]): Promise<void> {
  await eventually("all processes are gone", async () => assert.deepEqual(pids.filter(alive), []));
}

describe("a running fleet", () => {
  let up: Up;
  let fleet: FleetFile;
  before(async () => {
    up = new Up(join(root, "first"));
    fleet = await up.ready();
  });
  after(async () => {
    await up.stop("SIGKILL");
  });

  test("tells where everything is, and what to try", async () => {
    assert.deepEqual(
      fleet.clusters.map(({ name, geoTag }) => `${name} ${geoTag}`),
      ["eu eu", "us us", "za za"],
    );
    await eventually("the report", async () => assert.match(up.printed, /demo failover/));
    const addresses = new Set(fleet.clusters.map((cluster) => cluster.dns.address));
    if (linux) assert.equal(addresses.size, 3);
    for (const { kubeconfig } of fleet.clusters) assert.equal((await stat(kubeconfig)).mode & 0o077, 0);
    assert.equal((await stat(up.folder)).mode & 0o077, 0);
  });

  test("D52: tells metrics and health of each cluster in the clear", async () => {
    for (const { metrics, geoTag } of fleet.clusters) {
      const text = await (await fetch(metrics)).text();
      assert.match(
        text,
        new RegExp(`^k8gb_gslb_healthy_local_records\\{.*name="roundrobin",geotag="${geoTag}"\\} 2$`, "m"),
      );
      assert.match(text, /^meridian_peer_up\{.*\} 1$/m);
      for (const path of ["/healthz", "/readyz"])
        assert.equal((await fetch(new URL(path, metrics))).status, 200);
    }
  });

  test("O-03: answers to status, explain and demo failover", async () => {
    const status = await meridian(["status", "--data", up.folder]);
    assert.equal(status.code, 0, status.printed);
    assert.match(status.printed, /za +\d+ +\S+ answers +\S+ ready/);

    const explained = await meridian([
      "explain",
      "failover.cloud.example.com",
      "--data",
      up.folder,
      "--output",
      "json",
    ]);
    assert.equal(explained.code, 0, explained.printed);
    const { clusters } = JSON.parse(explained.printed) as {
      clusters: { explanation: { decision: { picked: string[] } } }[];
    };
    assert.deepEqual(
      clusters.map(({ explanation }) => explanation.decision.picked),
      [["eu"], ["eu"], ["eu"]],
    );

    const forClient = await meridian(
      ["explain", "failover.cloud.example.com", "--data", up.folder].concat([
        ...["--client", "192.0.2.77", "--type", "A"],
      ]),
    );
    assert.match(forClient.printed, /eu: eu \(this cluster\) is healthy and is the primary/);
    assert.match(forClient.printed, /us: us answered with targets, but the primary eu serves/);
    assert.match(forClient.printed, /^ {2}for 192\.0\.2\.77 +A 192\.0\.2\.1 192\.0\.2\.2$/m);

    const unknown = await meridian(["explain", "nosuch.cloud.example.com", "--data", up.folder]);
    assert.equal(unknown.code, 1, unknown.printed);
    assert.match(
      unknown.printed,
      /no cluster knows nosuch\.cloud\.example\.com; those that they know: .*failover\.cloud\.example\.com/,
    );

    const demo = await meridian(["demo", "failover", "--data", up.folder]);
    assert.equal(demo.code, 0, demo.printed);
    for (const name of ["eu", "us", "za"])
      assert.match(demo.printed, new RegExp(`ms ${name} answers 198\\.51\\.100\\.1`));
  });

  test("has clusters that copy each other's views by a key of their own, and give them to nobody else", async () => {
    const keyFile = await readFile(join(up.folder, "peers.key"), "utf8");
    assert.equal((await stat(join(up.folder, "peers.key"))).mode & 0o077, 0);
    const [key] = parseTsigKeyFile(keyFile);
    assert.equal(key?.name, "meridian-peers");
    await eventually("all have copied the views of all others", async () => {
      const { printed } = await meridian(["explain", "roundrobin.cloud.example.com", "--data", up.folder]);
      assert.equal(printed.match(/by serial \d+/g)?.length, 6, printed);
    });
    const transfers = new ZoneTransferClient(runtime);
    const zone = "_localtargets.cloud.example.com";
    for (const { name, dns } of fleet.clusters) {
      const signed = await transfers.fetchZone({ zone, primaries: [{ ...dns, key }] });
      assert.ok(signed.kind === "whole" && signed.sets.some((set) => set.type === "TXT"), name);
      const unsigned = await transfers.fetchZone({ zone, primaries: [dns] });
      assert.deepEqual(unsigned, { kind: "refused", rcode: "REFUSED" });
    }
    const secret = /secret "([^"]+)"/.exec(keyFile)![1]!;
    for (const { name } of fleet.clusters)
      assert.ok(!(await readFile(join(up.folder, name, "log"), "utf8")).includes(secret));
    assert.ok(!up.printed.includes(secret));
  });

  test("keeps its folder against a second start", async () => {
    const second = await new Up(up.folder).ended;
    assert.equal(second.code, 1);
    assert.match(second.printed, new RegExp(`in use by process ${up.process.pid} .*meridian down --data`));
  });

  test("leaves room for a second fleet at other addresses", { skip: !linux }, async () => {
    const other = new Up(join(root, "second"), ["--clusters", "1", "--ephemeral"]);
    const second = await other.ready();
    assert.notEqual(second.clusters[0]?.dns.address, fleet.clusters[0]?.dns.address);
    assert.equal((await other.stop("SIGTERM")).code, 0);
    await allGone(pidsOf(second));
  });

  test("starts a killed cluster again, says so, and loses nothing", async () => {
    const killed = fleet.clusters[1];
    assert(killed !== undefined);
    process.kill(killed.pid, "SIGKILL");
    await eventually("another process in fleet.json", async () => {
      assert.notEqual((await up.file()).clusters[1]?.pid, killed.pid);
    });
    assert.match(up.printed, /us died \(SIGKILL\): starting again in 0\.5 s/);
    await eventually("everything answers", async () => {
      assert.equal((await meridian(["status", "--data", up.folder])).code, 0);
    });
    await using client = await clusterClient(runtime, killed);
    const type = { group: "k8gb.io", version: "v1beta1", plural: "gslbs", kind: "Gslb", namespaced: true };
    assert.equal((await client.list(type)).items.length, 4);
  });

  test("ends at meridian down, and finds its data and addresses again", async () => {
    const token = await readFile(join(up.folder, "eu", "token"), "utf8");
    const peerKey = await readFile(join(up.folder, "peers.key"), "utf8");
    const [eu] = fleet.clusters;
    assert(eu !== undefined);
    {
      await using client = await clusterClient(runtime, eu);
      const type = { group: "k8gb.io", version: "v1beta1", plural: "gslbs", kind: "Gslb", namespaced: true };
      const body = { spec: { strategy: { dnsTtlSeconds: 77 } } };
      await client.patch(type, { namespace: "demo", name: "geoip" }, { type: "merge", body });
    }
    const before = await up.file();
    const down = await meridian(["down", "--data", up.folder]);
    assert.equal(down.code, 0, down.printed);
    assert.equal((await up.ended).code, 0);
    await allGone(pidsOf(before));
    assert(!existsSync(join(up.folder, "fleet.json")));
    assert.equal((await meridian(["status", "--data", up.folder])).code, 1);

    up = new Up(up.folder);
    const again = await up.ready();
    assert.deepEqual(again.clusters[0]?.dns, eu.dns);
    assert.equal(await readFile(join(up.folder, "eu", "token"), "utf8"), token);
    assert.equal(await readFile(join(up.folder, "peers.key"), "utf8"), peerKey);
    await using client = await clusterClient(runtime, eu);
    const type = { group: "k8gb.io", version: "v1beta1", plural: "gslbs", kind: "Gslb", namespaced: true };
    const kept = await client.get(type, { namespace: "demo", name: "geoip" });
    assert.equal(
      (kept as unknown as { spec: { strategy: { dnsTtlSeconds: number } } }).spec.strategy.dnsTtlSeconds,
      77,
    );
  });

  test("leaves no process behind when it is killed itself, and starts again at once", async () => {
    const before = await up.file();
    await up.stop("SIGKILL");
    // At once, while the processes of the killed one are still ending.
    up = new Up(up.folder);
    const fleet = await up.ready();
    assert.deepEqual(pidsOf(before).filter(alive), []);
    assert.deepEqual(fleet.clusters[0]?.dns, before.clusters[0]?.dns);
    await up.stop("SIGKILL");
    await allGone(pidsOf(fleet));
  });
});

test("with --no-restart a killed cluster stays down until it is told to start", async () => {
  const up = new Up(join(root, "no-restart"), ["--clusters", "2", "--no-restart", "--ephemeral"]);
  try {
    const [eu] = (await up.ready()).clusters;
    assert(eu !== undefined);
    process.kill(eu.pid, "SIGKILL");
    await eventually("the death is reported", async () =>
      assert.match(up.printed, /eu died \(SIGKILL\): stays down until/),
    );
    const status = await meridian(["status", "--data", up.folder]);
    assert.equal(status.code, 1);
    assert.match(status.printed, /eu +\d+ \(gone\)/);
    const explained = await meridian(["explain", "roundrobin.cloud.example.com", "--data", up.folder]);
    assert.equal(explained.code, 1);
    assert.match(explained.printed, /cluster eu\n +operator +cannot be asked/);
    assert.equal((await meridian(["start", "--data", up.folder])).code, 0);
    await eventually("it is up again", async () => {
      assert.equal((await meridian(["status", "--data", up.folder])).code, 0);
    });

    const again = (await up.file()).clusters[0]?.pid ?? 0;
    process.kill(again, "SIGKILL");
    up.process.kill("SIGHUP"); // perhaps before the death is known
    await eventually("it is up once more", async () =>
      assert.notEqual((await up.file()).clusters[0]?.pid, again),
    );
  } finally {
    await up.stop();
  }
});

test("with a single address every server has its own port, and the clusters still find each other", async () => {
  const up = new Up(join(root, "single"), ["--single-address", "--clusters", "2", "--ephemeral"]);
  try {
    const fleet = await up.ready();
    const servers = [fleet.parent.dns, ...fleet.clusters.map((cluster) => cluster.dns)];
    assert(servers.every(({ address }) => address === "127.0.0.1"));
    assert.equal(new Set(servers.map(({ port }) => port)).size, 3);
    await eventually("the hint", async () =>
      assert.match(up.printed, /resolving through the parent needs Linux/),
    );
    const explained = await meridian(["explain", "roundrobin.cloud.example.com", "--data", up.folder]);
    assert.match(explained.printed, /decision +eu, us: 192\.0\.2\.1/);
  } finally {
    assert.equal((await up.stop()).code, 0);
  }
});

test("a port that is taken everywhere is named, and nothing is left running", async () => {
  const holder = createSocket("udp4");
  await new Promise<void>((resolve) => holder.bind(0, "0.0.0.0", resolve));
  const { port } = holder.address();
  try {
    const ended = await new Up(join(root, "taken"), ["--port", String(port)]).ended;
    assert.equal(ended.code, 1);
    assert.match(ended.printed, new RegExp(`:${port}/udp is taken.*--port`));
    assert(!existsSync(join(root, "taken", "fleet.json")));
    assert(!existsSync(join(root, "taken", "lock")));
  } finally {
    holder.close();
  }
});

test("interrupted while starting it stops what it has started", async () => {
  const up = new Up(join(root, "interrupted"), ["--ephemeral"]);
  await eventually("it starts", async () => assert.match(up.printed, /Starting 3 clusters/));
  const ended = await up.stop("SIGTERM");
  assert.equal(ended.code, 130, ended.printed);
  const left = await new Promise<string>((resolve) => {
    execFile("pgrep", ["-P", String(up.process.pid)], (_error, stdout) => resolve(stdout));
  });
  assert.equal(left, "");
});

test("an old Node is refused before anything is loaded", async () => {
  const old = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'18.20.0'}})";
  const ended = await new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, ["--import", old, main, "up"], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, printed: stdout + stderr });
    });
  });
  assert.equal(ended.code, 1);
  assert.match(ended.printed, /needs Node 20\.19 or newer, and this is 18\.20\.0/);
});
