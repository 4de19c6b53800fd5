import type { Network, Runtime } from "@meridian/runtime";

/** The runtime with other HTTP clients. */
export function withHttpClient(runtime: Runtime, httpClient: Network["httpClient"]): Runtime {
  const { network } = runtime;
  const other: Network = {
    serveUdp: (options) => network.serveUdp(options),
    bindUdp: (options) => network.bindUdp(options),
    listenTcp: (options) => network.listenTcp(options),
    connectTcp: (options) => network.connectTcp(options),
    connectTls: (options) => network.connectTls(options),
    serveStreams: (options) => network.serveStreams(options),
    serveHttp: (options) => network.serveHttp(options),
    httpClient,
  };
  return { ...runtime, network: other };
}
