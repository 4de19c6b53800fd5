import type { ResourceType } from "@meridian/kube";
import { KubeClient } from "../client/kube-client.ts";
import type { KubeClientOptions } from "../client/client-options.ts";
import { FaultyHttp } from "./faults/faulty-http.ts";
import { httpTo } from "./faults/http-to.ts";
import { withHttpClient } from "./faults/with-http-client.ts";
import { testRuntime } from "./test-runtime.ts";
import type { TestRuntime, TestRuntimeOptions } from "./test-runtime.ts";
import { ApiTruth } from "./truth/api-truth.ts";

/** What a test's API serves, and how its client is. */
export interface TestApiOptions extends TestRuntimeOptions {
  /** Every kind that is read or written: also those of Events and Leases, if there are any. */
  readonly types: readonly ResourceType[];
  /**
   * What comes of a request for a kind that `types` lacks. `fail`, the default: it is answered 404, and every wait of the
   * clock rejects and says which kind it was, since a controller would ask again and again without a word. `answer`: it is
   * answered 404, for a controller that is to meet that.
   */
  readonly unserved?: "fail" | "answer";
  readonly client?: Omit<KubeClientOptions, "origin">;
}

/** An API in memory, a client of it, and what is between the two. */
export interface TestApi extends TestRuntime {
  readonly truth: ApiTruth;
  readonly box: FaultyHttp;
  readonly client: KubeClient;
}

/**
 * Everything that the test of a controller needs, in one process and without any real time.
 *
 * ```ts
 * const { runtime, clock, truth, client, box } = testApi({ types: [services, configMaps] });
 * const running = run(runtime, client, stopping.signal);
 * truth.put(service("web"));
 * await clock.advance(1_000);
 * assert.equal(truth.get<ConfigMap>(configMaps, { namespace: "shop", name: "web-address" })?.data?.address, "10.0.0.1");
 * ```
 */
export function testApi(options: TestApiOptions): TestApi {
  const base = testRuntime(options);
  const truth = new ApiTruth({
    types: options.types,
    clock: base.clock,
    ...(options.unserved === "answer" ? {} : { onUnserved: (message) => base.clock.fail(unserved(message)) }),
  });
  const box = new FaultyHttp(base.runtime);
  const runtime = withHttpClient(base.runtime, () => box.client(httpTo(truth.handler)));
  const client = new KubeClient(runtime, { ...options.client, origin: "http://truth" });
  return { ...base, runtime, truth, box, client };
}

function unserved(message: string): Error {
  return new Error(`${message}, or let "unserved" be "answer" if the test is about its absence`);
}
