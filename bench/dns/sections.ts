import type { BenchRun } from "./bench-run.ts";
import { hostsText } from "./bench-zone.ts";
import { latencyFigures, loadFigures, measureLoads } from "./load-section.ts";
import type { LoadCase } from "./load-section.ts";
import { measureMemory, memoryFigures } from "./memory-section.ts";
import type { Figure } from "../report/sample.ts";
import type { SectionName } from "./section-names.ts";
import { measureTwoWorkers, twoWorkersFigures } from "./two-workers-section.ts";
import { measureUpdates, updateFigures } from "./update-section.ts";

/** One part of the DNS bench, which can be run alone. */
export interface Section {
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly measure: (run: BenchRun) => Promise<void>;
}

/** Queries a second of the latency section: half of what the slowest server manages. */
const pace = 20_000;

export const sections: Readonly<Record<SectionName, Section>> = {
  "dns-udp": {
    title: "UDP, one worker on one core, the client on the other",
    figures: loadFigures,
    async measure(run) {
      for (const hosts of run.settings.sizes) {
        const cases = (["hit", "mixed"] as const).map((mix) => loadCase("dns-udp", { hosts, mix }));
        await measureLoads(run, { hosts, cookies: false }, cases);
      }
    },
  },
  "dns-cookies": {
    title: "UDP, a valid cookie in each query (CoreDNS has none and gets a client cookie)",
    figures: loadFigures,
    measure: (run) => measureOneLoad(run, "dns-cookies", { mix: "hit", cookie: true }),
  },
  "dns-tcp": {
    title: "TCP, pipelined: 8 connections, 100 queries outstanding",
    figures: loadFigures,
    measure: (run) => measureOneLoad(run, "dns-tcp", { mix: "hit", transport: "tcp" }),
  },
  "dns-two-workers": {
    title: "UDP, two workers that share both cores with the client's two threads",
    figures: twoWorkersFigures,
    measure: measureTwoWorkers,
  },
  "dns-latency": {
    title: `UDP latency at ${pace.toLocaleString("en-US")} queries a second`,
    figures: latencyFigures,
    measure: (run) => measureOneLoad(run, "dns-latency", { mix: "mixed", pace }),
  },
  "dns-memory": {
    title: "Start until the first answer, and memory of all processes (a million names: three rounds)",
    figures: memoryFigures,
    measure: measureMemory,
  },
  "dns-update": {
    title:
      "One name changed by a signed UPDATE until an answer shows it (asked again as fast as answers come)",
    figures: updateFigures,
    measure: measureUpdates,
  },
};

function measureOneLoad(
  run: BenchRun,
  section: SectionName,
  load: Omit<LoadCase, "section" | "case" | "hosts">,
): Promise<void> {
  const hosts = run.mainSize;
  const cookies = load.cookie === true;
  return measureLoads(run, { hosts, cookies }, [loadCase(section, { ...load, hosts })]);
}

function loadCase(section: SectionName, load: Omit<LoadCase, "section" | "case">): LoadCase {
  return { ...load, section, case: `${hostsText(load.hosts)}, ${load.mix}` };
}
