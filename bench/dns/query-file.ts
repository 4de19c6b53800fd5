import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { benchQuestion } from "./bench-question.ts";
import type { QuestionKind } from "./bench-question.ts";
import { seededDraws } from "./seeded-draws.ts";

/** A load: addresses of hosts only, or with all that resolvers ask beside. */
export type QueryMix = "hit" | "mixed";

/** Twenty questions of each mix; a file repeats them shuffled, so that each part of it has the same shares. */
const blocks: Readonly<Record<QueryMix, Readonly<Partial<Record<QuestionKind, number>>>>> = {
  hit: { hit: 20 },
  mixed: { hit: 12, nxdomain: 3, nodata: 2, cname: 1, wildcard: 1, referral: 1 },
};

/** The kinds of questions in a mix. */
export const kindsOf = (mix: QueryMix): readonly QuestionKind[] =>
  Object.keys(blocks[mix]) as readonly QuestionKind[];

/** The share of NXDOMAIN among the answers to a mix. */
export const nxdomainShare = (mix: QueryMix): number => (blocks[mix].nxdomain ?? 0) / 20;

export interface QueryFileOptions {
  readonly mix: QueryMix;
  readonly hosts: number;
  /** Rounded up to whole blocks of 20. */
  readonly queries: number;
  readonly seed: number;
}

/** Writes a query file for dnsperf: one `name type` per line, the same for the same options. */
export async function writeQueryFile(file: string, options: QueryFileOptions): Promise<void> {
  const draw = seededDraws(options.seed);
  const block = Object.entries(blocks[options.mix]).flatMap(([kind, count]) =>
    Array.from({ length: count }, () => kind as QuestionKind),
  );
  const stream = createWriteStream(file);
  for (let written = 0; written < options.queries;) {
    const lines: string[] = [];
    for (let n = 0; n < 100; n++) {
      for (const kind of shuffled(block, draw)) {
        const question = benchQuestion(kind, options.hosts, draw);
        lines.push(`${question.name} ${question.type}\n`);
      }
    }
    written += lines.length;
    if (!stream.write(lines.join(""))) await once(stream, "drain");
  }
  stream.end();
  await once(stream, "finish");
}

function shuffled<T>(values: readonly T[], draw: (below: number) => number): T[] {
  const result = [...values];
  for (let at = result.length - 1; at > 0; at--) {
    const other = draw(at + 1);
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
}
