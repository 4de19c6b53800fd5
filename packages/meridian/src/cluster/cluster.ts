import { createApiServer, requestBodyBytesMax, type Storage } from "@meridian/apiserver";
import { KubeClient, meterRequests } from "@meridian/controller";
import type { Authority } from "@meridian/dns";
import { parseOperatorConfig, type Operator } from "@meridian/gslb";
import {
  formatEndpoint,
  type Endpoint,
  type HttpServer,
  type Runtime,
  type TlsServerIdentity,
} from "@meridian/runtime";
import { Registry } from "prom-client";
import { MeridianError } from "../meridian-error.ts";
import { startBalancer, type BalancerOptions } from "./balancer.ts";
import { ClosingStack } from "./closing-stack.ts";
import { installDefinitions } from "./install-definitions.ts";
import { servedDefinitions } from "./served-definitions.ts";
import { installPeerKey } from "./install-peer-key.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

/** What one cluster is made of, and where it listens. */
export interface ClusterOptions extends Pick<
  BalancerOptions,
  "dnsClient" | "metrics" | "tracer" | "resolveHost" | "openFile" | "openThreads"
> {
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
  /** The TSIG key of the fleet as a key file, put into a Secret where that is not there yet. Absent: none is made. */
  readonly peerKey?: string;
  /** The operator's settings under k8gb's names. */
  readonly operatorEnvironment: Readonly<Record<string, string>>;
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
  if (options.peerKey !== undefined)
    await installPeerKey(client, { namespace: config.podNamespace, keyFile: options.peerKey });

  const balancer = await startBalancer(
    runtime,
    { ...options, client, config, registry, dns: [options.dns], from: options.dns.address },
    closing,
  );
  const { authority, operator, metrics } = balancer;
  const handler = operatorEndpoint(operator, { token: options.token, metrics });
  closing.use(await serve(runtime, options, { at: options.operator, handler }));

  return { client, authority, operator, ready: operator.ready, [Symbol.asyncDispose]: () => closing.close() };
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
