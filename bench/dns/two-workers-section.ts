import { wrongAnswers } from "./answer-watch.ts";
import type { BenchRun } from "./bench-run.ts";
import { hostsText } from "./bench-zone.ts";
import { measuredLoad } from "./load-section.ts";
import type { LoadCase } from "./load-section.ts";
import type { Figure } from "../report/sample.ts";
import { ServerSet } from "./server-set.ts";

export const twoWorkersFigures: readonly Figure[] = [
  { key: "queriesPerSecond", title: "q/s", digits: 0, compared: true },
  { key: "oneWorkerQueriesPerSecond", title: "q/s of one worker", digits: 0, compared: false },
  { key: "gain", title: "gain", digits: 2, compared: true },
  { key: "cpuMicrosecondsPerQuery", title: "µs CPU/query", digits: 2, compared: true },
  { key: "oneWorkerCpuMicrosecondsPerQuery", title: "of one worker", digits: 2, compared: false },
  { key: "answeredPercent", title: "answered %", digits: 3, compared: false },
  { key: "bufferErrors", title: "buffer errors", digits: 0, compared: false },
];

/**
 * Two workers that share both cores with a client of two threads, beside one worker on one core with a client on the other. The
 * gain is the ratio of the two rates in one round.
 */
export async function measureTwoWorkers(run: BenchRun): Promise<void> {
  const hosts = run.mainSize;
  const load: LoadCase = { section: "dns-two-workers", case: `${hostsText(hosts)}, hit`, hosts, mix: "hit" };
  const { section } = load;
  for (const driver of run.drivers.filter(({ can }) => !can.twoWorkers))
    run.remark(`${driver.name}: skipped in ${section}, it has one worker only`);
  const drivers = run.drivers.filter(({ can }) => can.twoWorkers);
  const isDone = (server: string, round: number): boolean =>
    run.journal.has({ section, case: load.case, server, round });
  const rounds = Array.from({ length: run.settings.rounds }, (_, round) => round);
  if (drivers.every(({ name }) => rounds.every((round) => isDone(name, round)))) return;

  await using single = await ServerSet.start(run, drivers, { hosts });
  await using double = await ServerSet.start(run, drivers, { hosts, workers: 2, cores: "0,1" });
  const names = single.names.filter((name) => double.names.includes(name));
  const { seconds, warmSeconds } = run.settings;
  const one = (name: string, length: number): Promise<Record<string, number>> =>
    single.awake(name, (server) =>
      measuredLoad(run, server, { load, cores: "1", threads: 1, seconds: length }),
    );
  const two = (name: string, length: number): Promise<Record<string, number>> =>
    double.awake(name, (server) =>
      measuredLoad(run, server, { load, cores: "0,1", threads: 2, seconds: length }),
    );
  for (const name of names) {
    const wrong = await double.awake(name, ({ port }) => wrongAnswers({ port, hosts, kinds: ["hit"] }, 0));
    if (wrong.length > 0) run.fail(`${name}, ${section}: ${wrong.join("; ")}`);
    await one(name, warmSeconds);
    await two(name, warmSeconds);
  }
  for (const round of rounds) {
    for (const name of names.filter((server) => !isDone(server, round))) {
      const alone = await one(name, seconds);
      const shared = await two(name, seconds);
      const gain = shared["queriesPerSecond"]! / alone["queriesPerSecond"]!;
      await run.record({
        section,
        case: load.case,
        server: name,
        round,
        values: {
          ...shared,
          oneWorkerQueriesPerSecond: alone["queriesPerSecond"]!,
          oneWorkerCpuMicrosecondsPerQuery: alone["cpuMicrosecondsPerQuery"]!,
          gain,
        },
      });
      console.error(`${section}, round ${round + 1}: ${name} gains ${gain.toFixed(2)} times`);
    }
  }
}
