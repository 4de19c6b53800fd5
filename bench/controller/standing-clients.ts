import type { TcpProxy } from "../../test/conformance/tcp-proxy.ts";
import type { BenchServer } from "./bench-server.ts";
import { ClientProcess } from "./client-process.ts";
import type { ControllerRun } from "./controller-run.ts";

/** A client with a complete copy, connected through a proxy of its own. */
export interface StandingClient {
  readonly name: string;
  readonly process: ClientProcess;
  readonly proxy: TcpProxy;
}

/** All clients of a server at once, all of them paused but those that are measured. */
export class StandingClients implements AsyncDisposable {
  readonly all: readonly StandingClient[];

  private constructor(all: readonly StandingClient[]) {
    this.all = all;
  }

  /** Starts them one after the other; one that does not come to a complete copy is a failure of the run and left out. */
  static async start(run: ControllerRun, server: BenchServer): Promise<StandingClients> {
    const all: StandingClient[] = [];
    await server.fill(run.mainSize);
    for (const client of run.clientsOf(server)) {
      const proxy = await server.proxy();
      const { command, env } = await client.command(await server.kubeconfigFile(proxy.url));
      const process = ClientProcess.start(command, env);
      try {
        await process.next("ready");
        await process.ask("start", "synced");
        await process.ask("collect", "collected");
        process.pause();
        all.push({ name: client.name, process, proxy });
      } catch (error) {
        await process[Symbol.asyncDispose]();
        run.fail(`${client.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return new StandingClients(all);
  }

  resume(): void {
    for (const { process } of this.all) process.resume();
  }

  pause(): void {
    for (const { process } of this.all) process.pause();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map(({ process }) => process[Symbol.asyncDispose]()));
  }
}
