import { openMemoryStorage, type Storage } from "@meridian/apiserver";
import { serveDns } from "@meridian/dns";
import { startCluster, type Cluster } from "@meridian/meridian";
import { deferred, type HttpHandler, type HttpResponse, type Runtime } from "@meridian/runtime";
import type { CrashKind, SimNode } from "@meridian/runtime/sim";
import { compareReopened, recordedStorage } from "../observation/recorded-storage.ts";
import { TruthLog } from "../observation/truth-log.ts";
import type { DnsGuard } from "../observation/dns-guard.ts";
import { ClusterUser } from "./cluster-user.ts";
import { dnsAddressesOf, parentAddress, placeOf, tags, tokenOf, type Tag } from "./fleet-map.ts";
import type { DnsIllness, Member, MemberOptions } from "./member.ts";
import type { Plant } from "./plant.ts";
import { wrappedRuntime } from "./wrapped-runtime.ts";

/** One run of a cluster's process. */
interface Life {
  readonly runtime: Runtime;
  storage?: Storage;
  cluster?: Cluster;
  readySinceMs?: number;
  /** When its operator died, while its DNS server answers on. */
  operatorDiedAtMs?: number;
}

/** How long watches are left alone after they were broken. */
const steadyMs = 15_000;

export interface FleetClusterOptions extends MemberOptions {
  readonly plant: Plant;
  readonly guard: DnsGuard;
  /** What a start that fails is told to; the text is for people. */
  readonly onWrong: (invariant: number, seen: string) => void;
}

/** One cluster of the simulated fleet that runs Meridian. */
export class FleetCluster implements Member {
  readonly kind = "meridian";
  readonly tag: Tag;
  readonly node: SimNode;
  readonly truth: TruthLog = new TruthLog();
  readonly user: ClusterUser;
  dnsIllness: DnsIllness | undefined;
  deadAddress: string | undefined;
  failedAtMs: number = Number.NEGATIVE_INFINITY;
  clockMovedAtMs: number = Number.NEGATIVE_INFINITY;
  readonly #options: FleetClusterOptions;
  readonly #watches = new Set<() => void>();
  #life: Life | undefined;
  #isDiskBroken = false;
  #watchesBrokenAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FleetClusterOptions, node: SimNode) {
    const { tag, settings } = options;
    this.tag = tag;
    this.#options = options;
    this.node = node;
    this.user = new ClusterUser(tag, settings);
  }

  get up(): boolean {
    return this.#life !== undefined;
  }

  /** The running parts, from the moment that the process has assembled them. */
  get cluster(): Cluster | undefined {
    return this.#life?.cluster;
  }

  get storage(): Storage | undefined {
    return this.#life?.storage;
  }

  get answersSinceMs(): number | undefined {
    return this.#life?.readySinceMs;
  }

  /** When the operator of this life died; `undefined` while it lives. */
  get operatorDiedAtMs(): number | undefined {
    return this.#life?.operatorDiedAtMs;
  }

  get worksSinceMs(): number | undefined {
    return this.#isDiskBroken || this.operatorDiedAtMs !== undefined ? undefined : this.answersSinceMs;
  }

  get isDiskBroken(): boolean {
    return this.#isDiskBroken;
  }

  /** Ends the operator alone; its DNS server answers on until the next crash. */
  killOperator(): void {
    const life = this.#life;
    if (life?.cluster === undefined || life.readySinceMs === undefined || life.operatorDiedAtMs !== undefined)
      return;
    life.operatorDiedAtMs = this.#options.simulation.nowMs;
    if (!this.#isDiskBroken) this.failedAtMs = life.operatorDiedAtMs;
    void life.cluster.operator.stop();
    this.#options.plant.operatorDeath?.(life.cluster);
  }

  /** Makes the disk refuse all work until the process has ended. */
  breakDisk(): void {
    if (this.#life === undefined || this.#isDiskBroken) return;
    this.#isDiskBroken = true;
    this.failedAtMs = this.#options.simulation.nowMs;
    this.node.disk.fail(new Error("input/output error"));
  }

  async start(): Promise<void> {
    if (this.#life !== undefined) return;
    const { simulation, plant, tag } = this.#options;
    const bare = this.node.running ? this.node.runtime : this.node.restart();
    const runtime = this.#wrapped(plant.runtime?.(bare, tag) ?? bare);
    const life: Life = { runtime };
    this.#life = life;
    try {
      await this.#assemble(life);
    } catch (error) {
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      this.#options.onWrong(6, `${tag} does not start again: ${text}`);
      return;
    }
    void this.user.live(runtime);
    await life.cluster?.ready;
    life.readySinceMs = simulation.nowMs;
  }

  crash(kind: CrashKind): void {
    const life = this.#life;
    if (life === undefined) return;
    this.#life = undefined;
    if (!this.#isDiskBroken && life.operatorDiedAtMs === undefined)
      this.failedAtMs = this.#options.simulation.nowMs;
    this.#isDiskBroken = false;
    this.node.disk.fail(undefined);
    this.#watches.clear();
    this.user.die();
    this.node.crash(kind);
  }

  /**
   * Breaks every streamed answer of the API server in the middle. Not again at once: copies wait between failures that
   * follow each other, and then no bound holds.
   */
  breakWatches(): void {
    const { nowMs } = this.#options.simulation;
    if (nowMs < Math.max(this.#watchesBrokenAtMs, this.answersSinceMs ?? nowMs) + steadyMs) return;
    this.#watchesBrokenAtMs = nowMs;
    for (const breakOne of this.#watches) breakOne();
    this.#watches.clear();
  }

  /** Forgets the whole history of the store. */
  compact(): void {
    const { storage } = this;
    // A broken disk refuses; that the store then takes no more writes is seen elsewhere.
    storage?.compact(storage.revision()).catch(() => {});
  }

  moveClock(byMs: number): void {
    this.node.skewMs += byMs;
    this.clockMovedAtMs = this.#options.simulation.nowMs;
  }

  async #assemble(life: Life): Promise<void> {
    const { simulation, settings, plant, tag } = this.#options;
    const place = placeOf(tag);
    const addresses = dnsAddressesOf(tag, settings);
    const opened = await openMemoryStorage(life.runtime, {
      persistent: true,
      snapshotAfterBytes: settings.snapshotAfterBytes,
      retention: { revisionsMin: settings.historyRevisionsMin, ageMs: 30_000 },
    });
    for (const wrong of await compareReopened(opened, this.truth, simulation.nowMs)) {
      this.#options.onWrong(6, `${tag} after a restart: ${wrong}`);
    }
    const recorded = recordedStorage(opened, this.truth, () => simulation.nowMs);
    life.storage = plant.storage?.(recorded, tag) ?? recorded;
    const dnsClient = plant.dnsClient?.(life.runtime, place);
    life.cluster = await startCluster(life.runtime, {
      storage: life.storage,
      token: tokenOf(tag),
      apiServer: place.apiServer,
      operator: place.operator,
      dns: place.dns,
      ...(dnsClient === undefined ? {} : { dnsClient }),
      operatorEnvironment: {
        CLUSTER_GEO_TAG: tag,
        EXT_GSLB_CLUSTERS_GEO_TAGS: tags.join(","),
        DNS_ZONES: settings.zones.map(({ name, parent }) => `${parent}:${name}:30`).join(";"),
        EDGE_DNS_SERVERS: `${parentAddress}:${settings.edgePort}`,
        MERIDIAN_DNS_ADDRESSES: addresses.join(","),
        MERIDIAN_ADDRESS_GRACE_SECONDS: String(settings.addressGraceMs / 1000),
        ...(settings.dynamicParent ? { MERIDIAN_RFC2136_SERVERS: parentAddress } : {}),
        MERIDIAN_LEASE_SECONDS: String(settings.leaseMs / 1000),
        MERIDIAN_NOTIFY: String(settings.notify),
        MERIDIAN_PEER_DEADLINE_MS: String(settings.deadlineMs),
        RECONCILE_REQUEUE_SECONDS: String(settings.periodMs / 1000),
        ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS: String(settings.zonePeriodMs / 1000),
      },
    });
    const { authority } = life.cluster;
    const listen = addresses.slice(1).map((address) => ({ address, port: place.dns.port }));
    if (listen.length > 0) await serveDns(life.runtime, { authority, listen });
  }

  #wrapped(runtime: Runtime): Runtime {
    const { guard, tag } = this.#options;
    return wrappedRuntime(runtime, {
      answer: (answer, address) => {
        const guarded = guard.watching(tag, answer, () => this.cluster?.authority);
        // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
        return (input, offset, length, client, output) => {
          if (this.dnsIllness === "silent" || this.deadAddress === address) return 0;
          const size = guarded(input, offset, length, client, output);
          // What is more than a lookup is answered elsewhere, by a part that is as ill.
          if (this.dnsIllness !== undefined && size === deferred) return 0;
          if (this.dnsIllness === "servfail" && size > 3) output[3] = (output[3]! & 0xf0) | 2;
          return size;
        };
      },
      connection: (accept, address) => (connection) => {
        if (this.dnsIllness === undefined && this.deadAddress !== address) accept(connection);
        else connection.destroy();
      },
      handler: (handler, port) => (port === placeOf(tag).apiServer.port ? this.#breakable(handler) : handler),
    });
  }

  #breakable(handler: HttpHandler): HttpHandler {
    return async (request) => {
      const response = await handler(request);
      return response.body instanceof Uint8Array ? response : this.#breakableBody(response, response.body);
    };
  }

  #breakableBody(response: HttpResponse, chunks: AsyncIterable<Uint8Array>): HttpResponse {
    const watches = this.#watches;
    async function* body(): AsyncGenerator<Uint8Array> {
      let breakOne: () => void = () => {};
      const broken = new Promise<never>((_resolve, reject) => {
        breakOne = () => reject(new Error("the scenario broke this stream"));
      });
      broken.catch(() => {});
      watches.add(breakOne);
      const iterator = chunks[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await Promise.race([iterator.next(), broken]);
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        watches.delete(breakOne);
        void iterator.return?.();
      }
    }
    return { ...response, body: body() };
  }
}
