import type { Command } from "../cli/command.ts";
import { dataFolder, dataOption } from "../cli/data-option.ts";
import { openFleet } from "../fleet/open-fleet.ts";

/** `meridian start`: has the processes started again that died under `up --no-restart`. */
export const startCommand: Command = {
  words: ["start"],
  positionals: [],
  summary: "start again what has died in a fleet",
  details: [
    "Without --no-restart meridian up does that by itself; this makes it at once and without waiting.",
    "Watch it with meridian status.",
  ],
  options: [dataOption],
  async run(invocation, terminal) {
    const fleet = await openFleet(dataFolder(invocation));
    process.kill(fleet.pid, "SIGUSR2");
    terminal.print(`Told process ${fleet.pid} to start what is down.`);
    return 0;
  },
};
