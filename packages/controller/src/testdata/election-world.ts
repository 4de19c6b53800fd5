import { leaseType } from "@meridian/kube";
import type { KubeObject, Lease } from "@meridian/kube";
import type { HttpHandler } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine, SimNode } from "@meridian/runtime/sim";
import { KubeClient } from "../client/kube-client.ts";
import type { EventNote } from "../events/event-correlation.ts";
import type { LeaderElectionOptions } from "../leader/election-options.ts";
import { LeaderElector } from "../leader/leader-elector.ts";
import type { LeaderTerm } from "../leader/leader-term.ts";
import { ApiTruth } from "../testing/truth/api-truth.ts";

/** A process that stands for election, and what became of it. */
export interface Runner {
  readonly node: SimNode;
  readonly elector: LeaderElector;
  readonly client: KubeClient;
  /** The terms so far, the newest last. */
  readonly terms: readonly LeaderTerm[];
  readonly told: readonly EventNote[];
  readonly stop: () => void;
  /** The outcome of its run. */
  readonly ended: Promise<void>;
  readonly outcome: () => "runs" | "stopped" | Error;
}

/** Candidates on machines of their own, and one API server. */
export class ElectionWorld {
  readonly simulation: Simulation;
  readonly truth: ApiTruth;
  readonly logged: SimLogLine[] = [];
  /** Answers in the server's place while it is set. */
  instead: HttpHandler | undefined;

  private constructor(seed: number) {
    this.simulation = new Simulation({ seed, onLog: (line) => this.logged.push(line) });
    const server = this.simulation.node({ name: "server", addresses: ["10.0.0.1"] });
    this.truth = new ApiTruth({ types: [leaseType], clock: server.runtime.clock });
    this.#server = server;
  }

  readonly #server: SimNode;

  static async start(seed = 1): Promise<ElectionWorld> {
    const world = new ElectionWorld(seed);
    const { network } = world.#server.runtime;
    await world.simulation.complete(
      network.serveHttp({
        address: "10.0.0.1",
        port: 6443,
        bodyBytesMax: 1e5,
        handler: (request) => (world.instead ?? world.truth.handler)(request),
      }),
    );
    return world;
  }

  get lease(): Lease | undefined {
    return this.truth.get<Lease>(leaseType, { namespace: "n", name: "role" });
  }

  get holder(): string {
    return this.lease?.spec?.holderIdentity ?? "";
  }

  pass(ms: number): Promise<void> {
    return this.simulation.run({ untilMs: this.simulation.nowMs + ms });
  }

  machine(name: string, address: string, clockRate = 1): SimNode {
    return this.simulation.node({ name, addresses: [address], clockRate });
  }

  /** Starts a process on a machine. `work` runs while it leads; by default until it has to end. */
  run(
    node: SimNode,
    options: Partial<LeaderElectionOptions> & { readonly work?: (term: LeaderTerm) => Promise<void> } = {},
  ): Runner {
    const { runtime } = node;
    const client = new KubeClient(runtime, { origin: "http://10.0.0.1:6443" });
    const terms: LeaderTerm[] = [];
    const told: EventNote[] = [];
    const { work = untilAborted, ...others } = options;
    const elector = new LeaderElector(runtime, {
      client,
      namespace: "n",
      name: "role",
      candidate: node.name,
      events: { record: (_about: KubeObject, note) => void told.push(note) },
      ...others,
    });
    const stopping = new AbortController();
    let outcome: "runs" | "stopped" | Error = "runs";
    const ended = elector
      .run(stopping.signal, (term) => {
        terms.push(term);
        return work(term);
      })
      .then(
        () => void (outcome = "stopped"),
        (error: unknown) => void (outcome = error as Error),
      );
    const stop = (): void => stopping.abort(new Error("stopped"));
    return { node, elector, client, terms, told, stop, ended, outcome: () => outcome };
  }
}

function untilAborted({ signal }: LeaderTerm): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
