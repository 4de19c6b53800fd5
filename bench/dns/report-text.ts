import type { Figure, SectionName } from "./sample.ts";
import type { ReportedFigure, SectionReport } from "./section-report.ts";

export interface ReportedSection {
  readonly name: SectionName;
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly report: SectionReport;
}

/** The results as a page of tables in Markdown. */
export function reportText(machine: string, sections: readonly ReportedSection[]): string {
  return [
    "# DNS servers, measured side by side",
    "",
    `${machine}. Each table is one run, servers in turn; median (min–max) of the rounds. \`/g\` and \`/B\` are the median's ratio`,
    "to gdnsd's and to BIND's of the same run. µs CPU is user and system time of all of a server's processes and threads; where the",
    "client is busy, it is the figure that decides, and q/s a lower bound. gdnsd answers a CNAME without its target. Compare ratios,",
    "not figures of two runs.",
    ...sections.flatMap(sectionText),
    "",
  ].join("\n");
}

function sectionText({ title, figures, report }: ReportedSection): string[] {
  return [
    "",
    `## ${title}`,
    "",
    `\`${report.command}\`, ${report.measured.slice(0, 10)}; ${report.conditions}.${report.complete ? "" : " **Aborted.**"}`,
    ...report.cases.flatMap((one) => {
      const shown = figures.filter(({ key }) => Object.values(one.servers).some((row) => key in row));
      const header = ["server", ...shown.flatMap(columnTitles)];
      return [
        "",
        `### ${one.case}`,
        "",
        tableRow(header),
        tableRow(header.map((_, at) => (at === 0 ? "---" : "--:"))),
        ...Object.entries(one.servers).map(([server, row]) =>
          tableRow([server, ...shown.flatMap((figure) => columns(figure, row[figure.key]))]),
        ),
      ];
    }),
    ...(report.remarks.length === 0 ? [] : ["", ...report.remarks.map((remark) => `- ${oneLine(remark)}`)]),
  ];
}

const columnTitles = ({ title, compared }: Figure): string[] => [title, ...(compared ? ["/g", "/B"] : [])];

function columns({ digits, compared }: Figure, value: ReportedFigure | undefined): string[] {
  if (value === undefined) return compared ? ["–", "–", "–"] : ["–"];
  const text = (number: number): string =>
    number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const spread = value.min === value.max ? "" : ` (${text(value.min)}–${text(value.max)})`;
  const ratios = compared ? [value.toGdnsd, value.toBind].map((number) => number?.toFixed(2) ?? "–") : [];
  return [`${text(value.median)}${spread}`, ...ratios];
}

const tableRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 300);
