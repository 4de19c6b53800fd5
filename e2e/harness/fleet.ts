import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./command.ts";
import type { CommandResult } from "./command.ts";
import { dig } from "./dig.ts";
import type { DigAnswer } from "./dig.ts";
import { eventually } from "./eventually.ts";

/** The command under test. */
export const meridianMain: string = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  "../../../packages/meridian/dist/main.js",
);

/** One cluster of `fleet.json`. */
export interface FleetCluster {
  readonly name: string;
  readonly geoTag: string;
  readonly pid: number;
  readonly kubeconfig: string;
  readonly apiServer: string;
  readonly dns: { readonly address: string; readonly port: number };
}

export interface FleetFile {
  readonly clusters: readonly FleetCluster[];
  readonly parent: {
    readonly pid: number;
    readonly dns: { readonly address: string; readonly port: number };
  };
}

/**
 * Every suite runs on both datapaths: of the clusters of a fleet every other one answers datagrams by threads with
 * `recvmmsg`, the others by the main thread, and what is asked of a fleet is asked of all of its clusters.
 */
const datapaths = process.platform === "linux" ? "mmsg,dgram" : "dgram";

/** A running playground, driven from outside. */
export class Fleet {
  readonly dataFolder: string;
  readonly #child: ChildProcess;
  readonly #output: () => string;
  readonly #ownsFolder: boolean;

  private constructor(options: {
    dataFolder: string;
    child: ChildProcess;
    output: () => string;
    ownsFolder: boolean;
  }) {
    this.dataFolder = options.dataFolder;
    this.#child = options.child;
    this.#output = options.output;
    this.#ownsFolder = options.ownsFolder;
  }

  /** Starts `meridian up` and waits for its fleet file. */
  static async start(
    options: {
      readonly args?: readonly string[];
      readonly dataFolder?: string;
      readonly env?: NodeJS.ProcessEnv;
    } = {},
  ): Promise<Fleet> {
    const dataFolder = options.dataFolder ?? (await mkdtemp(path.join(tmpdir(), "meridian-e2e-")));
    const child = spawn(
      process.execPath,
      [meridianMain, "up", "--data", dataFolder, "--datapath", datapaths, ...(options.args ?? [])],
      {
        env: { ...process.env, ...options.env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    const fleet = new Fleet({
      dataFolder,
      child,
      output: () => printed,
      ownsFolder: options.dataFolder === undefined,
    });
    try {
      await eventually(
        "fleet.json appears",
        async () => {
          if (child.exitCode !== null) return;
          await fleet.file();
        },
        { withinMs: 60_000 },
      );
      if (child.exitCode !== null) throw new Error(`meridian up ended with ${child.exitCode}`);
    } catch (error) {
      child.kill("SIGKILL");
      throw new Error(`the fleet did not start; it printed:\n${printed}`, { cause: error });
    }
    return fleet;
  }

  /** What the command has printed so far. */
  get printed(): string {
    return this.#output();
  }

  async file(): Promise<FleetFile> {
    return JSON.parse(await readFile(path.join(this.dataFolder, "fleet.json"), "utf8")) as FleetFile;
  }

  async cluster(name: string): Promise<FleetCluster> {
    const found = (await this.file()).clusters.find((cluster) => cluster.name === name);
    if (found === undefined) throw new Error(`fleet.json has no cluster ${name}`);
    return found;
  }

  /** Asks the DNS server of a cluster, or of the `parent`. */
  async dig(
    cluster: string,
    name: string,
    options: { type?: string; options?: readonly string[] } = {},
  ): Promise<DigAnswer> {
    const { dns } = cluster === "parent" ? (await this.file()).parent : await this.cluster(cluster);
    return dig({ server: dns.address, port: dns.port, name, ...options });
  }

  async kubectl(
    cluster: string,
    args: readonly string[],
    options: { stdin?: string; timeoutMs?: number } = {},
  ): Promise<string> {
    const result = await this.tryKubectl(cluster, args, options);
    if (result.code !== 0)
      throw new Error(`kubectl ${args.join(" ")} at ${cluster}: ${result.stderr}${result.stdout}`);
    return result.stdout;
  }

  async tryKubectl(
    cluster: string,
    args: readonly string[],
    options: { stdin?: string; timeoutMs?: number } = {},
  ): Promise<CommandResult> {
    const { kubeconfig } = await this.cluster(cluster);
    return run("kubectl", ["--kubeconfig", kubeconfig, "--request-timeout=15s", ...args], {
      ...options,
      env: { ...process.env, HOME: this.dataFolder },
    });
  }

  /** Another subcommand of `meridian` on this fleet's folder. */
  async meridian(args: readonly string[]): Promise<CommandResult> {
    return run(process.execPath, [meridianMain, ...args, "--data", this.dataFolder], { timeoutMs: 120_000 });
  }

  /** Applies manifests at one cluster or at all of them. */
  async apply(manifest: string, clusters?: readonly string[]): Promise<void> {
    const names = clusters ?? (await this.file()).clusters.map((cluster) => cluster.name);
    await Promise.all(names.map((name) => this.kubectl(name, ["apply", "-f", "-"], { stdin: manifest })));
  }

  /** Waits until the servers of all (or the named) clusters answer exactly these addresses for a host. */
  async answers(
    host: string,
    addresses: readonly string[],
    options: { readonly at?: readonly string[]; readonly withinMs?: number } = {},
  ): Promise<void> {
    const names = options.at ?? (await this.file()).clusters.map((cluster) => cluster.name);
    const want = addresses.toSorted().join(" ");
    await Promise.all(
      names.map((name) =>
        eventually(
          `${host} at ${name} is [${want}]`,
          async () => {
            const got = (await this.dig(name, host)).addresses.join(" ");
            if (got !== want) throw new Error(`got [${got}]`);
          },
          options.withinMs === undefined ? {} : { withinMs: options.withinMs },
        ),
      ),
    );
  }

  /** Has the clusters started again that were killed under `--no-restart`. */
  startStopped(): void {
    this.#child.kill("SIGHUP");
  }

  /** Ctrl-C, and what it ended with. */
  async stop(): Promise<number | null> {
    const code = await new Promise<number | null>((resolve) => {
      if (this.#child.exitCode !== null) return resolve(this.#child.exitCode);
      this.#child.on("close", resolve);
      this.#child.kill("SIGINT");
    });
    if (this.#ownsFolder) await rm(this.dataFolder, { recursive: true, force: true });
    return code;
  }
}
