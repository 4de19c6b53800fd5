import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureDnsCpu } from "./dns-cpu.ts";
import { measureFailovers } from "./failover.ts";

/**
 * `npm run bench [-- --smoke] [-- --only failover|dns]`: measures and writes `bench/results/*.json`. A smoke run is a cut that
 * shows that the benches work; it writes nothing.
 */
const { values } = parseArgs({
  options: { smoke: { type: "boolean", default: false }, only: { type: "string" } },
});
const smoke = values.smoke;
const resultFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../bench/results");
const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  kernel: release(),
  node: process.version,
};

async function record(name: string, command: string, result: unknown): Promise<void> {
  console.log(JSON.stringify(result, null, 2));
  if (smoke) return;
  await mkdir(resultFolder, { recursive: true });
  await writeFile(
    path.join(resultFolder, `${name}.json`),
    `${JSON.stringify({ command, machine, result }, null, 2)}\n`,
  );
}

if (values.only === undefined || values.only === "failover") {
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
  await record("failover", "npm run bench -- --only failover", {
    unit: "milliseconds from the accepted write to the changed answer",
    runs: [pushed, silentPeer, polled],
    medianRatioPolledToPushed: Math.round((polled.all.p50 / pushed.all.p50) * 10) / 10,
    medianRatioSilentPeerToNone: Math.round((silentPeer.all.p50 / pushed.all.p50) * 100) / 100,
  });
}

if (values.only === undefined || values.only === "dns") {
  const [meridian, bind] = await measureDnsCpu({ rounds: smoke ? 1 : 3, seconds: smoke ? 2 : 5 });
  await record("dns-cpu", "npm run bench -- --only dns", {
    unit: "microseconds of CPU (user and system) per query; one zone of 10,000 hosts, UDP, server pinned to one core",
    servers: [meridian, bind],
    medianRatioToBind:
      Math.round((meridian!.cpuMicrosecondsPerQuery.p50 / bind!.cpuMicrosecondsPerQuery.p50) * 100) / 100,
  });
}
