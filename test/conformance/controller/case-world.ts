import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { tmpdir } from "node:os";
import { Informer, KubeClient, clientFromKubeconfig, connectionFromKubeconfig } from "@meridian/controller";
import type { InformerOptions, KubeClientOptions } from "@meridian/controller";
import { namespaceType, type ConfigMap, type KubeObject } from "@meridian/kube";
import { silentLogger, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { FollowedCopy } from "./followed-copy.ts";
import type { Credential, ServerUnderTest, ServerUser } from "./server-under-test.ts";

/** Through what and as whom a client speaks. */
export interface CaseClientOptions extends Partial<
  Pick<KubeClientOptions, "deadlineMs" | "userAgent" | "onWarning" | "impersonate">
> {
  /** Default `admin`. */
  readonly user?: ServerUser;
  readonly by?: Credential;
  /** Where it goes through a proxy: the proxy's. */
  readonly url?: string;
}

const waitMsMax = 90_000;

/**
 * What a case of the suite gets: a server, a namespace of its own, an administrator's client and the means to make more.
 * Everything made here is ended with the case, the newest first.
 */
export class CaseWorld implements AsyncDisposable {
  readonly server: ServerUnderTest;
  readonly runtime: Runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
  /** Aborts when the case ends. */
  readonly signal: AbortSignal;
  /** Made for this case; nothing else writes into it. */
  readonly namespace: string;
  /** An administrator's, straight to the server. */
  readonly client: KubeClient;
  readonly #ending = new AbortController();
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(server: ServerUnderTest, client: KubeClient) {
    this.server = server;
    this.client = client;
    this.signal = this.#ending.signal;
    setMaxListeners(0, this.signal); // a case may have many watches
    this.namespace = `case-${randomBytes(4).toString("hex")}`;
    this.#closing.push(() => client[Symbol.asyncDispose]());
  }

  static async open(server: ServerUnderTest): Promise<CaseWorld> {
    const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
    const world = new CaseWorld(server, clientFromKubeconfig(runtime, server.kubeconfig("admin")));
    await world.makeNamespace(world.namespace);
    return world;
  }

  async makeNamespace(name: string): Promise<void> {
    await this.client.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  /** Ends `resource` with the case. */
  use<R extends AsyncDisposable>(resource: R): R {
    this.#closing.push(async () => resource[Symbol.asyncDispose]());
    return resource;
  }

  /** Another client. */
  async newClient(options: CaseClientOptions = {}): Promise<KubeClient> {
    const { user = "admin", url, by, ...rest } = options;
    const kubeconfig = this.server.kubeconfig(user, {
      ...(url === undefined ? {} : { url }),
      ...(by === undefined ? {} : { by }),
    });
    return this.use(
      new KubeClient(this.runtime, { ...connectionFromKubeconfig(this.runtime, kubeconfig), ...rest }),
    );
  }

  /** An informer that runs until the case ends; by default the administrator's, of all namespaces. */
  inform<T extends KubeObject>(
    options: Partial<InformerOptions<T>> & Pick<InformerOptions<T>, "type">,
  ): Informer<T> {
    const informer = new Informer<T>(this.runtime, {
      client: this.client,
      ...this.server.copies,
      ...options,
    });
    this.run((signal) => informer.run(signal));
    return informer;
  }

  /** A copy of this namespace's ConfigMaps that is held against the truth. */
  follow(options: Partial<InformerOptions<ConfigMap>> = {}): FollowedCopy {
    return new FollowedCopy(this, options);
  }

  /** Runs something until the case ends; it must then resolve. */
  run(body: (signal: AbortSignal) => Promise<void>): void {
    const stopping = new AbortController();
    const running = body(stopping.signal);
    running.catch(() => {}); // awaited at the end
    this.#closing.push(() => {
      stopping.abort(new Error("the case has ended"));
      return running;
    });
  }

  /** Asks again until `check` returns without throwing; the bound is only there to end a case that hangs. */
  async eventually<R>(what: string, check: () => Promise<R> | R): Promise<R> {
    const { clock } = this.runtime;
    const endsAtMs = clock.monotonicMs() + waitMsMax;
    for (;;) {
      try {
        return await check();
      } catch (cause) {
        this.signal.throwIfAborted();
        if (clock.monotonicMs() > endsAtMs) throw new Error(`it never came: ${what}`, { cause });
      }
      await clock.sleep(20, this.signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Error("the case has ended"));
    let failure: { readonly error: unknown } | undefined;
    for (const close of this.#closing.toReversed()) {
      try {
        await close();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }
}
