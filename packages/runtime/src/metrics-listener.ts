import type { Endpoint, HttpHandler, HttpResponse, HttpServer, Network } from "./network.ts";

/** What yields the metrics in the Prometheus text format: a `Registry` of prom-client. */
export interface MetricsText {
  metrics(): Promise<string>;
  readonly contentType: string;
}

/** What is told of a process. */
export interface MetricsHandlerOptions {
  readonly registry: MetricsText;
  /** Whether there is work that it should be given: zones loaded, ports bound, copies up to date; or what is missing. */
  readonly ready: () => boolean | string;
  /** Whether it works at all; what it answers otherwise has it restarted. Default: it does, since it answers. */
  readonly alive?: () => boolean | string;
}

/** Where metrics and health are told, in the clear: for a port that only the cluster reaches. */
export interface MetricsListenerOptions extends MetricsHandlerOptions {
  readonly listen: Endpoint;
}

/**
 * Serves `/metrics` in the Prometheus text format, `/healthz` (the process works) and `/readyz` (it should be asked).
 *
 * @throws NetworkError when the endpoint cannot be bound
 */
export function serveMetrics(
  runtime: { readonly network: Pick<Network, "serveHttp"> },
  options: MetricsListenerOptions,
): Promise<HttpServer> {
  return runtime.network.serveHttp({
    ...options.listen,
    handler: metricsHandler(options),
    bodyBytesMax: 1024,
    connectionsMax: 64,
  });
}

/** Answers `/metrics`, `/healthz` and `/readyz`, for a listener that answers more than these. */
export function metricsHandler({ registry, ready, alive = () => true }: MetricsHandlerOptions): HttpHandler {
  return async ({ method, target }) => {
    if (method !== "GET" && method !== "HEAD") return text(405, "use GET\n", { allow: "GET, HEAD" });
    switch (target.split("?")[0] ?? "") {
      case "/metrics":
        return text(200, await registry.metrics(), { "content-type": registry.contentType });
      case "/healthz":
        return verdict(alive(), "not alive");
      case "/readyz":
        return verdict(ready(), "not ready");
      default:
        return text(404, "nothing is here; try /metrics, /healthz or /readyz\n");
    }
  };
}

function verdict(state: boolean | string, otherwise: string): HttpResponse {
  if (state === true) return text(200, "ok\n");
  return text(503, state === false ? `${otherwise}\n` : `${otherwise}: ${state}\n`);
}

function text(status: number, body: string, headers: Record<string, string> = {}): HttpResponse {
  const octets = new TextEncoder().encode(body);
  return {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(octets.length),
      "cache-control": "no-store",
      ...headers,
    },
    body: octets,
  };
}
