import type { BenchRun } from "./bench-run.ts";
import type { RunningServer, StartOptions } from "./running-server.ts";
import type { ServerDriver } from "./server-driver.ts";

/** Servers that run side by side over one zone, all of them paused but the one that is measured. */
export class ServerSet implements AsyncDisposable {
  readonly #servers = new Map<string, RunningServer>();

  /** Starts these servers one after the other; one that does not come up is a failure of the run and left out. */
  static async start(
    run: BenchRun,
    drivers: readonly ServerDriver[],
    options: { readonly hosts: number } & Partial<Omit<StartOptions, "zoneFile">>,
  ): Promise<ServerSet> {
    const set = new ServerSet();
    for (const driver of drivers) {
      const server = await run.start(driver, options);
      if (server === undefined) continue;
      server.pause();
      set.#servers.set(driver.name, server);
    }
    return set;
  }

  get names(): readonly string[] {
    return [...this.#servers.keys()];
  }

  /** Wakes one server for the time of `measure`. */
  async awake<T>(name: string, measure: (server: RunningServer) => Promise<T>): Promise<T> {
    const server = this.#servers.get(name)!;
    server.resume();
    try {
      return await measure(server);
    } finally {
      server.pause();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server[Symbol.asyncDispose]()));
  }
}
