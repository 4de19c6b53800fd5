import type { Figure, Reference } from "./sample.ts";
import type { ReportedFigure, SectionReport } from "./section-report.ts";

export interface ReportedSection {
  readonly title: string;
  /** What the first column holds. */
  readonly subject: string;
  readonly figures: readonly Figure[];
  readonly references: readonly Reference[];
  readonly report: SectionReport;
}

/** What a page of results says before its tables. */
export interface ReportFrame {
  readonly title: string;
  /** Lines on how to read it. */
  readonly reading: readonly string[];
}

/** The results as a page of tables in Markdown. */
export function reportText(frame: ReportFrame, sections: readonly ReportedSection[]): string {
  return [`# ${frame.title}`, "", ...frame.reading, ...sections.flatMap(sectionText), ""].join("\n");
}

function sectionText({ title, subject, figures, references, report }: ReportedSection): string[] {
  return [
    "",
    `## ${title}`,
    "",
    `\`${report.command}\`, ${report.measured.slice(0, 10)}; ${report.conditions}.${report.complete ? "" : " **Aborted.**"}`,
    ...report.cases.flatMap((one) => {
      const shown = figures.filter(({ key }) => Object.values(one.servers).some((row) => key in row));
      const header = [subject, ...shown.flatMap((figure) => columnTitles(figure, references))];
      return [
        "",
        `### ${one.case}`,
        "",
        tableRow(header),
        tableRow(header.map((_, at) => (at === 0 ? "---" : "--:"))),
        ...Object.entries(one.servers).map(([server, row]) =>
          tableRow([server, ...shown.flatMap((figure) => columns({ figure, references }, row[figure.key]))]),
        ),
      ];
    }),
    ...(report.remarks.length === 0 ? [] : ["", ...report.remarks.map((remark) => `- ${oneLine(remark)}`)]),
  ];
}

const columnTitles = ({ title, compared }: Figure, references: readonly Reference[]): string[] => [
  title,
  ...(compared ? references.map(({ sign }) => sign) : []),
];

function columns(
  {
    figure: { digits, compared },
    references,
  }: { readonly figure: Figure; readonly references: readonly Reference[] },
  value: ReportedFigure | undefined,
): string[] {
  const shown = compared ? references : [];
  if (value === undefined) return ["–", ...shown.map(() => "–")];
  const text = (number: number): string =>
    number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const spread = value.min === value.max ? "" : ` (${text(value.min)}–${text(value.max)})`;
  return [
    `${text(value.median)}${spread}`,
    ...shown.map(({ server }) => value.to?.[server]?.toFixed(2) ?? "–"),
  ];
}

const tableRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 300);
