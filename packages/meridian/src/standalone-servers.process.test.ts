import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { clientFromKubeconfig, Informer } from "@meridian/controller";
import { DnsClient } from "@meridian/dns";
import type { KubeObject } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { startCommand as start } from "./testdata/started-command.ts";

const main = fileURLToPath(new URL("./main.js", import.meta.url));
const root = await mkdtemp(join(tmpdir(), "meridian-alone-"));
const runtime = nodeRuntime({ dataFolder: root, log: silentLogger });
after(() => rm(root, { recursive: true, force: true }));

const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

for (const storage of ["lmdb", "memory"]) {
  test(`the API server alone keeps its objects and its token over a restart (${storage})`, async () => {
    const args = ["apiserver", "--data", join(root, storage), "--port", "0", "--storage", storage];
    const first = await start(args, /kubeconfig: (\S+)\n/);
    const kubeconfig = await readFile(first.match[1] ?? "", "utf8");
    {
      await using client = clientFromKubeconfig(runtime, kubeconfig);
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kept" } });
    }
    assert.equal(await first.stop(), 0);

    const second = await start(args, /kubeconfig: (\S+)\n/);
    const again = await readFile(second.match[1] ?? "", "utf8");
    assert.equal(/token: (\S+)/.exec(again)?.[1], /token: (\S+)/.exec(kubeconfig)?.[1]);
    await using client = clientFromKubeconfig(runtime, again);
    assert.equal((await client.get(namespaces, { name: "kept" })).metadata.name, "kept");
    assert.equal(await second.stop(), 0);
  });
}

test("an API server on any port has the same one after a crash, so that who follows it goes on with its kubeconfig", async () => {
  const args = ["apiserver", "--data", join(root, "same-port"), "--port", "0"];
  const first = await start(args, /kubeconfig: (\S+)\n/);
  assert.doesNotMatch(first.printed(), /last run/);
  const kubeconfig = await readFile(first.match[1] ?? "", "utf8");
  await using client = clientFromKubeconfig(runtime, kubeconfig);
  const informer = new Informer<KubeObject>(runtime, { client, type: namespaces });
  const stopping = new AbortController();
  const running = informer.run(stopping.signal);
  await informer.synced;
  await first.kill();

  const second = await start(args, /kubeconfig: (\S+)\n/);
  const port = /server: https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1];
  assert.ok(second.printed().includes(`port ${port} as in the last run: its kubeconfig is still right\n`));
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } });
  while (!informer.lister.has("later")) await runtime.clock.sleep(20);
  stopping.abort(new Error("the test is over"));
  await running;
  assert.equal(await second.stop(), 0);

  const other = createServer().listen(Number(port), "127.0.0.1");
  await once(other, "listening");
  const third = await start(args, /kubeconfig: (\S+)\n/);
  other.close();
  assert.ok(third.printed().includes(`port ${port} of the last run is taken: read the kubeconfig again\n`));
  await using newClient = clientFromKubeconfig(runtime, await readFile(third.match[1] ?? "", "utf8"));
  assert.equal((await newClient.get(namespaces, { name: "later" })).metadata.name, "later");
  assert.equal(await third.stop(), 0);

  await writeFile(first.match[1] ?? "", "clusters: nonsense\n");
  const fourth = await start(args, /kubeconfig: (\S+)\n/);
  assert.doesNotMatch(fourth.printed(), /last run/);
  assert.equal(await fourth.stop(), 0);
});

test("a process whose log cannot be written goes on", { skip: process.platform !== "linux" }, () => {
  const module = new URL("./pino-logger.js", import.meta.url);
  const script = `
    const { pinoLogger } = await import(${JSON.stringify(module.href)});
    const log = pinoLogger({ format: "json", level: "info" });
    for (let line = 0; line < 5000; line += 1) log.info("a line that a full disk does not take");
    console.log("still here");`;
  const full = openSync("/dev/full", "w");
  const args = ["--input-type=module", "--eval", script];
  const ended = spawnSync(process.execPath, args, { stdio: ["ignore", "pipe", full], encoding: "utf8" });
  closeSync(full);
  assert.deepEqual([ended.status, ended.stdout], [0, "still here\n"]);
});

test("the namespace controller can be switched off: a deleted namespace then stays Terminating", async () => {
  const server = await start(
    ["apiserver", "--ephemeral", "--port", "0", "--disable-controller", "namespaces"],
    /kubeconfig: (\S+)\n/,
  );
  const kubeconfig = await readFile(server.match[1] ?? "", "utf8");
  {
    await using client = clientFromKubeconfig(runtime, kubeconfig);
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "stays" } });
    await client.delete(namespaces, { name: "stays" });
    const namespace = await client.get(namespaces, { name: "stays" });
    assert.notEqual(namespace.metadata.deletionTimestamp, undefined);
    assert.deepEqual((namespace as { readonly spec?: unknown }).spec, { finalizers: ["kubernetes"] });
  }
  assert.equal(await server.stop(), 0);

  const unknown = spawn(process.execPath, [main, "apiserver", "--ephemeral", "--disable-controller", "gc"]);
  let said = "";
  unknown.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  assert.equal(await new Promise((resolve) => unknown.on("close", resolve)), 2);
  assert.match(said, /--disable-controller gc: must be one of garbage-collection, namespaces, event-expiry/);
});

test("explain wants a name, not the address line of a browser", () => {
  const args = [main, "explain", "https://app.cloud.example.com/", "--data", root];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(stderr, /HOST https:\/\/app\.cloud\.example\.com\/: must be a name alone, for example/);
});

test("an ephemeral API server takes a given token and leaves nothing behind", async () => {
  const tokenFile = join(root, "token");
  await writeFile(tokenFile, "my-token\n");
  const server = await start(
    ["apiserver", "--ephemeral", "--port", "0", "--token-file", tokenFile],
    /kubeconfig: (\S+)\n/,
  );
  const path = server.match[1] ?? "";
  assert.match(await readFile(path, "utf8"), /token: my-token/);
  assert.equal(await server.stop(), 0);
  assert(!existsSync(path));
});

for (const datapath of ["auto", "dgram"]) {
  test(`the DNS server alone serves zone files, and reads them again when it is told to (${datapath})`, async () => {
    const zoneFile = join(root, "zone");
    const zone = (address: string): string =>
      `@ 30 IN SOA ns hostmaster 1 3600 600 86400 30\n@ 30 IN NS ns\nns 30 IN A 192.0.2.1\nwww 30 IN A ${address}\n`;
    await writeFile(zoneFile, zone("192.0.2.7"));
    const args = ["dns", "--zone-file", zoneFile, "--origin", "example.org", "--listen", "127.0.0.1:0"];
    args.push("--datapath", datapath, "--workers", "2");
    const server = await start(args, /Serving example\.org at 127\.0\.0\.1:(\d+)\n/);
    const servers = [{ address: "127.0.0.1", port: Number(server.match[1]) }];
    await using client = new DnsClient(runtime);
    const ask = async (): Promise<string | undefined> => {
      const verdict = await client.query({ name: "www.example.org", type: "A", servers, deadlineMs: 2_000 });
      return verdict.state === "answered" ? verdict.records[0]?.data : undefined;
    };
    assert.equal(await ask(), "192.0.2.7");

    const until = async (says: RegExp): Promise<void> => {
      for (let waited = 0; !says.test(server.printed()); waited += 20) {
        assert(waited < 10_000, server.printed());
        await runtime.clock.sleep(20);
      }
    };
    await writeFile(zoneFile, "www 30 IN A nonsense\n");
    server.nudge();
    await until(/zone:1: \\"nonsense\\".*"msg":"kept everything as it was"/);
    assert.equal(await ask(), "192.0.2.7");

    await writeFile(zoneFile, zone("192.0.2.8"));
    server.nudge();
    await until(/read everything again/);
    assert.equal(await ask(), "192.0.2.8");
    assert.equal(await server.stop(), 0);
  });
}

/** The lines of a stream, each of which must be JSON. */
function jsonLines(text: string): readonly Record<string, unknown>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("each stream of the DNS server has one format: plain results or JSON questions, and a log of JSON lines", async () => {
  const zoneFile = join(root, "zone-of-streams");
  await writeFile(zoneFile, "@ 30 IN SOA ns host 1 3600 600 86400 30\n@ 30 IN NS ns\nns 30 IN A 192.0.2.1\n");
  const args = ["dns", "--zone-file", zoneFile, "--origin", "example.org", "--listen", "127.0.0.1:0"];
  const reload = async (server: Awaited<ReturnType<typeof start>>): Promise<void> => {
    server.nudge();
    for (let waited = 0; !/"msg":"read everything again"/.test(server.streams.log); waited += 20) {
      assert(waited < 10_000, server.printed());
      await runtime.clock.sleep(20);
    }
  };
  const plain = await start([...args, "--datapath", "dgram"], /Serving example\.org at .*\n/);
  await reload(plain);
  assert.equal(await plain.stop(), 0);
  assert.match(plain.streams.output, /^Serving example\.org at 127\.0\.0\.1:\d+\n$/);
  assert.deepEqual(
    jsonLines(plain.streams.log).map(({ msg }) => msg),
    ["datagrams are answered by the main thread", "read everything again"],
  );

  const questions = await start([...args, "--query-log", "-"], /Serving example\.org at 127\.0\.0\.1:(\d+)/);
  await using client = new DnsClient(runtime);
  const servers = [{ address: "127.0.0.1", port: Number(questions.match[1]) }];
  await client.query({ name: "ns.example.org", type: "A", servers, deadlineMs: 2_000 });
  assert.equal(await questions.stop(), 0);
  assert.deepEqual(
    jsonLines(questions.streams.output).map(({ name }) => name),
    ["ns.example.org."],
  );
  jsonLines(questions.streams.log);

  await writeFile(zoneFile, "@ A nonsense\n@ A nonsense\n");
  const failed = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  assert.equal(failed.status, 1);
  assert.equal(failed.stdout, "");
  const problems = jsonLines(failed.stderr).map(({ code, problem }) => [code, problem].join(" "));
  for (const line of [1, 2])
    assert.ok(
      problems.some((problem) => problem.startsWith(`BadFile ${zoneFile}:${line}: `)),
      failed.stderr,
    );
});

test("where koffi is missing the DNS server says so, and answers without it", async () => {
  const zoneFile = join(root, "zone-without-koffi");
  await writeFile(zoneFile, "@ 30 IN SOA ns host 1 3600 600 86400 30\n@ 30 IN NS ns\nns 30 IN A 192.0.2.1\n");
  const missing = join(root, "without-koffi.cjs");
  await writeFile(
    missing,
    `const module_ = require("node:module");
     const resolve = module_._resolveFilename;
     module_._resolveFilename = function (request, ...rest) {
       if (request === "koffi") throw new Error("Cannot find module 'koffi'");
       return resolve.call(this, request, ...rest);
     };`,
  );
  const environment = { NODE_OPTIONS: `--require ${missing}` };
  const args = ["dns", "--zone-file", zoneFile, "--origin", "example.org", "--listen", "127.0.0.1:0"];

  const server = await start(
    [...args, "--datapath", "auto"],
    /Serving example\.org at 127\.0\.0\.1:(\d+)\n/,
    environment,
  );
  const expected =
    process.platform === "linux" ? /koffi cannot be loaded: Cannot find module 'koffi'/ : /has no recvmmsg/;
  assert.match(server.printed(), expected);
  await using client = new DnsClient(runtime);
  const verdict = await client.query({
    name: "ns.example.org",
    type: "A",
    servers: [{ address: "127.0.0.1", port: Number(server.match[1]) }],
    deadlineMs: 2_000,
  });
  assert.equal(verdict.state, "answered");
  assert.equal(await server.stop(), 0);

  const refused = spawnSync(process.execPath, [main, ...args, "--datapath", "mmsg"], {
    encoding: "utf8",
    env: { ...process.env, ...environment },
  });
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /--datapath mmsg does not work here: .*; leave it out, or use --datapath dgram/,
  );
});
