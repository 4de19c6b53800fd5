import { summary } from "../summary.ts";
import type { Figure, Sample, SectionName } from "./sample.ts";

/** A figure's middle and its extremes over the rounds, and what it is of gdnsd's and BIND's in the same run. */
export interface ReportedFigure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly rounds: number;
  readonly toGdnsd?: number;
  readonly toBind?: number;
}

export interface ReportedCase {
  readonly case: string;
  readonly servers: Readonly<Record<string, Readonly<Record<string, ReportedFigure>>>>;
}

/** A section's result as `bench/results/dns.json` keeps it. */
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

/** Sums up the samples of one section, case by case. */
export function reportedCases(
  samples: readonly Sample[],
  section: SectionName,
  figures: readonly Figure[],
): ReportedCase[] {
  const own = samples.filter((sample) => sample.section === section);
  return distinct(own.map((sample) => sample.case)).map((name) => {
    const ofCase = own.filter((sample) => sample.case === name);
    const median = (server: string, key: string): number | undefined =>
      reported(
        ofCase.filter((sample) => sample.server === server),
        key,
      )?.median;
    const servers = distinct(ofCase.map(({ server }) => server)).map((server) => {
      const rows = figures.flatMap((figure) => {
        const all = reported(
          ofCase.filter((sample) => sample.server === server),
          figure.key,
        );
        if (all === undefined) return [];
        const { key, compared } = figure;
        return [
          [
            key,
            {
              ...all,
              ...(compared ? ratio("toGdnsd", all.median, median("gdnsd", key)) : {}),
              ...(compared ? ratio("toBind", all.median, median("BIND", key)) : {}),
            },
          ] as const,
        ];
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

function ratio(
  name: "toGdnsd" | "toBind",
  own: number,
  other: number | undefined,
): Partial<Record<typeof name, number>> {
  return other === undefined || other === 0 ? {} : { [name]: Math.round((own / other) * 100) / 100 };
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
