import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientReports } from "../client-report.ts";
import { cpuMs } from "./own-figures.ts";
import { UpdateLog } from "./update-log.ts";

/** An informer in JavaScript, as the bench sees it. */
export interface MeasuredInformer {
  /** Resolves when the handler has been told of every object; the handler tells `updates` of each update. */
  start(updates: UpdateLog): Promise<void>;
  /** How many are in the copy. */
  objects(): number;
}

/** Does what stdin says with an informer until it ends, then ends the process: see `ClientReports`. */
export async function serveCommands(informer: MeasuredInformer): Promise<void> {
  const updates = new UpdateLog((report) => tell("seen", report));
  const rssBytes = (): number => process.memoryUsage.rss();
  tell("ready", { rssBytes: rssBytes(), cpuMs: cpuMs() });
  for await (const line of createInterface(process.stdin)) {
    const [command = "", argument = ""] = line.split(" ");
    switch (command) {
      case "start": {
        const [startedMs, cpuBeforeMs] = [performance.now(), cpuMs()];
        await informer.start(updates);
        const ms = performance.now() - startedMs;
        tell("synced", {
          ...{ ms, cpuMs: cpuMs() - cpuBeforeMs, rssBytes: rssBytes() },
          objects: informer.objects(),
        });
        break;
      }
      case "collect":
        for (let pass = 0; pass < 3; pass++) {
          globalThis.gc?.();
          await sleep(50);
        }
        tell("collected", {
          ...{ rssBytes: rssBytes(), objects: informer.objects() },
          heapBytes: process.memoryUsage().heapUsed,
        });
        break;
      case "expect":
        updates.expect(Number(argument));
        tell("expecting", {});
        break;
      case "record":
        updates.record();
        tell("recording", {});
        break;
      case "recorded":
        tell("recorded", updates.recorded());
        break;
      default:
        throw new Error(`there is no command ${JSON.stringify(line)}`);
    }
  }
  process.exit();
}

/** Tells the bench. */
export function tell<At extends keyof ClientReports>(at: At, report: ClientReports[At]): void {
  process.stdout.write(`${JSON.stringify({ at, ...report })}\n`);
}
