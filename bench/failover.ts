import { createSocket } from "node:dgram";
import { readFile } from "node:fs/promises";
import https from "node:https";
import { deploy } from "../e2e/harness/application.ts";
import { Fleet } from "../e2e/harness/fleet.ts";
import { summary } from "./summary.ts";
import type { Summary } from "./summary.ts";

// How long a change takes from the accepted write of an EndpointSlice to the changed answer at each cluster.

const app = { name: "bench", strategy: "{ type: failover, primaryGeoTag: eu, dnsTtlSeconds: 5 }" };
const host = "bench.cloud.example.com";
const primaryAddress = [192, 0, 2, 11];

export interface FailoverResult {
  readonly setting: string;
  readonly failovers: number;
  /** Milliseconds at each cluster, and until the last of them. */
  readonly clusters: Readonly<Record<string, Summary>>;
  readonly all: Summary;
}

export interface FailoverOptions {
  readonly setting: string;
  readonly failovers: number;
  readonly env?: NodeJS.ProcessEnv;
  /** A cluster that is stopped (SIGSTOP) before measuring: its DNS server is silent. */
  readonly silent?: string;
  /** Longest time to wait for one change. */
  readonly withinMs: number;
}

export async function measureFailovers(options: FailoverOptions): Promise<FailoverResult> {
  const fleet = await Fleet.start({
    args: ["--no-examples"],
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  try {
    await deploy(fleet, app);
    await fleet.answers(host, ["192.0.2.11"], { withinMs: 90_000 });
    const file = await fleet.file();
    const measured = file.clusters.filter((cluster) => cluster.name !== options.silent);
    if (options.silent !== undefined) process.kill((await fleet.cluster(options.silent)).pid, "SIGSTOP");
    const patch = await endpointPatch(fleet, "eu");
    const times: Record<string, number[]> = Object.fromEntries(measured.map(({ name }) => [name, []]));
    const all: number[] = [];
    for (let n = 0; n < options.failovers; n++) {
      const down = n % 2 === 0;
      const probes = measured.map(({ name, dns }) => ({
        name,
        probe: watchAnswer(dns, (primary) => primary !== down),
      }));
      const begin = performance.now();
      const accepted = patch(!down).then(() => performance.now());
      const seen = await Promise.all(
        probes.map(async ({ name, probe }) => ({ name, at: await probe(options.withinMs) })),
      );
      const start = await accepted;
      for (const { name, at } of seen) times[name]!.push(Math.max(0, at - start));
      all.push(Math.max(0, ...seen.map(({ at }) => at - start)));
      // Changes fall anywhere in the polling period, and further apart than the second in which a peer's serial is
      // checked at most once: that limit is for bursts, not for failovers.
      await new Promise((resolve) => setTimeout(resolve, 1100 + ((n * 7919) % 1000)));
      if ((n + 1) % 10 === 0)
        console.log(
          `  ${options.setting}: ${n + 1}/${options.failovers}, last ${Math.round(performance.now() - begin)} ms`,
        );
    }
    if (options.silent !== undefined) process.kill((await fleet.cluster(options.silent)).pid, "SIGCONT");
    return {
      setting: options.setting,
      failovers: options.failovers,
      clusters: Object.fromEntries(Object.entries(times).map(([name, values]) => [name, summary(values)])),
      all: summary(all),
    };
  } finally {
    await fleet.stop();
  }
}

/** A function that writes the readiness of the application's endpoint over a kept connection; resolves when accepted. */
async function endpointPatch(fleet: Fleet, name: string): Promise<(ready: boolean) => Promise<void>> {
  const cluster = await fleet.cluster(name);
  const kubeconfig = await readFile(cluster.kubeconfig, "utf8");
  const token = /token:\s*"?([^\s"]+)/.exec(kubeconfig)![1]!;
  const ca = Buffer.from(/certificate-authority-data:\s*(\S+)/.exec(kubeconfig)![1]!, "base64");
  const agent = new https.Agent({ keepAlive: true });
  const url = `${cluster.apiServer}/apis/discovery.k8s.io/v1/namespaces/e2e/endpointslices/${app.name}-1`;
  return async (ready) =>
    new Promise((resolve, reject) => {
      const request = https.request(
        url,
        {
          method: "PATCH",
          agent,
          ca,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json-patch+json" },
        },
        (response) => {
          response.resume();
          response.on("end", () =>
            response.statusCode === 200
              ? resolve()
              : reject(new Error(`PATCH was answered ${response.statusCode}`)),
          );
        },
      );
      request.on("error", reject);
      request.end(JSON.stringify([{ op: "replace", path: "/endpoints/0/conditions/ready", value: ready }]));
    });
}

/** Asks a server each millisecond; the promise resolves with the time of the first answer that is as wanted. */
function watchAnswer(
  dns: { readonly address: string; readonly port: number },
  wanted: (holdsPrimary: boolean) => boolean,
): (withinMs: number) => Promise<number> {
  const socket = createSocket("udp4");
  const query = question(host);
  let timer: NodeJS.Timeout | undefined;
  return async (withinMs) =>
    new Promise((resolve, reject) => {
      const deadline = performance.now() + withinMs;
      const end = (): void => {
        clearInterval(timer);
        socket.close();
      };
      socket.on("message", (message) => {
        if (!wanted(message.indexOf(Buffer.from(primaryAddress), query.length) >= 0)) return;
        end();
        resolve(performance.now());
      });
      timer = setInterval(() => {
        socket.send(query, dns.port, dns.address);
        if (performance.now() < deadline) return;
        end();
        reject(new Error(`${dns.address} did not change its answer within ${withinMs} ms`));
      }, 1);
    });
}

function question(name: string): Buffer {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
}
