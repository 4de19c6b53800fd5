import { createApiServer, requestBodyBytesMax, type Storage } from "@meridian/apiserver";
import { ControllerMetrics, KubeClient, meterRequests, registerInformerMetrics } from "@meridian/controller";
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
  customResourceDefinitions,
  legacyGslbType,
  parseOperatorConfig,
  startOperator,
  viewTransferServer,
  type Operator,
  type ResolveHost,
} from "@meridian/gslb";
import type { KubeObject } from "@meridian/kube";
import {
  formatEndpoint,
  metricsHandler,
  type Endpoint,
  type HttpServer,
  type Runtime,
  type TlsServerIdentity,
} from "@meridian/runtime";
import { Registry } from "prom-client";
import { MeridianError } from "../meridian-error.ts";
import { ClosingStack } from "./closing-stack.ts";
import { installDefinitions } from "./install-definitions.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

/** What one cluster is made of, and where it listens. */
export interface ClusterOptions {
  /** The truth of this cluster. The caller opens it before and closes it after. */
  readonly storage: Storage;
  /** The bearer token of the cluster's administrator; the operator uses it too. */
  readonly token: string;
  readonly apiServer: Endpoint;
  /** Where the operator tells what it decided and why. */
  readonly operator: Endpoint;
  readonly dns: Endpoint;
  /** Absent in the simulator: plain HTTP. */
  readonly tls?: { readonly server: TlsServerIdentity; readonly caPem: string };
  /** Asks the peers and the parent's servers, and is the caller's to close. Absent: one that leaves from `dns`. */
  readonly dnsClient?: DnsClient;
  /** The operator's settings under k8gb's names. */
  readonly operatorEnvironment: Readonly<Record<string, string>>;
  /** Finds edge servers that are given by name. Absent in the simulator. */
  readonly resolveHost?: ResolveHost;
  /** Opens files that the settings name. Absent in the simulator. */
  readonly openFile?: (path: string) => WatchedFile;
  /** Opens the threads that answer datagrams. Absent, or where it opens none: the main thread answers. */
  readonly openThreads?: (authority: Authority) => UdpWorkers | undefined;
  /** Where the metrics of the DNS server and of the operator are added; what is in it is served. Absent: one of its own. */
  readonly registry?: Registry;
}

/** One running cluster: API server, operator and authoritative DNS server. */
export interface Cluster extends AsyncDisposable {
  readonly client: KubeClient;
  readonly authority: Authority;
  readonly operator: Operator;
  /** Resolves when the DNS server answers from the objects of the API server. */
  readonly ready: Promise<void>;
}

/**
 * Starts one cluster on any runtime, so the same assembly runs as a process and as a node of the simulator. Disposing it
 * stops the parts in the reverse order and leaves the storage open.
 *
 * @throws MeridianError `StartFailed` when the settings are refused, NetworkError when an endpoint cannot be bound;
 *   what was started until then is stopped again
 */
export async function startCluster(runtime: Runtime, options: ClusterOptions): Promise<Cluster> {
  const closing = new ClosingStack();
  try {
    return await assemble(runtime, options, closing);
  } catch (error) {
    await closing.close().catch(() => {}); // the first failure says more
    throw error;
  }
}

async function assemble(runtime: Runtime, options: ClusterOptions, closing: ClosingStack): Promise<Cluster> {
  const config = parseConfig(options);

  const apiServer = createApiServer(runtime, {
    storage: options.storage,
    tokens: [{ token: options.token, username: "admin", groups: ["system:masters"] }],
  });
  closing.use(apiServer);
  closing.use(await serve(runtime, options, { at: options.apiServer, handler: apiServer.handler }));
  await apiServer.ready;

  const { registry = new Registry() } = options;
  const network = meterRequests(runtime, registry);
  const client = closing.use(new KubeClient({ clock: runtime.clock, network }, clientOptions(options)));
  await installDefinitions(runtime, client, servedDefinitions());

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
      ...{ authority, listen: [options.dns] },
      ...(threads === undefined ? {} : { serveUdp: threads.serveUdp }),
    }),
  );
  const dnsClient = options.dnsClient ?? closing.use(new DnsClient(runtime, { from: options.dns.address }));

  // A peer that falls silent in the middle is as dead as one that does not answer a question.
  const transfers = new ZoneTransferClient(runtime, {
    from: options.dns.address,
    idleMs: config.peerDeadlineMs,
  });
  const operator = startOperator(runtime, {
    ...{ client, transfers, config, authority, dnsClient, meter: new ControllerMetrics(registry) },
    signing: {
      answers: new AnswerSigner({ clock: runtime.clock }),
      ...(threads === undefined ? {} : { onSigning: signingOf(threads) }),
    },
    onKeys: ({ tsig, cookies }) => {
      keyring.replace(tsig);
      // Where none is given, the random one of the start stays.
      if (cookies !== undefined) authority.cookieSecrets.set(cookies);
    },
    ...(options.openFile === undefined ? {} : { openFile: options.openFile }),
    ...(options.resolveHost === undefined ? {} : { resolveHost: options.resolveHost }),
  });
  closing.defer(() => operator.stop());
  registerInformerMetrics(registry, operator.copies);
  registerDnsMetrics(registry, {
    ...{ authority, server, geo: () => operator.geo() },
    ...(authority.rateLimit === undefined ? {} : { rateLimit: authority.rateLimit }),
    ...(threads === undefined ? {} : { threads: () => threads.counters }),
  });
  const ready = (): boolean => authority.zones.length > 0 && authority.zones.every((zone) => zone.ready);
  const metrics = metricsHandler({ registry, ready, alive: () => operator.problem ?? true });
  const handler = operatorEndpoint(operator, { token: options.token, metrics });
  closing.use(await serve(runtime, options, { at: options.operator, handler }));

  return { client, authority, operator, ready: operator.ready, [Symbol.asyncDispose]: () => closing.close() };
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

/**
 * The CRDs without that of the legacy group: kubectl takes the short name `gslb` for the first group in the alphabet, so
 * with both installed `kubectl get gslb` would show the legacy one, which has no objects here.
 */
function servedDefinitions(): readonly KubeObject[] {
  const legacy = `${legacyGslbType.plural}.${legacyGslbType.group}`;
  return customResourceDefinitions.filter(({ metadata }) => metadata.name !== legacy);
}

function parseConfig(options: ClusterOptions): NonNullable<ReturnType<typeof parseOperatorConfig>["config"]> {
  const parsed = parseOperatorConfig(options.operatorEnvironment);
  if (parsed.config !== undefined) return parsed.config;
  const problems = parsed.problems.map(({ message }) => message);
  throw new MeridianError("StartFailed", `the operator refuses its settings: ${problems.join("; ")}`);
}

function serve(
  runtime: Runtime,
  options: ClusterOptions,
  served: {
    readonly at: Endpoint;
    readonly handler: Parameters<Runtime["network"]["serveHttp"]>[0]["handler"];
  },
): Promise<HttpServer> {
  return runtime.network.serveHttp({
    ...served.at,
    handler: served.handler,
    bodyBytesMax: requestBodyBytesMax,
    ...(options.tls === undefined ? {} : { tls: options.tls.server }),
  });
}

function clientOptions(options: ClusterOptions): ConstructorParameters<typeof KubeClient>[1] {
  const origin = `${options.tls === undefined ? "http" : "https"}://${formatEndpoint(options.apiServer)}`;
  const common = { origin, token: options.token, userAgent: "meridian-operator" };
  return options.tls === undefined ? common : { ...common, tls: { caPem: options.tls.caPem } };
}
