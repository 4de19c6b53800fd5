import type { Endpoint, HttpHandler, HttpResponse, HttpServer, Runtime } from "@meridian/runtime";
import type { Registry } from "prom-client";

/** Where metrics and health are told, in the clear: for a port that only the cluster reaches. */
export interface MetricsListenerOptions {
  readonly listen: Endpoint;
  readonly registry: Registry;
  /** Whether questions are answered with data: zones loaded, ports bound; or what is missing. */
  readonly ready: () => boolean | string;
}

/**
 * Serves `/metrics` in the Prometheus text format, `/healthz` (the process runs) and `/readyz` (it should be asked).
 *
 * @throws NetworkError when the endpoint cannot be bound
 */
export function serveMetrics(runtime: Runtime, options: MetricsListenerOptions): Promise<HttpServer> {
  return runtime.network.serveHttp({
    ...options.listen,
    handler: metricsHandler(options),
    bodyBytesMax: 1024,
    connectionsMax: 64,
  });
}

/** Answers `/metrics`, `/healthz` and `/readyz`, for a listener that answers more than these. */
export function metricsHandler({
  registry,
  ready,
}: Pick<MetricsListenerOptions, "registry" | "ready">): HttpHandler {
  return async ({ method, target }) => {
    if (method !== "GET" && method !== "HEAD") return text(405, "use GET\n", { allow: "GET, HEAD" });
    switch (target.split("?")[0] ?? "") {
      case "/metrics":
        return text(200, await registry.metrics(), { "content-type": registry.contentType });
      case "/healthz":
        return text(200, "ok\n");
      case "/readyz":
        return readiness(ready());
      default:
        return text(404, "nothing is here; try /metrics, /healthz or /readyz\n");
    }
  };
}

function readiness(ready: boolean | string): HttpResponse {
  if (ready === true) return text(200, "ok\n");
  return text(503, ready === false ? "not ready\n" : `not ready: ${ready}\n`);
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
