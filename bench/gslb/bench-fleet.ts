import { AnswerProbe, type WantedAnswer } from "./answer-probe.ts";
import { ClusterProcess, type ClusterProgram } from "./cluster-process.ts";
import type { ClusterCounts } from "./cluster-protocol.ts";
import { freeNetwork, placeOf, tagsOf, targetOf } from "./fleet-place.ts";
import { openParentSocket } from "./parent-socket.ts";

/** What a fleet of the bench consists of. */
export interface FleetPlan {
  readonly program: ClusterProgram;
  readonly clusters: number;
  /** In every cluster. */
  readonly gslbs: number;
  /** Applications that are there and get their Gslb later. */
  readonly more: number;
  readonly periodSeconds: number;
}

/** Clusters that are prepared at once: more than the machine's cores would only wait for each other. */
const preparedAtOnce = 2;
/** Hosts that are looked at to see that a start is over. */
const lookedAt = 50;
const calmSeconds = 6;
const startWithinMs = 900_000;

/** Several clusters of the same applications, each in a process of its own. */
export class BenchFleet implements AsyncDisposable {
  readonly plan: FleetPlan;
  readonly tags: readonly string[];
  readonly probe: AnswerProbe = new AnswerProbe();
  /** Until each cluster answered, all being started at once. */
  readonly startMs: number[] = [];
  /** What that took of each in the mean. */
  startCpuMs = 0;
  readonly #network = freeNetwork();
  readonly #clusters: readonly ClusterProcess[];
  readonly #gone = new Set<string>();
  #parent: Disposable | undefined;

  private constructor(plan: FleetPlan) {
    this.plan = plan;
    this.tags = tagsOf(plan.clusters);
    this.#clusters = this.tags.map((tag) => new ClusterProcess(tag, plan.program));
  }

  /** Starts all clusters; resolves when all answer every host alike. */
  static async start(plan: FleetPlan): Promise<BenchFleet> {
    const fleet = new BenchFleet(plan);
    try {
      await fleet.#start();
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    return fleet;
  }

  cluster(tag: string): ClusterProcess {
    return this.#clusters.find((cluster) => cluster.tag === tag)!;
  }

  /** Those that are measured: neither dead nor silent. */
  get living(): readonly ClusterProcess[] {
    return this.#clusters.filter(({ tag }) => !this.#gone.has(tag));
  }

  /** Makes a cluster's servers refuse from now on, or say nothing. */
  async lose(tag: string, how: "dead" | "silent"): Promise<void> {
    this.#gone.add(tag);
    if (how === "silent") this.cluster(tag).halt();
    else await this.cluster(tag).kill();
  }

  /** What every living cluster should answer for a host while the primary serves it or does not. */
  wanted(index: number, isPrimaryReady: boolean): readonly WantedAnswer[] {
    const common = { index, target: targetOf(this.tags[0]!), isPrimaryReady };
    return this.living.map(({ tag }) => ({ ...common, address: placeOf(this.#network, tag).dns.address }));
  }

  async counts(): Promise<readonly ClusterCounts[]> {
    return Promise.all(this.living.map((cluster) => cluster.call("counts")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.probe[Symbol.dispose]();
    this.#parent?.[Symbol.dispose]();
    await Promise.all(this.#clusters.map((cluster) => cluster.kill()));
  }

  async #start(): Promise<void> {
    const { clusters, gslbs, more, periodSeconds } = this.plan;
    this.#parent = await openParentSocket(this.#network, clusters);
    const waiting = [...this.#clusters];
    const prepare = async (): Promise<void> => {
      for (let cluster = waiting.shift(); cluster !== undefined; cluster = waiting.shift())
        await cluster.call("prepare", {
          ...{ tag: cluster.tag, tags: this.tags, network: this.#network, periodSeconds },
          ...{ applications: gslbs + more, gslbs },
        });
    };
    await Promise.all(Array.from({ length: preparedAtOnce }, prepare));
    const cpuMs = async (): Promise<number> =>
      (await this.counts()).reduce((sum, counts) => sum + counts.cpuMs, 0) / clusters;
    const before = await cpuMs();
    const started = this.#clusters.map(async (cluster) => this.startMs.push(await cluster.call("start")));
    await Promise.all(started);
    this.startCpuMs = (await cpuMs()) - before;
    const looked = Math.min(gslbs, lookedAt);
    const indexes = Array.from({ length: looked }, (_, at) => Math.floor((at * gslbs) / looked));
    const wanted = indexes.flatMap((index) => this.wanted(index, true));
    await this.probe.until(wanted, { everyMs: 50, withinMs: startWithinMs });
    await this.settled();
  }

  /**
   * Until nothing is reconciled or written any more because of what was done to the fleet: for longer than Gslbs that are
   * young miss nobody.
   */
  async settled(): Promise<void> {
    let before = "";
    for (let tries = 0, calm = 0; tries < 200 && calm < calmSeconds; tries++) {
      const now = (await this.counts())
        .map(({ apiWrites, reconciles }) => `${apiWrites} ${reconciles}`)
        .join();
      calm = now === before ? calm + 1 : 0;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
