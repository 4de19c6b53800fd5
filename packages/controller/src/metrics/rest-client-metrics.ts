import { Counter, Histogram, type Registry } from "prom-client";
import type { Clock, HttpClient, Network } from "@meridian/runtime";

/** client-go's. */
const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * A network whose HTTP requests are counted under the names of client-go: `rest_client_requests_total` by code, method and
 * host, and `rest_client_request_duration_seconds`, until the answer begins. Give it to the client in place of the runtime's:
 *
 *     const network = meterRequests(runtime, registry);
 *     new KubeClient({ ...runtime, network }, options);
 */
export function meterRequests<N extends Pick<Network, "httpClient">>(
  runtime: { readonly clock: Pick<Clock, "monotonicMs">; readonly network: N },
  registry: Registry,
): N {
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labelNames: ["code", "method", "host"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb, and host.",
    labelNames: ["verb", "host"],
    buckets: requestBuckets,
    registers: [registry],
  });
  const { clock, network } = runtime;
  const metered = (client: HttpClient, host: string): HttpClient => ({
    async request(request) {
      const { method } = request;
      const startedMs = clock.monotonicMs();
      let code = "<error>";
      try {
        const response = await client.request(request);
        code = String(response.status);
        return response;
      } finally {
        requests.inc({ code, method, host });
        durations.observe({ verb: method, host }, (clock.monotonicMs() - startedMs) / 1000);
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  });
  return {
    ...network,
    httpClient: (options) => metered(network.httpClient(options), options.origin.replace(/^https?:\/\//, "")),
  };
}
