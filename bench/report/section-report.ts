import { summary } from "../summary.ts";
import type { Figure, Reference, Sample } from "./sample.ts";

/** A figure's middle and its extremes over the rounds. */
export interface ReportedFigure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly rounds: number;
  /** What the median is of that of each reference in the same run, by the reference's name. */
  readonly to?: Readonly<Record<string, number>>;
}

export interface ReportedCase {
  readonly case: string;
  readonly servers: Readonly<Record<string, Readonly<Record<string, ReportedFigure>>>>;
}

/** A section's result as the files in `bench/results` keep it. */
export interface SectionReport {
  readonly command: string;
  readonly measured: string;
  /** False while it is measured, and for ever where it was aborted. */
  readonly complete: boolean;
  readonly conditions: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly remarks: readonly string[];
  readonly cases: readonly ReportedCase[];
}

/** What of the samples is summed up, and how. */
export interface ReportedPart {
  readonly section: string;
  readonly figures: readonly Figure[];
  readonly references: readonly Reference[];
}

/** Sums up the samples of one section, case by case. */
export function reportedCases(
  samples: readonly Sample[],
  { section, figures, references }: ReportedPart,
): ReportedCase[] {
  const own = samples.filter((sample) => sample.section === section);
  return distinct(own.map((sample) => sample.case)).map((name) => {
    const ofCase = own.filter((sample) => sample.case === name);
    const figureOf = (server: string, key: string): ReportedFigure | undefined =>
      reported(
        ofCase.filter((sample) => sample.server === server),
        key,
      );
    const ratios = (key: string, own: number): Record<string, number> =>
      Object.fromEntries(
        references.flatMap((reference) => {
          const other = figureOf(reference.server, key)?.median ?? 0;
          return other === 0 ? [] : [[reference.server, Math.round((own / other) * 100) / 100]];
        }),
      );
    const servers = distinct(ofCase.map(({ server }) => server)).map((server) => {
      const rows = figures.flatMap(({ key, compared }) => {
        const figure = figureOf(server, key);
        if (figure === undefined) return [];
        const to = compared ? ratios(key, figure.median) : {};
        return [[key, Object.keys(to).length === 0 ? figure : { ...figure, to }] as const];
      });
      return [server, Object.fromEntries(rows)] as const;
    });
    return { case: name, servers: Object.fromEntries(servers) };
  });
}

function reported(samples: readonly Sample[], key: string): ReportedFigure | undefined {
  const values = samples.map(({ values: all }) => all[key]).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  const { p50, min, max, n } = summary(values);
  return { median: p50, min, max, rounds: n };
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
