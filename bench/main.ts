import { cpus, release } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchUsage, parseBenchOptions } from "./bench-options.ts";
import { BenchUsageError } from "./bench-usage-error.ts";
import { runControllerBench } from "./controller/controller-bench.ts";
import { runDnsBench } from "./dns/dns-bench.ts";
import { runGslbBench } from "./gslb/gslb-bench.ts";

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
  if (options.gslbSettings !== undefined) {
    const found = await runGslbBench({
      ...shared,
      settings: options.gslbSettings,
      journalFile: journalFile("gslb"),
    });
    failures.push(...found);
    console.error(`results: ${path.join(resultFolder, "gslb.md")}`);
  }
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
