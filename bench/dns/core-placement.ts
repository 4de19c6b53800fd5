import { run } from "../../e2e/harness/command.ts";

/**
 * Puts both sides onto cores and into the round-robin real-time class, as far as this machine permits: ahead of all normal work
 * like FIFO, but threads on one core take turns. In the FIFO class V8's threads may wait for one another for ever, and so may
 * servers for a client whose threads have all their cores.
 */
export interface CorePlacement {
  /** The words before a command that pin it and let it go before all normal work. */
  readonly favoured: (cores: string) => readonly string[];
  /** The same, in the real-time class from its start. */
  readonly realTime: (cores: string) => readonly string[];
  /** Moves all threads of running processes into the real-time class. */
  readonly promote: (pids: readonly number[]) => Promise<void>;
  /** What was permitted, for the result. */
  readonly note: string;
}

const roundRobin = ["chrt", "-r", "50"] as const;
const nice = ["nice", "-n", "-20"] as const;

/**
 * Finds out what is permitted. The real-time class keeps all other work off both sides' cores; where it is not permitted, other work on
 * the machine is part of the figures, and the note says so.
 */
export async function corePlacement(): Promise<CorePlacement> {
  const hasRealTime = await permitted(roundRobin);
  const hasNice = await permitted(nice);
  const hasCores = await permitted(["taskset", "-c", "1"]);
  const pinned = (cores: string): string[] => (hasCores ? ["taskset", "-c", cores] : []);
  return {
    favoured: (cores) => [...(hasNice ? nice : []), ...pinned(cores)],
    realTime: (cores) => [...(hasRealTime ? roundRobin : []), ...pinned(cores)],
    async promote(pids) {
      if (!hasRealTime) return;
      for (const pid of pids) await run("chrt", ["-a", "-r", "-p", "50", String(pid)]);
    },
    note: [
      hasRealTime
        ? "both sides in the round-robin real-time class (servers once they have started, at nice -20 until then)"
        : "real-time class not permitted: other work on the machine is in the figures",
      hasCores ? "pinned with taskset" : "pinning to a core not permitted",
    ].join(", "),
  };
}

async function permitted(words: readonly string[]): Promise<boolean> {
  const tried = await run(words[0]!, [...words.slice(1), "true"]).catch(() => undefined);
  return tried?.code === 0;
}
