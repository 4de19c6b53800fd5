import type { KubeClient } from "@meridian/controller";
import { DnsClient } from "@meridian/dns";
import { endpointSliceType, ingressType, isNotFound, type EndpointSlice, type Ingress } from "@meridian/kube";
import { silentLogger, type Endpoint, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Command } from "../cli/command.ts";
import { dataArgument, dataFolder, dataOption } from "../cli/data-option.ts";
import type { Terminal } from "../cli/terminal.ts";
import { ClosingStack } from "../cluster/closing-stack.ts";
import type { FleetFile } from "../fleet/fleet-file.ts";
import { clusterClient, openFleet } from "../fleet/open-fleet.ts";
import { askAddresses } from "../fleet/probe.ts";
import { MeridianError } from "../meridian-error.ts";

const withinMs = 60_000;
const pollMs = 2;
const pauseMs = 2_000;
const application = { namespace: "demo", name: "failover" };

/** `meridian demo failover`: takes an application down in the primary cluster and back, and times every DNS server. */
export const demoFailoverCommand: Command = {
  words: ["demo", "failover"],
  positionals: [],
  summary: "take an application down in one cluster and back, and time each DNS server",
  details: [
    "Marks the endpoints of demo/failover in the first cluster not ready through its API server, and prints how many",
    "milliseconds later each cluster's DNS server gave the first right answer; then back again.",
    "The exit code is 1 when that took over 60 s. Needs the examples that meridian up applies.",
  ],
  options: [dataOption],
  async run(invocation, terminal) {
    const folder = dataFolder(invocation);
    const fleet = await openFleet(folder);
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    const closing = new ClosingStack();
    try {
      const stage = await setStage(runtime, fleet, closing);
      await play(runtime, terminal, stage);
    } catch (error) {
      if (terminal.stopping.aborted) return 130;
      const host = `${application.name}.${fleet.zone}`;
      const more = `; "${terminal.self} explain ${host}${dataArgument(folder)}" tells why`;
      if (error instanceof MeridianError && error.code === "TimedOut") {
        throw new MeridianError("TimedOut", error.message + more, { cause: error });
      }
      throw error;
    } finally {
      await closing.close();
    }
    return 0;
  },
};

/** Everything that the demonstration needs, looked up once. */
interface Stage {
  readonly host: string;
  readonly primary: { readonly name: string; readonly client: KubeClient; readonly slice: EndpointSlice };
  readonly primaryAddresses: readonly string[];
  readonly secondaryAddresses: readonly string[];
  readonly servers: readonly { readonly name: string; readonly dns: Endpoint }[];
  readonly dnsClient: DnsClient;
}

async function setStage(runtime: Runtime, fleet: FleetFile, closing: ClosingStack): Promise<Stage> {
  const clusters = await Promise.all(
    fleet.clusters.map(async (cluster) => {
      const client = closing.use(await clusterClient(runtime, cluster));
      const ingress = await found(client.get<Ingress>(ingressType, application));
      return {
        ...cluster,
        client,
        addresses: (ingress.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),
      };
    }),
  );
  const [first, ...others] = clusters;
  if (first === undefined) throw new MeridianError("NotRunning", "the fleet has no cluster");
  const slice = await found(first.client.get<EndpointSlice>(endpointSliceType, application));
  return {
    host: `${application.name}.${fleet.zone}`,
    primary: { name: first.name, client: first.client, slice },
    primaryAddresses: [...first.addresses].sort(),
    secondaryAddresses: others.flatMap(({ addresses }) => addresses).sort(),
    servers: clusters,
    dnsClient: closing.use(new DnsClient(runtime)),
  };
}

async function play(runtime: Runtime, terminal: Terminal, stage: Stage): Promise<void> {
  const { host, primary } = stage;
  terminal.print(`${host}: ${primary.name} first, the others while it is down`);
  await waitAtAll(runtime, terminal, { stage, expected: stage.primaryAddresses, onAnswer: () => {} });
  for (const { name } of stage.servers)
    terminal.print(`            ${name} answers ${stage.primaryAddresses.join(" ")}`);
  try {
    await act(runtime, terminal, { stage, ready: false, expected: stage.secondaryAddresses });
    // Peers act on the first NOTIFY at once and check at most once a second after it: a change by itself is to be seen.
    await runtime.clock.sleep(pauseMs, terminal.stopping);
  } finally {
    // Also after Ctrl-C and after a failure: a demonstration leaves nothing behind.
    await act(runtime, terminal, { stage, ready: true, expected: stage.primaryAddresses });
  }
}

/** One change and the first right answers to it. Time starts when the change is sent, so the write itself is in it. */
async function act(
  runtime: Runtime,
  terminal: Terminal,
  change: { readonly stage: Stage; readonly ready: boolean; readonly expected: readonly string[] },
): Promise<void> {
  const { stage, ready, expected } = change;
  const endpoints = (stage.primary.slice.endpoints ?? []).map((endpoint) => ({
    ...endpoint,
    conditions: { ...endpoint.conditions, ready },
  }));
  const since = runtime.clock.monotonicMs();
  const line = (text: string): void => {
    terminal.print(`${(runtime.clock.monotonicMs() - since).toFixed(1).padStart(8)} ms ${text}`);
  };
  terminal.print("");
  line(
    `${stage.primary.name}: endpoints of ${application.namespace}/${application.name} become ${ready ? "ready" : "not ready"}`,
  );
  await Promise.all([
    stage.primary.client.patch(endpointSliceType, application, { type: "merge", body: { endpoints } }),
    waitAtAll(runtime, terminal, {
      stage,
      expected,
      onAnswer: (name) =>
        line(`${name} answers ${expected.length === 0 ? "without addresses" : expected.join(" ")}`),
    }),
  ]);
}

async function waitAtAll(
  runtime: Runtime,
  terminal: Terminal,
  wait: {
    readonly stage: Stage;
    readonly expected: readonly string[];
    readonly onAnswer: (name: string) => void;
  },
): Promise<void> {
  const { stage, expected, onAnswer } = wait;
  const deadline = runtime.clock.monotonicMs() + withinMs;
  await Promise.all(
    stage.servers.map(async ({ name, dns }) => {
      for (;;) {
        const { addresses } = await askAddresses(stage.dnsClient, {
          server: dns,
          name: stage.host,
          type: "A",
          deadlineMs: 1_000,
        });
        if (addresses.join() === expected.join()) return onAnswer(name);
        if (terminal.stopping.aborted) throw new Error("interrupted");
        if (runtime.clock.monotonicMs() > deadline) {
          throw new MeridianError(
            "TimedOut",
            `${name} answers [${addresses.join(" ")}] for ${stage.host} and not [${expected.join(" ")}] after ${withinMs / 1000} s`,
          );
        }
        await runtime.clock.sleep(pollMs);
      }
    }),
  );
}

async function found<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new MeridianError(
      "NotRunning",
      `the fleet lacks the example ${application.namespace}/${application.name}; start it without --no-examples`,
      { cause: error },
    );
  }
}
