/** What a server is started with. Each start gets a fresh folder, so nothing is left of an earlier one. */
export interface ServerSettings {
  readonly folder: string;
  readonly port: number;
  readonly zoneFile: string;
  readonly workers: number;
  /** Answer DNS cookies, where that is a setting. */
  readonly cookies: boolean;
  /** Take updates signed with the bench's TSIG key; without it the zone is fixed. */
  readonly updates: boolean;
}

export interface ServerCommand {
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** How one server is configured and started: rate limiting off, minimal answers on, threads as told. */
export interface ServerDriver {
  readonly name: string;
  /** Why it cannot run here, or undefined. */
  readonly absence: () => Promise<string | undefined>;
  readonly version: () => Promise<string>;
  /** Writes its configuration into the folder. */
  readonly prepare: (settings: ServerSettings) => Promise<ServerCommand>;
  /** Whether it takes part in a section that not every server can. */
  readonly can: { readonly twoWorkers: boolean; readonly updates: () => Promise<boolean> };
}
