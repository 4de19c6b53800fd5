import type { Endpoint, Runtime } from "@meridian/runtime";
import type { ServerAddress } from "../config/environment-reader.ts";
import { familyOf } from "../decide/address-family.ts";

/** The addresses of a host name as the machine knows them. */
export type ResolveHost = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Which servers, and how those that are given by name are found. */
export interface EdgeServersOptions {
  readonly servers: readonly ServerAddress[];
  /** Absent, as in the simulator: servers given by name are left out. */
  readonly resolveHost: ResolveHost | undefined;
  readonly periodMs: number;
}

/** How soon to look again for a name that has no known address. */
const retryMs = 5000;

/**
 * The edge servers, in the order of the settings. Those given by name are looked up by the machine's own resolver and again
 * each period; the last addresses stand while that fails.
 */
export class EdgeServers {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: EdgeServersOptions;
  readonly #addresses = new Map<string, readonly string[]>();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: EdgeServersOptions) {
    this.#runtime = runtime;
    this.#options = options;
    for (const host of options.resolveHost === undefined ? this.#names : [])
      runtime.log.warn(
        "an edge DNS server is given by name, and only addresses can be used here; put its address into EDGE_DNS_SERVERS",
        { host },
      );
  }

  /** Where to ask now; less than configured while a name has no known address. */
  get endpoints(): readonly Endpoint[] {
    return this.#options.servers.flatMap(({ host, port }) =>
      (familyOf(host) === undefined ? (this.#addresses.get(host) ?? []) : [host]).map((address) => ({
        address,
        port,
      })),
    );
  }

  /** Looks every name up once; a name that cannot be is tried again by `run`. */
  async open(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#lookUp(name, signal)));
  }

  /** Keeps looking names up until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#names.length === 0 || this.#options.resolveHost === undefined) return;
    while (!signal.aborted) {
      const isWhole = this.#names.every((name) => this.#addresses.has(name));
      await this.#runtime.clock.sleep(isWhole ? this.#options.periodMs : retryMs, signal).catch(() => {});
      if (!signal.aborted) await this.open(signal);
    }
  }

  get #names(): readonly string[] {
    return [...new Set(this.#options.servers.map(({ host }) => host))].filter(
      (host) => familyOf(host) === undefined,
    );
  }

  async #lookUp(name: string, signal: AbortSignal): Promise<void> {
    const { resolveHost } = this.#options;
    if (resolveHost === undefined) return;
    try {
      const found = await resolveHost(name, signal);
      if (found.length > 0) this.#addresses.set(name, found);
    } catch (error) {
      if (!signal.aborted)
        this.#runtime.log.warn("the name of an edge DNS server cannot be resolved; trying again", {
          host: name,
          error,
        });
    }
  }
}
