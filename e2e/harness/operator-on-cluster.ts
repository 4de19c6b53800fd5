import { KubeClient, connectionFromKubeconfig } from "@meridian/controller";
import { Authority, DnsClient, serveDns, type DnsServer } from "@meridian/dns";
import { parseOperatorConfig, startOperator, type Operator } from "@meridian/gslb";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Logger, Runtime } from "@meridian/runtime";
import { dig, type DigAnswer } from "./dig.ts";

const address = "127.0.0.1";

/** What was logged at a level that asks for somebody's attention. */
export interface Complaint {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface OperatorOnClusterOptions {
  readonly kubeconfig: string;
  readonly dataFolder: string;
  /** Settings under k8gb's names, beside those of a cluster `eu` that is alone for `cloud.example.com`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The Gslb operator and its DNS server against any cluster that a kubeconfig leads to; in the process of the test. */
export class OperatorOnCluster implements AsyncDisposable {
  readonly operator: Operator;
  readonly complaints: Complaint[];
  readonly #dns: DnsServer;
  readonly #parts: readonly AsyncDisposable[];

  private constructor(parts: {
    operator: Operator;
    complaints: Complaint[];
    dns: DnsServer;
    others: readonly AsyncDisposable[];
  }) {
    this.operator = parts.operator;
    this.complaints = parts.complaints;
    this.#dns = parts.dns;
    this.#parts = [parts.dns, ...parts.others];
  }

  static async start(options: OperatorOnClusterOptions): Promise<OperatorOnCluster> {
    const complaints: Complaint[] = [];
    const runtime = nodeRuntime({ dataFolder: options.dataFolder, log: complaintsTo(complaints) });
    const authority = new Authority({ random: runtime.random, clock: runtime.clock });
    const dns = await serveDns(runtime, { authority, listen: [{ address, port: 0 }] });
    const client = new KubeClient(runtime, connectionFromKubeconfig(runtime, options.kubeconfig));
    const dnsClient = new DnsClient(runtime, { from: address });
    const operator = startOperator(runtime, { client, authority, dnsClient, config: configOf(options) });
    return new OperatorOnCluster({ operator, complaints, dns, others: [dnsClient, client] });
  }

  /** Asks the DNS server. */
  dig(name: string, type = "A"): Promise<DigAnswer> {
    return dig({ server: address, port: this.#dns.local[0]!.port, name, type });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator.stop();
    for (const part of this.#parts) await part[Symbol.asyncDispose]();
  }
}

function configOf({ settings = {} }: OperatorOnClusterOptions): ConfigOfOperator {
  const { config, problems } = parseOperatorConfig({
    CLUSTER_GEO_TAG: "eu",
    DNS_ZONES: "example.com:cloud.example.com:30",
    // Nobody answers there: no parent is needed to answer for the zone.
    EDGE_DNS_SERVERS: `${address}:9`,
    MERIDIAN_DNS_ADDRESSES: address,
    ...settings,
  });
  if (config === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  return config;
}

type ConfigOfOperator = Parameters<typeof startOperator>[1]["config"];

function complaintsTo(complaints: Complaint[]): Runtime["log"] {
  const take =
    (level: Complaint["level"]) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void complaints.push({ level, message, fields });
  const log: Logger = {
    ...{ error: take("error"), warn: take("warn"), info() {}, debug() {} },
    child: () => log,
  };
  return log;
}
