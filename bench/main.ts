import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchUsage, parseBenchOptions } from "./bench-options.ts";
import { BenchUsageError } from "./bench-usage-error.ts";
import { runControllerBench } from "./controller/controller-bench.ts";
import { runDnsBench } from "./dns/dns-bench.ts";
import { measureFailovers } from "./failover.ts";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  kernel: release(),
  node: process.version,
};

// Servers that the benches started are stopped by handlers of "exit", which a plain signal would not run.
for (const [name, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.on(name, () => process.exit(code));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BenchUsageError)) throw error;
  console.error(`${error.message}\n\n${benchUsage}`);
  process.exitCode = 2;
}

async function main(args: readonly string[]): Promise<number> {
  const options = parseBenchOptions(args);
  if (options === "help") {
    console.log(benchUsage);
    return 0;
  }
  // A smoke run shows that the benches work; its figures are no results.
  const resultFolder = path.join(root, options.smoke ? ".cache/bench-smoke" : "bench/results");
  if (options.failover) await benchFailover(options.smoke, resultFolder);
  const shared = {
    smoke: options.smoke,
    resume: options.resume,
    machine: `${machine.cores} cores of ${machine.cpu}, Linux ${machine.kernel}, Node ${machine.node}`,
    command: `npm run bench -- ${args.filter((arg) => arg !== "--resume").join(" ")}`.trim(),
    resultFolder,
  };
  const journalFile = (name: string): string =>
    path.join(root, `.cache/${options.smoke ? "bench-smoke" : "bench"}/${name}.jsonl`);
  const failures: string[] = [];
  if (options.dnsSections.length > 0) {
    const found = await runDnsBench({
      ...shared,
      sections: options.dnsSections,
      settings: options.dnsSettings,
      ...(options.dnsServers === undefined ? {} : { servers: options.dnsServers }),
      journalFile: journalFile("dns"),
    });
    failures.push(...found);
    console.error(`results: ${path.join(resultFolder, "dns.md")}`);
  }
  if (options.controllerSections.length > 0) {
    const found = await runControllerBench({
      ...shared,
      sections: options.controllerSections,
      settings: options.controllerSettings,
      ...(options.controllerClients === undefined ? {} : { clients: options.controllerClients }),
      journalFile: journalFile("controller"),
    });
    failures.push(...found);
    console.error(`results: ${path.join(resultFolder, "controller.md")}`);
  }
  for (const failure of failures) console.error(`FAILED: ${failure}`);
  return failures.length === 0 ? 0 : 1;
}

async function benchFailover(smoke: boolean, resultFolder: string): Promise<void> {
  const pushed = await measureFailovers({
    setting: "NOTIFY on",
    failovers: smoke ? 6 : 100,
    withinMs: 40_000,
  });
  const silentPeer = await measureFailovers({
    setting: "NOTIFY on, one peer silent",
    failovers: smoke ? 4 : 100,
    silent: "za",
    withinMs: 40_000,
  });
  const polled = await measureFailovers({
    setting: smoke ? "NOTIFY off, period 2 s" : "NOTIFY off, default period of 30 s",
    failovers: smoke ? 2 : 20,
    env: { MERIDIAN_NOTIFY: "false", ...(smoke ? { RECONCILE_REQUEUE_SECONDS: "2" } : {}) },
    withinMs: 90_000,
  });
  const result = {
    unit: "milliseconds from the accepted write to the changed answer",
    runs: [pushed, silentPeer, polled],
    medianRatioPolledToPushed: Math.round((polled.all.p50 / pushed.all.p50) * 10) / 10,
    medianRatioSilentPeerToNone: Math.round((silentPeer.all.p50 / pushed.all.p50) * 100) / 100,
  };
  console.log(JSON.stringify(result, null, 2));
  await mkdir(resultFolder, { recursive: true });
  const command = "npm run bench -- --only failover";
  await writeFile(
    path.join(resultFolder, "failover.json"),
    `${JSON.stringify({ command, machine, result }, null, 2)}\n`,
  );
}
