import { isIP } from "node:net";
import { silentLogger, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { DnsClient } from "@meridian/dns";
import type { Explanation } from "@meridian/gslb";
import { lastText, type Command } from "../cli/command.ts";
import { dataFolder, dataOption } from "../cli/data-option.ts";
import { OptionReader } from "../cli/option-values.ts";
import type { FleetFileCluster } from "../fleet/fleet-file.ts";
import { openFleet, operatorClient } from "../fleet/open-fleet.ts";
import { askAddresses, describeVerdict } from "../fleet/probe.ts";
import { messageOf } from "../meridian-error.ts";
import {
  explanationText,
  unknownHostText,
  type ClusterExplanation,
  type ServedAnswer,
} from "./explanation-text.ts";

const deadlineMs = 3_000;

type AddressType = ServedAnswer["type"];

/** `meridian explain`: how each cluster answers for a host, and why, from live data. */
export const explainCommand: Command = {
  words: ["explain"],
  positionals: ["HOST"],
  summary: "tell how each cluster answers for a host, and why",
  details: [
    "Asks the operator of each cluster for health, local targets, what it saw of its peers and what it decided,",
    "and each DNS server for what it answers. A cluster that cannot be asked is shown as such.",
    "The exit code is 0 when every cluster could be asked and one of them knows the host, else 1.",
  ],
  options: [
    dataOption,
    { name: "client", value: "ADDRESS", help: "ask the DNS servers for a client at this address" },
    { name: "type", value: "A|AAAA", help: "ask for this type only (default both)" },
    { name: "output", value: "FORMAT", help: "text, or json for machines (default text)" },
  ],
  async run(invocation, terminal) {
    const reader = new OptionReader();
    const output = reader.oneOf(lastText(invocation, "output"), {
      option: "--output",
      values: ["text", "json"],
      fallback: "text",
    });
    const type = reader.oneOf<"both" | AddressType>(lastText(invocation, "type"), {
      option: "--type",
      values: ["both", "A", "AAAA"],
      fallback: "both",
    });
    const client = lastText(invocation, "client");
    if (client !== undefined && isIP(client) === 0)
      reader.problem(`--client ${client}: must be an address, for example 192.0.2.77`);
    const host = (invocation.positionals[0] ?? "").replace(/\.$/, "").toLowerCase();
    if (/[/:@\s]/.test(host))
      reader.problem(`HOST ${host}: must be a name alone, for example app.cloud.example.com`);
    reader.finish();
    const types: readonly AddressType[] = type === "both" ? ["A", "AAAA"] : [type];
    const fleet = await openFleet(dataFolder(invocation));
    const runtime = nodeRuntime({ dataFolder: dataFolder(invocation), log: silentLogger });
    await using dnsClient = new DnsClient(runtime);
    const clusters = await Promise.all(
      fleet.clusters.map((cluster) => askCluster(runtime, cluster, { host, dnsClient, types, client })),
    );
    if (output === "json") terminal.print(JSON.stringify({ host, clusters }, undefined, 2));
    else for (const line of explanationText(host, clusters, runtime.clock.now())) terminal.print(line);
    const problem = unknownHostText(host, clusters);
    if (problem !== undefined) terminal.complain(problem);
    const isAsked = clusters.every((cluster) => cluster.unreachable === undefined);
    return isAsked && problem === undefined ? 0 : 1;
  },
};

async function askCluster(
  runtime: Runtime,
  cluster: FleetFileCluster,
  asked: {
    readonly host: string;
    readonly dnsClient: DnsClient;
    readonly types: readonly AddressType[];
    readonly client: string | undefined;
  },
): Promise<ClusterExplanation> {
  const { client, types } = asked;
  const [told, ...answers] = await Promise.all([
    askOperator(runtime, cluster, asked.host),
    ...types.map(async (type): Promise<ServedAnswer> => {
      const about = { server: cluster.dns, name: asked.host, type, clientAddress: client };
      const { verdict, addresses } = await askAddresses(asked.dnsClient, about);
      return {
        ...{ type, said: describeVerdict(verdict), addresses },
        ...(client === undefined ? {} : { client }),
      };
    }),
  ]);
  return { name: cluster.name, geoTag: cluster.geoTag, ...told, answers };
}

async function askOperator(
  runtime: Runtime,
  cluster: FleetFileCluster,
  host: string,
): Promise<{ readonly explanation: Explanation } | { readonly unreachable: string }> {
  const timedOut = new AbortController();
  const cancel = runtime.clock.after(deadlineMs, () =>
    timedOut.abort(new Error(`no answer within ${deadlineMs} ms`)),
  );
  try {
    const { http, token } = await operatorClient(runtime, cluster);
    await using client = http;
    const response = await client.request({
      method: "GET",
      target: `/explain?host=${encodeURIComponent(host)}`,
      headers: { authorization: `Bearer ${token}` },
      signal: timedOut.signal,
    });
    const text = await bodyText(response.body);
    if (response.status !== 200)
      return { unreachable: `${cluster.operator} answered ${response.status}: ${text.trim()}` };
    return { explanation: JSON.parse(text) as Explanation };
  } catch (error) {
    return { unreachable: messageOf(error) };
  } finally {
    cancel();
  }
}

async function bodyText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
