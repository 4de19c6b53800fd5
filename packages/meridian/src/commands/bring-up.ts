import { DnsClient } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { Terminal } from "../cli/terminal.ts";
import { applyAbsent } from "../examples/apply-absent.ts";
import type { ExampleObjects } from "../examples/example-objects.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { playgroundZone } from "../fleet/fleet-layout.ts";
import { clusterClient } from "../fleet/open-fleet.ts";
import { askAddresses, probeApiServer, probeDnsServer, type ProbeResult } from "../fleet/probe.ts";
import { MeridianError } from "../meridian-error.ts";

const answersWithinMs = 20_000;
const pollMs = 50;

/** What is to be brought up. */
export interface BringUp {
  readonly fleet: Fleet;
  readonly terminal: Terminal;
  readonly examples: ExampleObjects | undefined;
}

/** Starts the processes, applies the examples and waits until everything answers. @throws MeridianError */
export async function bringUp(runtime: Runtime, up: BringUp): Promise<void> {
  await up.fleet.start();
  if (up.examples !== undefined) await applyExamples(runtime, { ...up, examples: up.examples });
  await waitForAnswers(runtime, up);
}

async function applyExamples(
  runtime: Runtime,
  up: BringUp & { readonly examples: ExampleObjects },
): Promise<void> {
  const { stopping: signal } = up.terminal;
  const created = await Promise.all(
    up.fleet.describe().clusters.map(async (cluster) => {
      await using client = await clusterClient(runtime, cluster);
      const outcomes = await applyAbsent(client, up.examples.ofCluster.get(cluster.name) ?? [], { signal });
      return outcomes.filter((outcome) => outcome === "created").length;
    }),
  );
  const sum = created.reduce((total, count) => total + count, 0);
  up.terminal.print(
    sum === 0 ? "  examples are there already" : `  examples applied: ${sum} objects created`,
  );
}

/** Waits until every API server and every DNS server answers, and with examples until each cluster knows all others. */
async function waitForAnswers(runtime: Runtime, up: BringUp): Promise<void> {
  await using dnsClient = new DnsClient(runtime);
  const { clusters, parent, zone } = up.fleet.describe();
  const parentZone = playgroundZone.parent;
  const checks: readonly Check[] = [
    ...clusters.flatMap((cluster) => [
      { what: `API server of ${cluster.name}`, ask: () => askApiServer(runtime, cluster) },
      {
        what: `DNS server of ${cluster.name}`,
        ask: () => probeDnsServer(dnsClient, { server: cluster.dns, zone }),
      },
    ]),
    {
      what: "parent DNS server",
      ask: () => probeDnsServer(dnsClient, { server: parent.dns, zone: parentZone }),
    },
  ];
  const failures = (await Promise.all(checks.map((check) => waitFor(runtime, check)))).filter(
    (said) => said !== undefined,
  );
  if (failures[0] !== undefined) throw new MeridianError("TimedOut", `${failures[0]}; read DIR/<name>/log`);

  if (up.examples !== undefined) {
    // A person may have changed the examples since the first start, so this one is no failure.
    const checksOfHost = hostChecks(dnsClient, up.examples, up.fleet);
    for (const said of await Promise.all(checksOfHost.map((check) => waitFor(runtime, check)))) {
      if (said !== undefined) up.terminal.complain(`  ${said}`);
    }
  }
  up.terminal.print("  everything answers");
}

interface Check {
  readonly what: string;
  readonly ask: () => Promise<ProbeResult>;
}

function hostChecks(dnsClient: DnsClient, examples: ExampleObjects, fleet: Fleet): readonly Check[] {
  const host = `roundrobin.${playgroundZone.name}`;
  const all = [...examples.ofCluster.values()].flatMap((manifests) => ingressAddresses(manifests, host));
  return fleet.clusters.map(({ name, dns }) => ({
    what: `${host} at ${name}`,
    ask: async () => {
      const { addresses } = await askAddresses(dnsClient, { server: dns, name: host, type: "A" });
      const ok = all.every((address) => addresses.includes(address));
      return { ok, said: `answered with [${addresses.join(" ")}], expected [${all.join(" ")}]` };
    },
  }));
}

async function askApiServer(
  runtime: Runtime,
  cluster: Parameters<typeof clusterClient>[1],
): Promise<ProbeResult> {
  await using client = await clusterClient(runtime, cluster);
  return await probeApiServer(client);
}

/** `undefined` when the check holds within its time, else what is wrong. */
async function waitFor(runtime: Runtime, check: Check): Promise<string | undefined> {
  const deadline = runtime.clock.monotonicMs() + answersWithinMs;
  for (;;) {
    const { ok, said } = await check.ask();
    if (ok) return undefined;
    if (runtime.clock.monotonicMs() > deadline)
      return `${check.what}: not right after ${answersWithinMs / 1000} s: ${said}`;
    await runtime.clock.sleep(pollMs);
  }
}

/** What the cluster's Ingress for a host reports. */
function ingressAddresses(
  manifests: readonly { readonly spec?: unknown; readonly status?: unknown }[],
  host: string,
): string[] {
  return manifests.flatMap((manifest) => {
    const spec = manifest.spec as { readonly rules?: readonly { readonly host?: string }[] } | undefined;
    const status = manifest.status as
      { readonly loadBalancer?: { readonly ingress?: readonly { ip: string }[] } } | undefined;
    if (spec?.rules?.some((rule) => rule.host === host) !== true) return [];
    return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
  });
}
