import { ControllerMetrics, registerInformerMetrics, type KubeClient } from "@meridian/controller";
import {
  AnswerSigner,
  Authority,
  createRequestPipeline,
  DnsClient,
  registerDnsMetrics,
  serveDns,
  TsigKeyring,
  ZoneTransferClient,
  type WatchedFile,
  type ZoneSigning,
} from "@meridian/dns";
import type { UdpWorkers } from "@meridian/dns/workers";
import {
  registerGslbMetrics,
  startOperator,
  viewTransferServer,
  type Operator,
  type OperatorConfig,
  type ResolveHost,
} from "@meridian/gslb";
import {
  metricsHandler,
  serveMetrics,
  type Endpoint,
  type HttpHandler,
  type Runtime,
  type Tracer,
} from "@meridian/runtime";
import type { Registry } from "prom-client";
import type { ClosingStack } from "./closing-stack.ts";
import { programVersion } from "./program-version.ts";

/** What the balancer of one cluster is made of, and where it listens. */
export interface BalancerOptions {
  /** The API server of the cluster. */
  readonly client: KubeClient;
  readonly config: OperatorConfig;
  readonly dns: readonly Endpoint[];
  /** Where questions to peers and edge servers leave from. Absent: where the system says. */
  readonly from?: string;
  /** Asks the peers and the parent's servers, and is the caller's to close. Absent: one of its own. */
  readonly dnsClient?: DnsClient;
  /** Where `/metrics`, `/healthz` and `/readyz` are served in the clear. Absent: nowhere. */
  readonly metrics?: Endpoint;
  readonly registry: Registry;
  readonly tracer?: Tracer;
  /** Finds edge servers that are given by name. Absent in the simulator. */
  readonly resolveHost?: ResolveHost;
  /** Opens files that the settings name. Absent in the simulator. */
  readonly openFile?: (path: string) => WatchedFile;
  /** Opens the threads that answer datagrams. Absent, or where it opens none: the main thread answers. */
  readonly openThreads?: (authority: Authority) => UdpWorkers | undefined;
}

/** An operator with its authoritative DNS server. */
export interface Balancer {
  readonly authority: Authority;
  readonly operator: Operator;
  /** Where the DNS server listens: as asked for, with the port that was found where that was 0. */
  readonly dns: readonly Endpoint[];
  /** Answers `/metrics`, `/healthz` and `/readyz`. */
  readonly metrics: HttpHandler;
  /**
   * Goes on with other settings, by a new operator: resolves when it is started. It may take for ever to be ready, as at a first
   * start; until it is, the DNS server answers on from what was published. Calls are made one after the other.
   *
   * @throws Error where the balancer is closed meanwhile
   */
  reconfigure(config: OperatorConfig): Promise<Operator>;
}

/**
 * Starts the balancer of a cluster whose API server there is. What is opened goes onto `closing`.
 *
 * @throws NetworkError when an endpoint cannot be bound
 */
export async function startBalancer(
  runtime: Runtime,
  options: BalancerOptions,
  closing: ClosingStack,
): Promise<Balancer> {
  const { client, config, registry, from } = options;
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  const keyring = new TsigKeyring();
  authority.requests = createRequestPipeline({
    ...{ clock: runtime.clock, log: runtime.log, keyring, authority },
    ...(authority.rateLimit === undefined ? {} : { rateLimit: authority.rateLimit }),
    transfer: viewTransferServer({ clock: runtime.clock, authority }).answer,
  });
  const threads = options.openThreads?.(authority);
  const server = closing.use(
    await serveDns(runtime, {
      ...{ authority, listen: [...options.dns] },
      ...(threads === undefined ? {} : { serveUdp: threads.serveUdp }),
    }),
  );
  const leaving = from === undefined ? {} : { from };
  const dnsClient = options.dnsClient ?? closing.use(new DnsClient(runtime, leaving));

  // A peer that falls silent in the middle is as dead as one that does not answer a question.
  const transfers = new ZoneTransferClient(runtime, { ...leaving, idleMs: config.peerDeadlineMs });
  const start = (settings: OperatorConfig): Operator =>
    startOperator(runtime, {
      ...{
        client,
        transfers,
        config: settings,
        authority,
        dnsClient,
        meter: new ControllerMetrics(registry),
      },
      signing: {
        answers: new AnswerSigner({ clock: runtime.clock }),
        ...(threads === undefined ? {} : { onSigning: signingOf(threads) }),
      },
      onKeys: ({ tsig, cookies }) => {
        keyring.replace(tsig);
        // Where none is given, the random one of the start stays.
        if (cookies !== undefined) authority.cookieSecrets.set(cookies);
      },
      ...(options.tracer === undefined ? {} : { tracer: options.tracer }),
      ...(options.openFile === undefined ? {} : { openFile: options.openFile }),
      ...(options.resolveHost === undefined ? {} : { resolveHost: options.resolveHost }),
    });
  const registered = new OwnMetrics(registry);
  let operator: Operator;
  let isReady = false;
  const run = (settings: OperatorConfig): Operator => {
    registered.replace(() => {
      isReady = false;
      const started = (operator = start(settings));
      started.ready.then(
        () => (isReady ||= operator === started),
        () => {}, // it tells of that itself
      );
      registerInformerMetrics(registry, operator.copies);
      registerGslbMetrics(registry, operator.readings, programVersion);
    });
    return operator;
  };
  operator = run(config);
  let isClosed = false;
  closing.defer(() => {
    isClosed = true;
    return operator.stop();
  });
  registerDnsMetrics(registry, {
    ...{ authority, server, geo: () => operator.geo() },
    geoTags: () => {
      const { geoTag, peers } = operator.readings;
      return [geoTag, ...peers.map((peer) => peer.geoTag)];
    },
    ...(authority.rateLimit === undefined ? {} : { rateLimit: authority.rateLimit }),
    ...(threads === undefined ? {} : { threads: () => threads.counters }),
  });
  const health = {
    registry,
    // Zones that an operator before this one filled are answered on; what is said of the cluster ends with the lease.
    ready: () => (!isReady && authority.lease?.isOver === true ? notReadyAgain : readiness(authority.zones)),
    alive: () => operator.problem ?? true,
  };
  if (options.metrics !== undefined)
    closing.use(await serveMetrics(runtime, { ...health, listen: options.metrics }));
  return {
    authority,
    get operator() {
      return operator;
    },
    dns: server.local,
    metrics: metricsHandler(health),
    async reconfigure(settings) {
      await operator.stop();
      if (isClosed) throw new Error("the balancer is closed");
      return run(settings);
    },
  };
}

const notReadyAgain =
  "the operator was started with other settings and is not ready yet; nobody vouches for what is said of the cluster";

/** The metrics that go when their subject is replaced. */
class OwnMetrics {
  readonly #registry: Registry;
  #names: readonly string[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Takes the former ones away, and remembers those that `register` adds. */
  replace(register: () => void): void {
    for (const name of this.#names) this.#registry.removeSingleMetric(name);
    const others = new Set(this.#registry.getMetricsAsArray().map(({ name }) => name));
    register();
    const all = this.#registry.getMetricsAsArray().map(({ name }) => name);
    this.#names = all.filter((name) => !others.has(name));
  }
}

/** Has threads sign what the main thread signs. */
function signingOf(threads: UdpWorkers): (zone: string, signing: ZoneSigning | undefined) => void {
  const origins = new Map<string, ZoneSigning["origin"]>();
  return (zone, signing) => {
    const origin = origins.get(zone);
    if (signing !== undefined) {
      origins.set(zone, signing.origin);
      threads.sign(signing);
    } else if (origin !== undefined) {
      origins.delete(zone);
      threads.unsign(origin);
    }
  };
}

/** Whether every zone answers, and there is one; or why not. */
function readiness(zones: readonly { readonly origin: string; readonly ready: boolean }[]): true | string {
  if (zones.length === 0)
    return "no zone is served yet; zones are those of ZoneDelegations, which DNS_ZONES makes";
  const waiting = zones.filter((zone) => !zone.ready).map((zone) => zone.origin);
  return waiting.length === 0 || `${waiting.join(", ")}: not all objects are known yet`;
}
