import type { Logger } from "../logger.ts";
import type { Network } from "../network.ts";
import type { Runtime } from "../runtime.ts";
import { nodeClock } from "./node-clock.ts";
import { NodeDisk } from "./node-disk.ts";
import { NodeHttpClient } from "./node-http-client.ts";
import { serveNodeHttp } from "./node-http-server.ts";
import { NodeRandom } from "./node-random.ts";
import { serveNodeStreams } from "./node-streams.ts";
import { connectNodeTcp, listenNodeTcp } from "./node-tcp.ts";
import { bindNodeUdp, serveNodeUdp } from "./node-udp.ts";

/** The real outside world: this machine's clock, network and the files below `dataFolder`. */
export function nodeRuntime(options: { readonly dataFolder: string; readonly log: Logger }): Runtime {
  const { dataFolder, log } = options;
  return {
    clock: nodeClock,
    random: new NodeRandom(),
    network: nodeNetwork(log),
    disk: new NodeDisk(dataFolder),
    log,
  };
}

function nodeNetwork(log: Logger): Network {
  return {
    serveUdp: (options) => serveNodeUdp(options, log),
    bindUdp: (options) => bindNodeUdp({ ...options, log }),
    listenTcp: (options) => listenNodeTcp({ ...options, log }),
    serveStreams: (options) => serveNodeStreams(options, log),
    connectTcp: (options) => connectNodeTcp(options),
    connectTls: (options) => connectNodeTcp(options),
    serveHttp: (options) => serveNodeHttp(options, log),
    httpClient: (options) => new NodeHttpClient(options),
  };
}
