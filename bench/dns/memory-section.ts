import { setTimeout as sleep } from "node:timers/promises";
import type { BenchRun } from "./bench-run.ts";
import { hostsText } from "./bench-zone.ts";
import { measuredLoad } from "./load-section.ts";
import type { Figure, Sample } from "../report/sample.ts";
import type { SectionName } from "./section-names.ts";

export const memoryFigures: readonly Figure[] = [
  { key: "startMs", title: "start, ms", digits: 0, compared: true },
  { key: "rssMebibytes", title: "RSS, MiB", digits: 1, compared: true },
  { key: "pssMebibytes", title: "PSS, MiB", digits: 1, compared: false },
  { key: "loadedRssMebibytes", title: "RSS after load, MiB", digits: 1, compared: true },
  { key: "startCpuSeconds", title: "CPU s of the start", digits: 2, compared: true },
];

/** Starts each server alone, from nothing to its first right answer, and weighs it before and after a load. */
export async function measureMemory(run: BenchRun): Promise<void> {
  for (const hosts of run.settings.sizes) {
    // A start of a million names takes seconds and varies little.
    const rounds = hosts >= 1_000_000 ? Math.min(3, run.settings.rounds) : run.settings.rounds;
    for (let round = 0; round < rounds; round++) {
      for (const driver of run.drivers) {
        const key = { section: "dns-memory", case: hostsText(hosts), server: driver.name, round } as const;
        if (run.journal.has(key)) continue;
        await using server = await run.start(driver, { hosts });
        if (server === undefined) continue;
        const startCpuSeconds = await server.cpuSeconds();
        await sleep(300);
        const idle = await server.memory();
        const load = { section: key.section, case: key.case, hosts, mix: "hit" } as const;
        const seconds = run.settings.warmSeconds;
        await measuredLoad(run, server, { load, cores: "1", threads: 1, seconds });
        const loaded = await server.memory();
        const sample: Sample<SectionName> = {
          ...key,
          values: {
            ...idle,
            startMs: server.startMs,
            startCpuSeconds,
            loadedRssMebibytes: loaded.rssMebibytes,
          },
        };
        await run.record(sample);
        console.error(
          `${key.section} ${key.case}, round ${round + 1}: ${driver.name} starts in ${Math.round(server.startMs)} ms, ` +
            `${Math.round(idle.rssMebibytes)} MiB, after load ${Math.round(loaded.rssMebibytes)} MiB`,
        );
      }
    }
  }
}
