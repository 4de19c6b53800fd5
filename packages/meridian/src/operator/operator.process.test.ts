import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { clientFromKubeconfig, type KubeClient } from "@meridian/controller";
import { DnsClient } from "@meridian/dns";
import { customResourceDefinitions } from "@meridian/gslb";
import type { KubeObject } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { parseAllDocuments } from "yaml";
import { installDefinitions } from "../cluster/install-definitions.ts";
import { applyAbsent } from "../examples/apply-absent.ts";
import { examplesFolder, readExampleObjects } from "../examples/example-objects.ts";
import { startCommand } from "../testdata/started-command.ts";

const main = fileURLToPath(new URL("../main.js", import.meta.url));
const root = await mkdtemp(join(tmpdir(), "meridian-operator-"));
const runtime = nodeRuntime({ dataFolder: root, log: silentLogger });
const running: { readonly kill: () => Promise<unknown> }[] = [];
after(async () => {
  for (const each of running) await each.kill();
  await rm(root, { recursive: true, force: true });
});

const kubeconfigText = `
current-context: c
contexts: [{ name: c, context: { cluster: c, user: u } }]
clusters: [{ name: c, cluster: { server: "http://127.0.0.1:9" } }]
users: [{ name: u, user: {} }]
`;

test("Configuration: every problem is told at once, each by its place, and nothing is started", async () => {
  const file = join(root, "wrong.yaml");
  await writeFile(file, "clusterGeoTag: e_u\nnsRecordTtlSeconds: 3\n");
  const { status, stderr } = spawnSync(
    process.execPath,
    [main, "operator", "--config", file, "--metrics-address", "10.0.0.:8080"],
    { encoding: "utf8", env: { PATH: process.env["PATH"], EDGE_DNS_SERVERS: ":53", NS_RECORD_TTL: "0" } },
  );
  assert.equal(status, 1);
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg: string; problem: string });
  assert.ok(lines.every(({ msg }) => msg === "Can't resolve environment variables"));
  const told = lines.map(({ problem }) => problem.replace(/( is |: there).*/, ""));
  assert.deepEqual(told, [
    `${file}:2 nsRecordTtlSeconds`,
    `${file}:1 clusterGeoTag`,
    "EDGE_DNS_SERVERS",
    "NS_RECORD_TTL",
    "--metrics-address",
  ]);
});

const settings = ["--cluster-geo-tag", "eu", "--dns-zones", "example.com:cloud.example.com:30"].concat([
  ...["--edge-dns-servers", "127.0.0.1:9", "--dns-addresses", "127.0.0.1", "--listen", "127.0.0.1:0"],
]);

for (const { name, args, says } of [
  {
    name: "a kubeconfig that is not there",
    args: ["--kubeconfig", join(root, "none")],
    says: /ERROR the server failed code=InvalidKubeconfig problem="cannot use the kubeconfig \S+: there is no such file"$/,
  },
  {
    name: "a metrics address without an address",
    args: ["--metrics-address", "none.invalid:8080", "--kubeconfig", join(root, "some")],
    says: /ERROR the server failed code=StartFailed problem="METRICS_ADDRESS names none\.invalid, which has no address; /,
  },
])
  test(`a start that fails is told in the format of the log, without a stack: ${name}`, async () => {
    await writeFile(join(root, "some"), kubeconfigText);
    const { status, stderr } = spawnSync(process.execPath, [main, "operator", ...settings, ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    assert.equal(status, 1);
    const lines = stderr.trim().split("\n");
    for (const line of lines) assert.match(line, /^\d\d:\d\d:\d\d\.\d{3} /);
    assert.match(lines.at(-1) ?? "", says);
  });

test("a cluster without the definitions is told of with the remedy, which crds is, and then the operator goes on", async () => {
  const api = await startCommand(
    ["apiserver", "--data", join(root, "bare"), "--port", "0"],
    /kubeconfig: (\S+)\n/,
  );
  running.push(api);
  const kubeconfig = api.match[1] ?? "";
  const metrics = `127.0.0.1:${await freePort()}`;
  const operator = await startCommand(
    [
      "operator",
      ...settings,
      "--kubeconfig",
      kubeconfig,
      "--datapath",
      "dgram",
      "--metrics-address",
      metrics,
    ],
    /CustomResourceDefinitions are missing.*missing=(\S+) remedy="meridian crds \|/,
  );
  running.push(operator);
  assert.match(await (await fetch(`http://${metrics}/readyz`)).text(), /^not ready: no zone is served yet; /);
  const missing = JSON.parse(operator.match[1] ?? "") as readonly string[];
  const { stdout } = spawnSync(process.execPath, [main, "crds"], { encoding: "utf8" });
  const printed = parseAllDocuments(stdout).map((each) => each.toJS() as KubeObject);
  assert.deepEqual(
    printed.map(({ metadata }) => metadata.name),
    missing,
  );
  await using client = clientFromKubeconfig(runtime, await readFile(kubeconfig, "utf8"));
  await installDefinitions(runtime, client, printed);
  await until("ready", async () => ((await fetch(`http://${metrics}/readyz`)).ok ? true : undefined));
  assert.equal(await operator.stop(), 0);
  assert.equal(await api.stop(), 0);
});

test("an operator that waits for its cluster takes up further changes of its settings, and ends when it is told to", async () => {
  const file = join(root, "changing.yaml");
  const text = (negativeTtl: string): string =>
    [
      "clusterGeoTag: eu",
      `dnsZones: [{ parentZone: example.com, loadBalancedZone: cloud.example.com, dnsZoneNegTTL: ${negativeTtl} }]`,
      "edgeDNSServers: ['127.0.0.1:9']",
      "",
    ].join("\n");
  await writeFile(file, text("30"));
  await writeFile(join(root, "away"), kubeconfigText);
  const metrics = `127.0.0.1:${await freePort()}`;
  const operator = await startCommand(
    ["operator", "--config", file, "--kubeconfig", join(root, "away"), "--listen", "127.0.0.1:0"].concat([
      ...["--datapath", "dgram", "--metrics-address", metrics],
    ]),
    /the DNS server listens/,
  );
  running.push(operator);
  const logged = (text: RegExp): Promise<unknown> =>
    until(text.source, async () => text.exec(operator.printed()) ?? undefined);
  await writeFile(file, text("31"));
  operator.nudge();
  await logged(/the operator is started with other settings/);
  await writeFile(file, text("none"));
  operator.nudge();
  await logged(/settings are refused/);
  assert.match(await (await fetch(`http://${metrics}/readyz`)).text(), /^not ready: /);
  assert.doesNotMatch(operator.printed(), /settings are taken up/);
  assert.equal(await operator.stop(), 0);
});

interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly endTimeUnixNano: string;
}

/** What an OTLP collector receives, decoded. */
class Collector {
  readonly requests: { readonly type: string | undefined; readonly path: string | undefined }[] = [];
  readonly spans: SentSpan[] = [];
  readonly resources: Record<string, unknown>[] = [];
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      this.requests.push({ type: request.headers["content-type"], path: request.url });
      this.#take(JSON.parse(Buffer.concat(chunks).toString()) as Export);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take({ resourceSpans }: Export): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const pairs = resource.attributes.map(({ key, value }) => [key, value.stringValue] as const);
      this.resources.push(Object.fromEntries(pairs));
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** Waits for something outside of this process. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never: ${what}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function clusterWithExamples(): Promise<{
  kubeconfig: string;
  client: KubeClient;
  stop: () => Promise<unknown>;
}> {
  const started = await startCommand(
    ["apiserver", "--data", join(root, "cluster"), "--port", "0"],
    /kubeconfig: (\S+)\n/,
  );
  running.push(started);
  const kubeconfig = started.match[1] ?? "";
  const client = clientFromKubeconfig(runtime, await readFile(kubeconfig, "utf8"));
  await installDefinitions(runtime, client, customResourceDefinitions);
  const examples = await readExampleObjects(examplesFolder, ["eu"]);
  await applyAbsent(client, examples.ofCluster.get("eu") ?? [], { signal: new AbortController().signal });
  return { kubeconfig, client, stop: () => started.stop() };
}

test("D48, D52, O-06: meridian operator answers, tells and traces, takes settings up while it answers, and shows no secret", async () => {
  const cluster = await clusterWithExamples();
  const collector = new Collector();
  const endpoint = await collector.listen();
  const metrics = `127.0.0.1:${await freePort()}`;
  const file = join(root, "settings.yaml");
  const settings = (negativeTtl: number): string =>
    [
      "clusterGeoTag: eu",
      `dnsZones: [{ parentZone: example.com, loadBalancedZone: cloud.example.com, dnsZoneNegTTL: ${negativeTtl} }]`,
      "edgeDNSServers: ['127.0.0.1:9']",
      "clusterExposedIPs: [192.0.2.1, 192.0.2.2]",
      "",
    ].join("\n");
  await writeFile(file, settings(30));
  const operator = await startCommand(
    ["operator", "--config", file, "--kubeconfig", cluster.kubeconfig, "--listen", "127.0.0.1:0"].concat([
      ...["--datapath", "dgram", "--metrics-address", metrics],
    ]),
    /"at":\["([^"]+)"\]/,
    {
      LOG_FORMAT: "json",
      LOG_LEVEL: "debug",
      TRACING_ENABLED: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      INFOBLOX_GRID_HOST: "127.0.0.1",
      INFOBLOX_WAPI_PORT: "9",
      INFOBLOX_WAPI_USERNAME: "operator",
      INFOBLOX_WAPI_PASSWORD: "hunter2-of-the-grid",
    },
  );
  running.push(operator);
  const [address = "", port = ""] = (operator.match[1] ?? "").split(":");
  const server = { address, port: Number(port) };
  const get = async (path: string): Promise<string | undefined> => {
    const response = await fetch(`http://${metrics}${path}`);
    return response.ok ? await response.text() : undefined;
  };
  await using dnsClient = new DnsClient(runtime);
  const ask = async (): Promise<string> => {
    const { signal } = new AbortController();
    const reply = await dnsClient.query({
      ...{ servers: [server], name: "roundrobin.cloud.example.com", type: "A", signal, deadlineMs: 2_000 },
    });
    return JSON.stringify(reply);
  };

  await until("ready", () => get("/readyz"));
  const text = (await get("/metrics")) ?? "";
  assert.match(text, /^k8gb_gslb_healthy_records\{namespace="demo",name="roundrobin"\} 2$/m);
  assert.match(text, /^k8gb_runtime_info\{namespace="k8gb",k8gb_version="[^"]+",go_version="node v/m);
  assert.equal(await get("/healthz"), "ok\n");
  assert.match(await ask(), /192\.0\.2\.1/);

  // Settings that are wrong change nothing; right ones are taken up, while every question is answered.
  await writeFile(file, `${settings(30)}nsRecordTtl: none\n`);
  operator.nudge();
  await until(
    "refused",
    async () => /:5 nsRecordTtl.*settings are refused/.exec(operator.streams.output) ?? undefined,
  );
  await writeFile(file, settings(30).replace("192.0.2.2", "192.0.2.3"));
  operator.nudge();
  const unready: string[] = [];
  await until("the other address", async () => {
    const said = await ask();
    if (!said.includes("192.0.2.1")) unready.push(said);
    if ((await get("/readyz")) === undefined) unready.push("not ready");
    return said.includes("192.0.2.3") ? said : undefined;
  });
  assert.deepEqual(unready, []);
  await until("taken up", async () => /settings are taken up/.exec(operator.streams.output) ?? undefined);
  assert.match(
    (await get("/metrics")) ?? "",
    /^k8gb_gslb_healthy_records\{namespace="demo",name="roundrobin"\} 2$/m,
  );

  assert.equal(await operator.stop(), 0);
  await cluster.client[Symbol.asyncDispose]();
  await cluster.stop();
  collector.close();

  const lines = operator.streams.output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const said = lines.map(({ msg }) => msg);
  for (const phrase of [
    "k8gb info",
    "Starting k8gb",
    "DNS provider resolved",
    "Resolved strategy",
    "Final target list",
  ])
    assert.ok(said.includes(phrase), phrase);
  assert.equal(said.at(-1), "Gracefully finished, bye!");
  assert.ok(lines.every(({ time, level }) => typeof time === "string" && typeof level === "string"));
  const shown = lines.find(({ msg }) => msg === "configuration");
  assert.equal(shown?.["infobloxWapiPassword"], "[hidden]");
  assert.ok(!operator.printed().includes("hunter2"));
  assert.ok(!operator.printed().includes(Buffer.from("operator:hunter2-of-the-grid").toString("base64")));

  assert.deepEqual(
    [...new Set(collector.requests.map(({ type, path }) => `${path} ${type}`))],
    ["/v1/traces application/json"],
  );
  assert.ok(collector.resources.every((resource) => resource["service.name"] === "k8gb"));
  const byId = new Map(collector.spans.map((span) => [span.spanId, span]));
  const parents = new Set(
    collector.spans.map(
      ({ name, parentSpanId }) => `${name} in ${byId.get(parentSpanId ?? "")?.name ?? "none"}`,
    ),
  );
  assert.deepEqual([...parents].sort(), [
    "Reconcile in none",
    "SaveDNSEndpoint in Reconcile",
    "gslbDNSEndpoint in Reconcile",
  ]);
  assert.ok(collector.spans.every(({ endTimeUnixNano }) => BigInt(endTimeUnixNano) > 0n));
});
