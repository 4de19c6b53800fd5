import { parseMessage } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { K8gbObjects } from "../../test/simulation/k8gb/k8gb-objects.ts";
import { K8gbOperator } from "../../test/simulation/k8gb/k8gb-operator.ts";
import { answerAsPlugin } from "../../test/simulation/k8gb/plugin-answer.ts";
import type { WantedApplication } from "../../test/simulation/fleet/cluster-user.ts";
import { machineMs, serveCommands, type ClusterCommands, type ClusterSetting } from "./cluster-protocol.ts";
import {
  appName,
  benchParentZone,
  benchZone,
  hostName,
  parentPlace,
  placeOf,
  targetOf,
} from "./fleet-place.ts";

const runtime = nodeRuntime({ dataFolder: "/nonexistent", log: silentLogger });
const zones = [{ name: benchZone, parent: benchParentZone }];

/**
 * One cluster that finds out about others as k8gb does, over real sockets: its operator and its DNS server as they are
 * simulated, without an API server, so that only what is asked and when is to be compared.
 */
class PollingCluster implements ClusterCommands {
  readonly #objects = new K8gbObjects(zones, () => Date.now());
  #setting!: ClusterSetting;
  #dnsMessages = 0;

  async prepare(setting: ClusterSetting): Promise<void> {
    this.#setting = setting;
    for (let index = 0; index < setting.gslbs; index++) this.#objects.want(this.#wanted(index, true));
  }

  async start(): Promise<number> {
    const startedMs = machineMs();
    const { tag, tags, network, periodSeconds } = this.#setting;
    const { dns } = placeOf(network, tag);
    await runtime.network.serveUdp({
      ...dns,
      // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
      answer: (input, offset, length, client, output) => {
        this.#dnsMessages += 1;
        const query = parseMessage(input.slice(offset, offset + length));
        const content = {
          synced: true,
          zones: [benchZone],
          endpoints: this.#objects.endpoints(),
          siteOf: () => undefined,
          serial: 1,
        };
        const octets = answerAsPlugin(content, query, { client: client.address, random: runtime.random });
        output.set(octets);
        return octets.length;
      },
    });
    const operator = new K8gbOperator(runtime, {
      tag,
      peers: tags.filter((other) => other !== tag),
      objects: this.#objects,
      addresses: [dns.address],
      edge: parentPlace(network),
      periodMs: periodSeconds * 1000,
      zonePeriodMs: 300_000,
    });
    this.#objects.watcher = operator;
    operator.run();
    return machineMs() - startedMs;
  }

  restart(): Promise<number> {
    return Promise.reject(new Error("it keeps nothing"));
  }

  async setReady(index: number, ready: boolean): Promise<number> {
    this.#objects.want(this.#wanted(index, ready));
    return machineMs();
  }

  async apply(from: number, to: number): Promise<{ readonly startedMs: number; readonly endedMs: number }> {
    const startedMs = machineMs();
    for (let index = from; index < to; index++) this.#objects.want(this.#wanted(index, true));
    return { startedMs, endedMs: machineMs() };
  }

  async counts(): ReturnType<ClusterCommands["counts"]> {
    const { user, system } = process.cpuUsage();
    return {
      cpuMs: (user + system) / 1000,
      residentMiB: process.memoryUsage.rss() / 2 ** 20,
      dnsMessages: this.#dnsMessages,
      ...{ tcpConnections: 0, apiRequests: 0, apiWrites: 0, reconciles: 0 },
    };
  }

  #wanted(index: number, ready: boolean): WantedApplication {
    const { tag, tags } = this.#setting;
    const [name, host] = [appName(index), hostName(index)];
    return {
      application: { name, host, question: host, zone: benchZone, targets: { eu: [], us: [], za: [] } },
      ready,
      targets: [targetOf(tag)],
      strategy: { type: "failover", primaryGeoTag: tags[0]!, dnsTtlSeconds: 5 },
    };
  }
}

serveCommands(new PollingCluster());
