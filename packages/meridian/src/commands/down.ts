import { nodeRuntime } from "@meridian/runtime/node";
import { silentLogger } from "@meridian/runtime";
import type { Command } from "../cli/command.ts";
import { dataArgument, dataFolder, dataOption } from "../cli/data-option.ts";
import { isAlive, lockHolder } from "../fleet/folder-lock.ts";
import { MeridianError } from "../meridian-error.ts";

const withinMs = 20_000;
const pollMs = 50;

/** `meridian down`: ends a fleet from another terminal. */
export const downCommand: Command = {
  words: ["down"],
  positionals: [],
  summary: "stop the fleet",
  details: ["Tells the process of meridian up to stop everything, and waits until it has."],
  options: [dataOption],
  async run(invocation, terminal) {
    const folder = dataFolder(invocation);
    const holder = await lockHolder(folder);
    if (holder === undefined) {
      terminal.print(`No fleet runs in ${folder}.`);
      return 0;
    }
    const { clock } = nodeRuntime({ dataFolder: folder, log: silentLogger });
    process.kill(holder.pid, "SIGTERM");
    const deadline = clock.monotonicMs() + withinMs;
    while (await isAlive(holder)) {
      if (clock.monotonicMs() > deadline) {
        throw new MeridianError(
          "TimedOut",
          `process ${holder.pid} has not stopped within ${withinMs / 1000} s; ` +
            `run "${terminal.self} down${dataArgument(folder)}" once more to force it, or kill -9 ${holder.pid}`,
        );
      }
      await clock.sleep(pollMs);
    }
    terminal.print(`Stopped the fleet in ${folder}.`);
    return 0;
  },
};
