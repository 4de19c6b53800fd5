import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BenchRunOptions } from "../report/bench-run-options.ts";
import type { ReportFrame } from "../report/report-text.ts";
import { writeSection } from "../report/result-files.ts";
import type { ResultFiles } from "../report/result-files.ts";
import { SampleJournal } from "../report/sample-journal.ts";
import { reportedCases } from "../report/section-report.ts";
import { BenchRun } from "./bench-run.ts";
import type { BenchSettings } from "./bench-run.ts";
import { corePlacement } from "./core-placement.ts";
import { sectionNames } from "./section-names.ts";
import type { SectionName } from "./section-names.ts";
import { sections } from "./sections.ts";
import type { ServerDriver } from "./server-driver.ts";
import { bind } from "./servers/bind.ts";
import { coredns } from "./servers/coredns.ts";
import { gdnsd } from "./servers/gdnsd.ts";
import { knot } from "./servers/knot.ts";
import { meridian } from "./servers/meridian.ts";
import { nsd } from "./servers/nsd.ts";

const allDrivers: readonly ServerDriver[] = [
  meridian("mmsg"),
  meridian("dgram"),
  gdnsd,
  nsd,
  knot,
  bind,
  coredns,
];

const references = [
  { server: "gdnsd", sign: "/g" },
  { server: "BIND", sign: "/B" },
];

/** A smoke run goes without CoreDNS, which may have to be built. */
export interface DnsBenchOptions extends BenchRunOptions<BenchSettings> {
  readonly sections: readonly SectionName[];
  /** Names of the servers to measure; all where it is absent. */
  readonly servers?: readonly string[];
}

/**
 * Measures `meridian dns` beside other servers, section by section, and writes the result after each of them.
 *
 * @returns what failed: servers that did not start or answered wrongly, with CI=true also servers that are not installed
 */
export async function runDnsBench(options: DnsBenchOptions): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-bench-"));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  process.on("exit", clean); // also when it is interrupted
  try {
    return await runSections(options, folder);
  } finally {
    clean();
    process.off("exit", clean);
  }
}

async function runSections(options: DnsBenchOptions, folder: string): Promise<readonly string[]> {
  const { settings, smoke, resume, servers } = options;
  const placement = await corePlacement();
  const journal = await SampleJournal.open(options.journalFile, {
    settings: JSON.stringify({ ...settings, smoke, servers }),
    resume,
  });
  const { drivers, skipped } = await presentDrivers(options);
  const versions: Record<string, string> = {};
  for (const driver of drivers) versions[driver.name] = await driver.version();

  const done = new Set<SectionName>();
  let remarksBefore = 0;
  const run = new BenchRun({
    settings,
    placement,
    journal,
    folder,
    drivers,
    save: (name) =>
      writeSection(resultFiles(options), name, {
        command: options.command,
        measured: new Date().toISOString(),
        complete: done.has(name),
        conditions: `${settings.rounds} ${settings.rounds === 1 ? "round" : "rounds"} of ${settings.seconds} s; ${placement.note}`,
        versions,
        remarks: [...skipped, ...run.remarks.slice(remarksBefore)],
        cases: reportedCases(journal.samples, { section: name, figures: sections[name].figures, references }),
      }),
  });
  for (const reason of skipped) {
    if (process.env["CI"] === "true") run.fail(reason);
    else run.remark(reason);
  }
  for (const name of sectionNames.filter((section) => options.sections.includes(section))) {
    remarksBefore = run.remarks.length;
    await sections[name].measure(run);
    done.add(name);
    await run.save(name);
  }
  return run.failures;
}

async function presentDrivers({ smoke, servers }: DnsBenchOptions): Promise<{
  readonly drivers: readonly ServerDriver[];
  readonly skipped: readonly string[];
}> {
  const drivers: ServerDriver[] = [];
  const skipped: string[] = [];
  const wanted = allDrivers.filter(
    ({ name }) => servers?.includes(name) ?? (!smoke || name !== coredns.name),
  );
  for (const driver of wanted) {
    const absence = await driver.absence();
    if (absence === undefined) drivers.push(driver);
    else skipped.push(`${driver.name}: skipped, ${absence}`);
  }
  return { drivers, skipped };
}

const resultFiles = ({ resultFolder, machine }: DnsBenchOptions): ResultFiles<SectionName> => ({
  ...{ resultFolder, machine, name: "dns", frame: frame(machine), order: sectionNames },
  sectionOf: (name) => ({ ...sections[name], subject: "server", references }),
});

const frame = (machine: string): ReportFrame => ({
  title: "DNS servers, measured side by side",
  reading: [
    `${machine}. Each table is one run, servers in turn; median (min–max) of the rounds. \`/g\` and \`/B\` are the median's ratio`,
    "to gdnsd's and to BIND's of the same run. µs CPU is user and system time of all of a server's processes and threads; where the",
    "client is busy, it is the figure that decides, and q/s a lower bound. gdnsd answers a CNAME without its target. Compare ratios,",
    "not figures of two runs.",
  ],
});
