import type { BenchRunOptions } from "../report/bench-run-options.ts";
import type { ReportFrame } from "../report/report-text.ts";
import { writeSection, type ResultFiles } from "../report/result-files.ts";
import { SampleJournal } from "../report/sample-journal.ts";
import type { Figure } from "../report/sample.ts";
import { reportedCases } from "../report/section-report.ts";
import { applyFigures } from "./apply-section.ts";
import { changeFigures } from "./change-section.ts";
import { gslbSectionNames, type GslbSectionName } from "./section-names.ts";
import { measureFleet, type FleetCase } from "./measure-fleet.ts";
import { quietFigures } from "./quiet-section.ts";

/** What the balancer is measured with. */
export interface GslbSettings {
  readonly fleets: readonly FleetCase[];
  readonly periodSeconds: number;
  readonly changes: number;
  /** Gslbs that are applied at once. */
  readonly applied: number;
}

export type GslbBenchOptions = BenchRunOptions<GslbSettings>;

const startFigures: readonly Figure[] = [
  { key: "firstMs", title: "first start, all clusters at once: ms", digits: 0, compared: false },
  { key: "firstCpuSeconds", title: "CPU s and cluster", digits: 2, compared: false },
  { key: "againMs", title: "again, one alone, from what is stored: ms", digits: 0, compared: false },
  { key: "againWrites", title: "API writes by that", digits: 0, compared: false },
];

const sections: Readonly<
  Record<GslbSectionName, { readonly title: string; readonly figures: readonly Figure[] }>
> = {
  "gslb-change": {
    title: "From the accepted write of an EndpointSlice to the changed answer",
    figures: changeFigures,
  },
  "gslb-quiet": { title: "Nothing changes, by cluster and period", figures: quietFigures },
  "gslb-apply": { title: "Gslbs applied at every cluster at once", figures: applyFigures },
  "gslb-start": { title: "Start until the DNS server answers", figures: startFigures },
};

const references = [{ server: "polling as k8gb", sign: "/k" }];

/**
 * Measures fleets of Meridian, and one that polls as k8gb does, and writes the result after each of them.
 *
 * @returns what failed
 */
export async function runGslbBench(options: GslbBenchOptions): Promise<readonly string[]> {
  const { settings, smoke, resume } = options;
  const journal = await SampleJournal.open(options.journalFile, {
    settings: JSON.stringify({ ...settings, smoke }),
    resume,
  });
  const failures: string[] = [];
  const save = async (complete: boolean): Promise<void> => {
    for (const name of gslbSectionNames)
      await writeSection(resultFiles(options), name, {
        command: options.command,
        measured: new Date().toISOString(),
        complete,
        conditions: `period ${settings.periodSeconds} s, failover with a primary, one host each; ${settings.changes} changes`,
        versions: {},
        remarks: failures,
        cases: reportedCases(journal.samples, { section: name, figures: sections[name].figures, references }),
      });
  };
  for (const fleet of settings.fleets) {
    const server = fleet.program === "polling-cluster" ? "polling as k8gb" : "Meridian";
    if (
      journal.samples.some(
        (sample) => sample.server === server && sample.case.startsWith(`${nameOf(fleet)},`),
      )
    )
      continue;
    console.error(`${server}: ${nameOf(fleet)}`);
    try {
      await measureFleet(fleet, settings, async ({ section, about, values }) => {
        console.error(`  ${section} ${about}: ${JSON.stringify(values)}`);
        await journal.add({ section, case: `${nameOf(fleet)}, ${about}`, server, round: 0, values });
      });
    } catch (error) {
      const text = `${server}, ${nameOf(fleet)}: ${error instanceof Error ? error.message : String(error)}`;
      console.error(`! ${text}`);
      failures.push(text);
    }
    await save(false);
  }
  await save(true);
  return failures;
}

const nameOf = ({ gslbs, clusters }: FleetCase): string =>
  `${gslbs.toLocaleString("en-US")} Gslbs, ${clusters} clusters`;

const resultFiles = ({ resultFolder, machine }: GslbBenchOptions): ResultFiles<GslbSectionName> => ({
  ...{ resultFolder, machine, name: "gslb", frame: frame(machine), order: gslbSectionNames },
  sectionOf: (name) => ({ ...sections[name], subject: "fleet", references }),
});

const frame = (machine: string): ReportFrame => ({
  title: "The balancer, measured",
  reading: [
    `${machine}. Every cluster is a process with its API server, its operator and its DNS server, all fleets on this machine, clusters`,
    "with the fleet's key and the default settings. CPU is that of the whole process. `/k` is the ratio to a fleet of the same run",
    "that asks for each host once a period, as k8gb does, by the model of the simulation over real sockets, which has no API server.",
    "",
    "Real k8gb v0.21 with CoreDNS, API server and etcd, measured apart on such a machine, so that only magnitudes compare: the other cluster's answer",
    "17.4 s (p50), 27.6 s (max) after a change, its own 17 ms; with nothing changing, for 1,000 Gslbs in each of two clusters, 990 questions taken, 2,960 API writes and",
    "990 reconciles a period, 41 CPU s/min (of which the operator 7.6); for 10 Gslbs 15 questions, 40 writes; 1,000 applied",
    "Gslbs (by kubectl) are answered at home after 41 s and with the other's addresses after 60 s. With a silent peer and 25 Gslbs a change at home takes 8–55 s.",
  ],
});
