import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { reportText } from "./report-text.ts";
import type { ReportFrame, ReportedSection } from "./report-text.ts";
import type { SectionReport } from "./section-report.ts";

/** Where the results of one bench stand, and how they are written down. */
export interface ResultFiles<Section extends string> {
  readonly resultFolder: string;
  /** Of `NAME.json` and `NAME.md`. */
  readonly name: string;
  readonly machine: string;
  readonly frame: ReportFrame;
  /** All there are, in the order of the text. */
  readonly order: readonly Section[];
  readonly sectionOf: (name: Section) => Omit<ReportedSection, "report">;
}

interface ResultFile<Section extends string> {
  readonly machine: string;
  readonly sections: Partial<Record<Section, SectionReport>>;
}

/** Puts one section's report into the result files and leaves the others in them as they are. */
export async function writeSection<Section extends string>(
  { resultFolder, name, machine, frame, order, sectionOf }: ResultFiles<Section>,
  section: Section,
  report: SectionReport,
): Promise<void> {
  await mkdir(resultFolder, { recursive: true });
  const file = path.join(resultFolder, `${name}.json`);
  const text = await readFile(file, "utf8").catch(() => undefined);
  const before = text === undefined ? {} : (JSON.parse(text) as ResultFile<Section>).sections;
  const result: ResultFile<Section> = { machine, sections: { ...before, [section]: report } };
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
  const reported = order.flatMap((each) => {
    const found = result.sections[each];
    return found === undefined ? [] : [{ ...sectionOf(each), report: found }];
  });
  await writeFile(path.join(resultFolder, `${name}.md`), reportText(frame, reported));
}
