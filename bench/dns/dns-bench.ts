import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { BenchRun } from "./bench-run.ts";
import type { BenchSettings } from "./bench-run.ts";
import { corePlacement } from "./core-placement.ts";
import { reportText } from "./report-text.ts";
import { sectionNames } from "./sample.ts";
import type { SectionName } from "./sample.ts";
import { SampleJournal } from "./sample-journal.ts";
import { reportedCases } from "./section-report.ts";
import type { SectionReport } from "./section-report.ts";
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

export interface DnsBenchOptions {
  readonly sections: readonly SectionName[];
  readonly settings: BenchSettings;
  /** A cut that shows that the bench works: without CoreDNS, which may have to be built. */
  readonly smoke: boolean;
  readonly resume: boolean;
  readonly machine: string;
  /** The command that measures the same again. */
  readonly command: string;
  /** Where `dns.json` and `dns.md` go; sections that are not measured now are kept in them. */
  readonly resultFolder: string;
  /** Where samples are kept until the next run. */
  readonly journalFile: string;
}

/**
 * Measures `meridian dns` beside other servers, section by section, and writes the result after each of them.
 *
 * @returns what failed: servers that did not start or answered wrongly, with CI=true also servers that are not installed
 */
export async function runDnsBench(options: DnsBenchOptions): Promise<readonly string[]> {
  const placement = await corePlacement();
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-bench-"));
  try {
    const journal = await SampleJournal.open(options.journalFile, {
      settings: JSON.stringify({ ...options.settings, smoke: options.smoke }),
      resume: options.resume,
    });
    const { drivers, skipped } = await presentDrivers(options.smoke);
    const versions: Record<string, string> = {};
    for (const driver of drivers) versions[driver.name] = await driver.version();
    const run = new BenchRun({ settings: options.settings, placement, journal, folder, drivers });
    for (const reason of skipped) {
      if (process.env["CI"] === "true") run.fail(reason);
      else run.remark(reason);
    }
    const { rounds, seconds } = options.settings;
    const conditions = `${rounds} ${rounds === 1 ? "round" : "rounds"} of ${seconds} s; ${placement.note}`;
    const general = [...run.remarks];
    for (const name of sectionNames.filter((section) => options.sections.includes(section))) {
      const remarksBefore = run.remarks.length;
      const write = (): Promise<void> =>
        writeSection(options, name, {
          command: options.command,
          measured: new Date().toISOString(),
          conditions,
          versions,
          remarks: [...general, ...run.remarks.slice(remarksBefore)],
          cases: reportedCases(journal.samples, name, sections[name].figures),
        });
      try {
        await sections[name].measure(run);
      } finally {
        await write();
      }
    }
    return run.failures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function presentDrivers(
  smoke: boolean,
): Promise<{ readonly drivers: readonly ServerDriver[]; readonly skipped: readonly string[] }> {
  const drivers: ServerDriver[] = [];
  const skipped: string[] = [];
  for (const driver of allDrivers.filter((one) => !smoke || one !== coredns)) {
    const absence = await driver.absence();
    if (absence === undefined) drivers.push(driver);
    else skipped.push(`${driver.name}: skipped, ${absence}`);
  }
  return { drivers, skipped };
}

interface ResultFile {
  readonly machine: string;
  readonly sections: Partial<Record<SectionName, SectionReport>>;
}

/** Puts one section's report into the result files and leaves the others in them as they are. */
async function writeSection(
  { resultFolder, machine }: DnsBenchOptions,
  name: SectionName,
  report: SectionReport,
): Promise<void> {
  await mkdir(resultFolder, { recursive: true });
  const file = path.join(resultFolder, "dns.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  const before = text === undefined ? {} : (JSON.parse(text) as ResultFile).sections;
  const result: ResultFile = { machine, sections: { ...before, [name]: report } };
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
  const reported = sectionNames.flatMap((section) => {
    const found = result.sections[section];
    return found === undefined ? [] : [{ name: section, ...sections[section], report: found }];
  });
  await writeFile(path.join(resultFolder, "dns.md"), reportText(machine, reported));
}
