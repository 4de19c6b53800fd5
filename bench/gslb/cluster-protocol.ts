/** What a cluster of the bench is, whatever it runs. */
export interface ClusterSetting {
  readonly tag: string;
  readonly tags: readonly string[];
  readonly network: string;
  /** Applications whose objects are there before the cluster starts. */
  readonly applications: number;
  /** Of these, how many have their Gslb already; the others get it by `apply`. */
  readonly gslbs: number;
  readonly periodSeconds: number;
}

/** What a cluster has done since its process began; of one that is not measured in some respect, 0. */
export interface ClusterCounts {
  /** User and system time of everything in the cluster's process, in ms: API server, operator and DNS server. */
  readonly cpuMs: number;
  readonly residentMiB: number;
  /** Messages that its DNS server answered, over every transport. */
  readonly dnsMessages: number;
  readonly tcpConnections: number;
  /** Requests of its operator to its API server. */
  readonly apiRequests: number;
  /** Of these, POST, PUT, PATCH and DELETE. */
  readonly apiWrites: number;
  readonly reconciles: number;
}

/** Moments are ms of the machine's monotonic clock, the same in every process. */
export interface ClusterCommands {
  /** Puts the objects there. */
  prepare(setting: ClusterSetting): Promise<void>;
  /** Starts the cluster. @returns the ms until it answers */
  start(): Promise<number>;
  /** Stops the cluster and starts it again from what is stored. @returns the ms until it answers */
  restart(): Promise<number>;
  /** Marks an application's only endpoint. @returns when the write was accepted */
  setReady(index: number, ready: boolean): Promise<number>;
  /** Makes Gslbs. @returns when the first was sent and the last accepted */
  apply(from: number, to: number): Promise<{ readonly startedMs: number; readonly endedMs: number }>;
  counts(): Promise<ClusterCounts>;
}

/** Of the machine's monotonic clock. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Serves commands to the parent process, until that is gone. */
export function serveCommands(commands: ClusterCommands): void {
  const table = commands as unknown as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
  process.on(
    "message",
    (message: { readonly id: number; readonly name: string; readonly args: unknown[] }) => {
      const { id, name, args } = message;
      const answer = (what: object): void => void process.send?.({ id, ...what });
      table[name]!.call(commands, ...args).then(
        (result) => answer({ result }),
        (error: unknown) =>
          answer({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
    },
  );
  process.on("disconnect", () => process.exit(0));
}
