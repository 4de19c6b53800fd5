import { askUdp } from "./ask-udp.ts";
import { benchQuestion, expectedHeaders } from "./bench-question.ts";
import type { QuestionKind } from "./bench-question.ts";
import { seededDraws } from "./seeded-draws.ts";

export interface WatchOptions {
  readonly port: number;
  readonly hosts: number;
  readonly kinds: readonly QuestionKind[];
}

/** Asks one question of each kind and says what is wrong with the answers; an empty list where all are right. */
export async function wrongAnswers(options: WatchOptions, seed: number): Promise<string[]> {
  const draw = seededDraws(seed);
  const wrong: string[] = [];
  for (const kind of options.kinds) {
    const question = benchQuestion(kind, options.hosts, draw);
    const expected = expectedHeaders[kind];
    const answer = await askUdp(options.port, question, 3000);
    const header = answer?.header;
    if (header === undefined) {
      wrong.push(`${question.name} ${question.type}: no answer`);
    } else if (
      header.rcode !== expected.rcode ||
      header.truncated ||
      header.authoritative !== expected.authoritative ||
      !expected.answers.includes(header.answers) ||
      (expected.authorities === "some" && header.authorities === 0)
    ) {
      wrong.push(`${question.name} ${question.type} (${kind}): ${JSON.stringify(header)}`);
    }
  }
  return wrong;
}

/** Goes on asking while `load` runs, some times a second: no server may be measured while it refuses. */
export async function watchedAnswers<T>(
  options: WatchOptions,
  load: Promise<T>,
): Promise<{ readonly result: T; readonly checked: number; readonly wrong: readonly string[] }> {
  let over = false;
  const finished = load.finally(() => (over = true));
  finished.catch(() => undefined); // awaited below
  const wrong: string[] = [];
  let checked = 0;
  while (!over) {
    const found = await wrongAnswers(options, checked + 1);
    // The last answers may have been asked while the load's end was awaited; they count all the same.
    wrong.push(...found);
    checked += options.kinds.length;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return { result: await finished, checked, wrong };
}
