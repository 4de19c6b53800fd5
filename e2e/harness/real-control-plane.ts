import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { TcpProxy } from "../../test/conformance/tcp-proxy.ts";
import { eventually } from "./eventually.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";
import { LoggedProcess } from "./logged-process.ts";
import { peerAbsence, peerProgram } from "./peer-programs.ts";
import { TestAuthority, type IssuedIdentity } from "./test-authority.ts";

/** A user of the control plane: `admin` may do everything, `restricted` only what a test's RBAC objects allow. */
export type ControlPlaneUser = "admin" | "restricted";

export interface RealControlPlaneOptions {
  /** More flags for kube-apiserver; of two of one name the later counts. */
  readonly apiserverArgs?: readonly string[];
}

const address = "127.0.0.1";
const startMsMax = 120_000;
const startTriesMax = 3;
const graceMs = 10_000;

/** Why a real control plane cannot be started here; `undefined` where it can. In CI nothing is an excuse. */
export async function realControlPlaneAbsence(): Promise<string | undefined> {
  return (await peerAbsence("etcd")) ?? (await peerAbsence("kube-apiserver"));
}

/**
 * Starts etcd and kube-apiserver, each a process of its own on free ports of loopback, with data, keys and logs in a new
 * folder that goes with it. There are no controllers: nothing deletes namespaces, garbage or what they would hold, and
 * pods need no service account. The history is kept until `compact`, since the API server's own compaction is off.
 *
 * Takes 5 to 10 seconds on a machine of two cores, and minutes where the servers are not built yet.
 */
export async function startRealControlPlane(
  options: RealControlPlaneOptions = {},
): Promise<RealControlPlane> {
  const programs = { etcd: await peerProgram("etcd"), apiserver: await peerProgram("kube-apiserver") };
  for (let tries = 1; ; tries++) {
    const folder = await mkdtemp(path.join(tmpdir(), "meridian-control-plane-"));
    const plane = await RealControlPlane.prepare({
      folder,
      programs,
      apiserverArgs: options.apiserverArgs ?? [],
    });
    try {
      await plane.start();
      return plane;
    } catch (error) {
      await plane[Symbol.asyncDispose]();
      // Somebody else may have taken a port between finding and using it.
      if (tries === startTriesMax || !/address already in use/.test(String(error))) throw error;
    }
  }
}

interface Parts {
  readonly folder: string;
  readonly programs: { readonly etcd: string; readonly apiserver: string };
  readonly apiserverArgs: readonly string[];
}

interface Prepared extends Parts {
  readonly authority: TestAuthority;
  readonly ports: { readonly etcd: number; readonly etcdPeers: number; readonly apiserver: number };
  readonly clientCertificates: Readonly<Record<ControlPlaneUser, IssuedIdentity>>;
  readonly tokens: Readonly<Record<ControlPlaneUser, string>>;
  readonly apiserverFlags: readonly string[];
}

/** An etcd and a kube-apiserver that a test owns. */
export class RealControlPlane implements AsyncDisposable {
  /** `https://127.0.0.1:port` of kube-apiserver. */
  readonly url: string;
  readonly caPem: string;
  /** Bearer tokens of the users. */
  readonly tokens: Readonly<Record<ControlPlaneUser, string>>;
  /** Data, keys, logs and kubeconfigs; goes with the control plane. */
  readonly folder: string;
  readonly #parts: Prepared;
  readonly #proxies: TcpProxy[] = [];
  #etcd: LoggedProcess | undefined;
  #apiserver: LoggedProcess | undefined;

  private constructor(parts: Prepared) {
    this.#parts = parts;
    this.url = `https://${address}:${parts.ports.apiserver}`;
    this.caPem = parts.authority.certificatePem;
    this.tokens = parts.tokens;
    this.folder = parts.folder;
  }

  /** Makes keys and flags; nothing runs yet. */
  static async prepare(parts: Parts): Promise<RealControlPlane> {
    const { folder } = parts;
    const authority = await TestAuthority.create(folder);
    const server = await authority.issueServer("kube-apiserver", [address]);
    const signing = await authority.signingKeys("service-accounts");
    const clientCertificates = {
      admin: await authority.issueClient("admin", ["system:masters"]),
      restricted: await authority.issueClient("restricted", []),
    };
    const tokens = { admin: newToken(), restricted: newToken() };
    const tokenFile = path.join(folder, "tokens.csv");
    const rows = [`${tokens.admin},admin,1,system:masters`, `${tokens.restricted},restricted,2`];
    await writeFile(tokenFile, `${rows.join("\n")}\n`, { mode: 0o600 });
    const [etcd = 0, etcdPeers = 0, apiserver = 0] = await freePorts(3);
    const apiserverFlags = [
      `--etcd-servers=http://${address}:${etcd}`,
      `--bind-address=${address}`,
      `--secure-port=${apiserver}`,
      `--cert-dir=${path.join(folder, "certificates")}`,
      `--tls-cert-file=${server.certificateFile}`,
      `--tls-private-key-file=${server.privateKeyFile}`,
      `--client-ca-file=${authority.certificateFile}`,
      `--token-auth-file=${tokenFile}`,
      "--authorization-mode=RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${signing.publicKeyFile}`,
      `--service-account-signing-key-file=${signing.privateKeyFile}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      // Service accounts are made by a controller, and there are none.
      "--disable-admission-plugins=ServiceAccount",
      "--endpoint-reconciler-type=none",
      "--etcd-compaction-interval=0",
      ...parts.apiserverArgs,
    ];
    return new RealControlPlane({
      ...{ ...parts, authority, clientCertificates, tokens, apiserverFlags },
      ports: { etcd, etcdPeers, apiserver },
    });
  }

  /** Starts what does not run, and resolves when kube-apiserver says that it is ready. */
  async start(): Promise<void> {
    if (this.#etcd?.running !== true) await this.#startEtcd();
    if (this.#apiserver?.running !== true) await this.#startApiserver();
  }

  /** A kubeconfig with data inline; `url` where it goes through a proxy, `by` how the user proves who it is. */
  kubeconfig(
    user: ControlPlaneUser = "admin",
    options: { readonly url?: string; readonly by?: "certificate" | "token" } = {},
  ): string {
    const { clientCertificates, tokens } = this.#parts;
    return kubeconfigText({
      server: options.url ?? this.url,
      caPem: this.caPem,
      user,
      credential: options.by === "token" ? { token: tokens[user] } : clientCertificates[user],
    });
  }

  /** The same in a file, for other programs. */
  async kubeconfigFile(...args: Parameters<RealControlPlane["kubeconfig"]>): Promise<string> {
    const file = path.join(this.folder, `${randomBytes(4).toString("hex")}.kubeconfig`);
    await writeFile(file, this.kubeconfig(...args), { mode: 0o600 });
    return file;
  }

  /** A proxy before kube-apiserver that does to its connections what networks do; `url` to go through it. */
  async proxy(): Promise<TcpProxy & { readonly url: string }> {
    const proxy = await TcpProxy.start(this.#parts.ports.apiserver);
    this.#proxies.push(proxy);
    return Object.assign(proxy, { url: `https://${address}:${proxy.port}` });
  }

  /**
   * Forgets the history in etcd up to now, and returns the revision. kube-apiserver may go on to serve old versions from its
   * watch cache; where they must be gone, restart it.
   */
  async compact(): Promise<number> {
    const { header } = (await this.#etcdCall("/v3/kv/range", { key: btoa("compact") })) as {
      readonly header: { readonly revision: string };
    };
    await this.#etcdCall("/v3/kv/compaction", { revision: header.revision, physical: true });
    return Number(header.revision);
  }

  /** Ends kube-apiserver, in order or as by kill -9, and starts it again at the same address. */
  async restart(how: "in order" | "killed" = "in order"): Promise<void> {
    await this.stop(how);
    await this.start();
  }

  /**
   * Ends kube-apiserver; etcd goes on. In order it takes no connections any more and waits for those that watch; as long
   * as whoever runs it lets it.
   */
  async stop(how: "in order" | "killed" = "in order"): Promise<void> {
    await this.#apiserver?.end(how === "killed" ? "SIGKILL" : "SIGTERM", graceMs);
  }

  /** Ends etcd as by kill -9 and starts it again on its data; kube-apiserver goes on. */
  async restartEtcd(): Promise<void> {
    await this.#etcd?.end("SIGKILL");
    await this.#startEtcd();
  }

  /** `http://127.0.0.1:port` of etcd, for who puts more objects there than kube-apiserver would take in the time. */
  get etcdUrl(): string {
    return `http://${address}:${this.#parts.ports.etcd}`;
  }

  /** The processes, for who measures them. */
  get pids(): { readonly etcd: number; readonly apiserver: number } {
    return { etcd: this.#etcd?.pid ?? 0, apiserver: this.#apiserver?.pid ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies) await proxy[Symbol.asyncDispose]();
    // Nothing of the data outlives this, so nobody needs to end in order.
    await this.#apiserver?.[Symbol.asyncDispose]();
    await this.#etcd?.[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #startEtcd(): Promise<void> {
    const { programs, ports, folder } = this.#parts;
    const [client, peers] = [ports.etcd, ports.etcdPeers].map((port) => `http://${address}:${port}`);
    const flags = [
      `--data-dir=${path.join(folder, "etcd")}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
      // Its process may be killed; the machine does not lose power in a test.
      "--unsafe-no-fsync",
      "--log-level=warn",
    ];
    this.#etcd = LoggedProcess.start([programs.etcd, ...flags], path.join(folder, "etcd.log"));
    await this.#ready("etcd", this.#etcd, async () => {
      const response = await fetch(`http://${address}:${ports.etcd}/health`);
      if (!response.ok) throw new Error(await response.text());
    });
  }

  async #startApiserver(): Promise<void> {
    const { programs, apiserverFlags, folder } = this.#parts;
    const log = path.join(folder, "kube-apiserver.log");
    this.#apiserver = LoggedProcess.start([programs.apiserver, ...apiserverFlags], log);
    await this.#ready("kube-apiserver", this.#apiserver, () => this.#askReady());
  }

  async #ready(name: string, child: LoggedProcess, check: () => Promise<void>): Promise<void> {
    const lookAgain = async (): Promise<boolean> => {
      if (child.running) await check();
      return child.running;
    };
    try {
      const runs = await eventually(`${name} is ready`, lookAgain, { withinMs: startMsMax, everyMs: 50 });
      if (!runs) throw new Error(`${name} ended`);
    } catch (cause) {
      throw new Error(`${name} did not start; it said: ${await child.lastWords()}`, { cause });
    }
  }

  #askReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      const asking = request(
        `${this.url}/readyz`,
        {
          ca: this.caPem,
          headers: { authorization: `Bearer ${this.tokens.admin}` },
          agent: false,
          timeout: 5_000,
        },
        (response) => {
          response.resume();
          if (response.statusCode === 200) resolve();
          else reject(new Error(`readyz answers ${response.statusCode}`));
        },
      );
      asking.once("timeout", () => asking.destroy(new Error("readyz does not answer")));
      asking.once("error", reject);
      asking.end();
    });
  }

  async #etcdCall(target: string, body: object): Promise<unknown> {
    const response = await fetch(`http://${address}:${this.#parts.ports.etcd}${target}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok)
      throw new Error(`etcd answers ${response.status} to ${target}: ${await response.text()}`);
    return response.json();
  }
}

function newToken(): string {
  return randomBytes(16).toString("hex");
}

/** Ports of loopback that are free now; all are held until all are found, so no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, address));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
