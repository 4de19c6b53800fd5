import type { Command } from "../cli/command.ts";
import type { ChildRole } from "../fleet/child-protocol.ts";
import { runChild } from "../fleet/child-process.ts";
import { asMeridianError } from "../fleet/listen-failure.ts";

const child = { details: [], options: [], internal: true, run: (): Promise<number> => runChild(startRole) };

/** `meridian cluster NAME` and `meridian parent`: what `meridian up` starts. The name is for the list of processes. */
export const childCommands: readonly Command[] = [
  { ...child, words: ["cluster"], positionals: ["NAME"], summary: "one cluster of a fleet" },
  { ...child, words: ["parent"], positionals: [], summary: "the parent DNS server of a fleet" },
];

async function startRole(role: ChildRole): Promise<AsyncDisposable> {
  try {
    if (role.kind === "parent")
      return await (await import("./start-parent-process.ts")).startParentProcess(role);
    return await (await import("./start-cluster-process.ts")).startClusterProcess(role);
  } catch (error) {
    throw asMeridianError(error);
  }
}
