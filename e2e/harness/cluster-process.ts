import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { output, run, type CommandResult } from "./command.ts";
import { dig, type DigAnswer } from "./dig.ts";
import { meridianMain } from "./fleet.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";
import type { TestAuthority } from "./test-authority.ts";

/** One cluster as a process of its own, at an address of its own. */
export interface ClusterProcessOptions {
  /** Its geo tag as well. */
  readonly name: string;
  readonly peers: readonly string[];
  /** Of all its servers; the DNS server is on port 53. */
  readonly address: string;
  /** Where everything of the test is. */
  readonly folder: string;
  readonly authority: TestAuthority;
  /** The edge DNS server, on port 53. */
  readonly edge: string;
  /** The operator's settings. */
  readonly settings: Readonly<Record<string, string>>;
}

const apiPort = 6443;

/** What `meridian up` starts for each cluster, started alone: with settings of its own, and on addresses that are no loopback's. */
export class ClusterProcess implements AsyncDisposable {
  readonly name: string;
  readonly address: string;
  readonly kubeconfig: string;
  readonly #options: ClusterProcessOptions;
  readonly #folder: string;
  #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  private constructor(options: ClusterProcessOptions) {
    this.name = options.name;
    this.address = options.address;
    this.#options = options;
    this.#settings = options.settings;
    this.#folder = path.join(options.folder, options.name);
    this.kubeconfig = path.join(this.#folder, "kubeconfig");
  }

  /** Starts it, and resolves when its DNS server answers. Runs inside a network namespace, whose loopback gets the address. */
  static async start(options: ClusterProcessOptions): Promise<ClusterProcess> {
    const { name, address, authority } = options;
    const cluster = new ClusterProcess(options);
    await output("ip", ["address", "add", `${address}/32`, "dev", "lo"]);
    const folder = cluster.#folder;
    await mkdir(folder, { recursive: true });
    const server = await authority.issueServer(name, [address]);
    const token = randomBytes(16).toString("hex");
    await writeFile(path.join(folder, "tls.crt"), server.certificatePem);
    await writeFile(path.join(folder, "tls.key"), server.privateKeyPem);
    await writeFile(path.join(folder, "ca.crt"), authority.certificatePem);
    await writeFile(path.join(folder, "token"), token);
    await writeFile(
      cluster.kubeconfig,
      kubeconfigText({
        server: `https://${address}:${apiPort}`,
        caPem: authority.certificatePem,
        user: "admin",
        credential: { token },
      }),
    );
    await cluster.restart();
    return cluster;
  }

  /** Starts it again after it was killed, with other settings where they are given. */
  async restart(settings: Readonly<Record<string, string>> = this.#settings): Promise<void> {
    const { name, address, peers, edge } = this.#options;
    this.#settings = settings;
    const log = openSync(this.#logFile, "a");
    const child = fork(meridianMain, ["cluster", name], { stdio: ["ignore", log, log, "ipc"] });
    closeSync(log);
    this.#child = child;
    const report = new Promise<string>((resolve) => {
      child.once("message", (message) => resolve(JSON.stringify(message)));
      child.once("exit", (code, signal) => resolve(`it ended: ${code ?? signal}`));
    });
    const at = (port: number): { address: string; port: number } => ({ address, port });
    child.send({
      ...{ kind: "cluster", name, geoTag: name, peerGeoTags: peers, folder: this.#folder, storage: "lmdb" },
      ...{ apiServer: at(apiPort), operator: at(6444), dns: at(53), parentDns: { address: edge, port: 53 } },
      ...{ datapath: "auto", operatorSettings: settings, logLevel: "info" },
    });
    const said = await report;
    if (!said.includes('"ready"'))
      throw new Error(`cluster ${name} did not start: ${said}\n${await this.lastWords()}`);
  }

  /** As by a power cut. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  /** Asks its DNS server. */
  dig(name: string, type = "A"): Promise<DigAnswer> {
    return dig({ server: this.address, port: 53, name, type });
  }

  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await this.tryKubectl(args, stdin);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")} at ${this.name}: ${stderr}${stdout}`);
    return stdout;
  }

  tryKubectl(args: readonly string[], stdin?: string): Promise<CommandResult> {
    return run("kubectl", ["--kubeconfig", this.kubeconfig, "--request-timeout=15s", ...args], {
      ...(stdin === undefined ? {} : { stdin }),
      env: { ...process.env, HOME: this.#options.folder },
    });
  }

  /** An object of its API server. */
  async get<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl(["get", ...args, "-o", "json"])) as T;
  }

  /** The last of what it logged. */
  async lastWords(): Promise<string> {
    return (await readFile(this.#logFile, "utf8").catch(() => "")).slice(-4_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  get #logFile(): string {
    return path.join(this.#folder, "log");
  }
}
