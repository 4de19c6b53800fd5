import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createApiServer, openMemoryStorage, requestBodyBytesMax } from "@meridian/apiserver";
import type { ApiServer, Authorizer, Storage } from "@meridian/apiserver";
import { silentLogger, type HttpServer, type Runtime, type TlsServerIdentity } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { kubeconfigText } from "../../../e2e/harness/kubeconfig-text.ts";
import { TestAuthority, type IssuedIdentity } from "../../../e2e/harness/test-authority.ts";
import { TcpProxy } from "../tcp-proxy.ts";
import type {
  AllowedAccess,
  CopyForm,
  Credential,
  ServerUnderTest,
  ServerUser,
} from "./server-under-test.ts";

const address = "127.0.0.1";

/** What ends with a restart. */
interface Running {
  readonly storage: Storage;
  readonly api: ApiServer;
  readonly http: HttpServer;
}

interface Identities {
  readonly caPem: string;
  readonly tls: TlsServerIdentity;
  readonly certificates: Readonly<Record<ServerUser, IssuedIdentity>>;
}

/** Our API server on real sockets, in the process of the test, with its data on disk. */
export class OurServer implements ServerUnderTest {
  readonly name = "our API server";
  readonly copies: CopyForm;
  readonly #folder: string;
  readonly #runtime: Runtime;
  readonly #identities: Identities;
  readonly #tokens: Readonly<Record<ServerUser, string>> = { admin: newToken(), restricted: newToken() };
  readonly #allowed: AllowedAccess[] = [];
  readonly #proxies: TcpProxy[] = [];
  #running: Running | undefined;
  #port = 0;

  private constructor(folder: string, identities: Identities, copies: CopyForm) {
    this.copies = copies;
    this.#folder = folder;
    this.#identities = identities;
    this.#runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  }

  static async start(copies: CopyForm = {}): Promise<OurServer> {
    const folder = await mkdtemp(`${tmpdir()}/meridian-conformance-`);
    const authority = await TestAuthority.create(folder);
    const { certificatePem, privateKeyPem } = await authority.issueServer("apiserver", [address]);
    const identities: Identities = {
      caPem: authority.certificatePem,
      tls: { certificatePem, privateKeyPem, clientCaPem: authority.certificatePem },
      certificates: {
        admin: await authority.issueClient("admin", ["system:masters"]),
        restricted: await authority.issueClient("restricted", []),
      },
    };
    const server = new OurServer(folder, identities, copies);
    await server.#start();
    return server;
  }

  kubeconfig(user: ServerUser, options: { readonly url?: string; readonly by?: Credential } = {}): string {
    const { caPem, certificates } = this.#identities;
    return kubeconfigText({
      server: options.url ?? `https://${address}:${this.#port}`,
      ...{ caPem, user },
      credential: options.by === "token" ? { token: this.#tokens[user] } : certificates[user],
    });
  }

  async proxy(): Promise<TcpProxy & { readonly url: string }> {
    const proxy = await TcpProxy.start(this.#port);
    this.#proxies.push(proxy);
    return Object.assign(proxy, { url: `https://${address}:${proxy.port}` });
  }

  async allow(access: AllowedAccess): Promise<void> {
    this.#allowed.push(access);
  }

  async forgetHistory(): Promise<void> {
    const storage = this.#running?.storage;
    await storage?.compact(storage.revision());
  }

  async restart(how: "in order" | "killed"): Promise<void> {
    await this.#stop(how);
    await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies) await proxy[Symbol.asyncDispose]();
    await this.#stop("in order");
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const storage = await openMemoryStorage(this.#runtime, { persistent: true });
    const api = createApiServer(this.#runtime, {
      storage,
      tokens: [
        { token: this.#tokens.admin, username: "admin", groups: ["system:masters"] },
        { token: this.#tokens.restricted, username: "restricted" },
      ],
      authorizer: this.#authorizer,
    });
    await api.ready;
    const http = await this.#runtime.network.serveHttp({
      ...{ address, port: this.#port, tls: this.#identities.tls },
      handler: api.handler,
      bodyBytesMax: requestBodyBytesMax,
    });
    this.#port = http.local.port;
    this.#running = { storage, api, http };
  }

  async #stop(how: "in order" | "killed"): Promise<void> {
    if (this.#running === undefined) return;
    const { storage, api, http } = this.#running;
    this.#running = undefined;
    // One that is killed takes its connections with it before any watch is ended.
    for (const part of how === "killed" ? [http, api] : [api, http]) await part[Symbol.asyncDispose]();
    await storage[Symbol.asyncDispose]();
  }

  readonly #authorizer: Authorizer = {
    authorize: (user, attributes) => {
      if (user.groups.includes("system:masters")) return { allowed: true };
      if (attributes.kind === "path") return { allowed: attributes.verb === "get" };
      const allowed = this.#allowed.some(
        (access) =>
          access.namespace === attributes.namespace &&
          access.group === attributes.group &&
          access.resource === attributes.resource &&
          access.verbs.includes(attributes.verb),
      );
      return { allowed };
    },
  };
}

function newToken(): string {
  return randomBytes(16).toString("hex");
}
