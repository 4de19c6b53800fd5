import { readFile } from "node:fs/promises";
import { clientFromEnvironment, meterRequests, type KubeClient } from "@meridian/controller";
import type { OperatorConfig } from "@meridian/gslb";
import { customResourceDefinitionType } from "@meridian/kube";
import { formatEndpoint, type Logger } from "@meridian/runtime";
import { nodeLocalSystem, nodeRuntime } from "@meridian/runtime/node";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Terminal } from "../cli/terminal.ts";
import { whenAborted } from "../cli/when-aborted.ts";
import { startBalancer, type Balancer } from "../cluster/balancer.ts";
import type { ClosingStack } from "../cluster/closing-stack.ts";
import { programVersion } from "../cluster/program-version.ts";
import { resolveHost } from "../cluster/resolve-host.ts";
import { servedDefinitions } from "../cluster/served-definitions.ts";
import { watchedFile } from "../cluster/watched-file.ts";
import { openDatapath } from "../dns/open-datapath.ts";
import { logFailure } from "../log-failure.ts";
import { MeridianError, messageOf } from "../meridian-error.ts";
import { pinoLogger } from "../pino-logger.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import type { OperatorOptions } from "./operator-command-options.ts";
import { neededRestarts, operatorSettings, type OperatorSettings } from "./operator-settings.ts";

/** How often the file of settings is looked at. */
const filePeriodMs = 5_000;

/** Runs the balancer of a cluster until it is told to stop; its log tells of failures. @returns the exit code */
export async function runOperator(
  terminal: Terminal,
  options: OperatorOptions,
  closing: ClosingStack,
): Promise<number> {
  const settings = await read(terminal, options);
  if (settings.config === undefined) {
    const log = pinoLogger({ format: terminal.interactive ? "pretty" : "json", level: "error" });
    for (const problem of settings.problems) log.error("Can't resolve environment variables", { problem });
    return 1;
  }
  const log = operatorLogger(settings.config);
  try {
    return await serve(terminal, options, { settings, log, closing });
  } catch (error) {
    logFailure(log, error);
    return 1;
  }
}

interface Start {
  readonly settings: Extract<OperatorSettings, { readonly config: OperatorConfig }>;
  readonly log: Logger;
  readonly closing: ClosingStack;
}

async function serve(
  terminal: Terminal,
  options: OperatorOptions,
  { settings, log, closing }: Start,
): Promise<number> {
  const { config } = settings;
  const { version, commit } = programVersion;
  log.info("k8gb info", { version, commit: commit.slice(0, 7), geoTag: config.geoTag });
  log.debug("configuration", settings.shown);
  const runtime = nodeRuntime({ dataFolder: "/", log });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const client = closing.use(
    await clientFromEnvironment(
      { clock: runtime.clock, network: meterRequests(runtime, registry) },
      {
        system: nodeLocalSystem(),
        userAgent: "meridian-operator",
        ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
        ...(options.context === undefined ? {} : { context: options.context }),
      },
    ),
  );
  const tracer = await openTracer(config, closing);
  log.info("Starting k8gb");
  const { host, port } = config.metricsAddress;
  const balancer = await startBalancer(
    runtime,
    {
      ...{ client, config, registry, dns: options.dns, resolveHost, openFile: watchedFile },
      metrics: { address: await addressOf(host, terminal.stopping), port },
      ...(tracer === undefined ? {} : { tracer }),
      openThreads: (authority) =>
        openDatapath(runtime, authority, { datapath: options.datapath, workers: options.workers }),
    },
    closing,
  );
  log.info("DNS provider resolved", { provider: providerNames[config.provider.kind] });
  log.info("the DNS server listens", { at: balancer.dns.map(formatEndpoint) });
  void tellMissingDefinitions(client, log);
  const reloading = new Reloading(log, { balancer, config, read: () => read(terminal, options) });
  terminal.onNudge(() => void reloading.now());
  const { configPath } = options;
  if (configPath !== undefined) closing.use(followFile(runtime, configPath, () => void reloading.now()));
  await whenAborted(terminal.stopping);
  reloading.end();
  await closing.close();
  await reloading.idle;
  log.info("Gracefully finished, bye!");
  return 0;
}

/** Without its definitions an operator waits, and all that it could say is that lists fail. */
async function tellMissingDefinitions(client: KubeClient, log: Logger): Promise<void> {
  // Where they may not be listed or nobody answers, the log tells of that already.
  const list = await client.list(customResourceDefinitionType).catch(() => undefined);
  const names = new Set(list?.items.map(({ metadata }) => metadata.name));
  const missing = servedDefinitions().flatMap(({ metadata: { name = "" } }) =>
    names.has(name) ? [] : [name],
  );
  if (list === undefined || missing.length === 0) return;
  const remedy = "meridian crds | kubectl apply --server-side -f -";
  log.error("CustomResourceDefinitions are missing, and waited for", { missing, remedy });
}

/** As k8gb's log calls them. */
const providerNames = {
  none: "EMPTY",
  externalDns: "EXTDNS",
  infoblox: "Infoblox",
  rfc2136: "RFC 2136",
} as const;

async function read(terminal: Terminal, { configPath, flags }: OperatorOptions): Promise<OperatorSettings> {
  const given = { flags, environment: terminal.environment };
  if (configPath === undefined) return operatorSettings(given);
  try {
    const text = await readFile(configPath, "utf8");
    return operatorSettings({ ...given, file: { path: configPath, text } });
  } catch (error) {
    return { problems: [`--config ${configPath} cannot be read: ${messageOf(error)}`] };
  }
}

/** As k8gb: text for people on standard error, JSON for machines on standard output. */
function operatorLogger({ log }: OperatorConfig): Logger {
  const level = log.level === "trace" ? "debug" : log.level;
  if (log.format === "simple") return pinoLogger({ format: "pretty", level });
  return pinoLogger({ format: "json", level, fd: 1 });
}

async function addressOf(host: string, signal: AbortSignal): Promise<string> {
  const [address] = await resolveHost(host, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return [];
  });
  if (address === undefined)
    throw new MeridianError(
      "StartFailed",
      `METRICS_ADDRESS names ${host}, which has no address; use an address, for example 0.0.0.0:8080`,
    );
  return address;
}

/** Calls `onChange` when a file is another one. */
function followFile(
  { clock }: Pick<ReturnType<typeof nodeRuntime>, "clock">,
  path: string,
  onChange: () => void,
): AsyncDisposable {
  const ending = new AbortController();
  const file = watchedFile(path);
  const follow = async (): Promise<void> => {
    let stamp = await file.stamp().catch(() => undefined);
    while (!ending.signal.aborted) {
      await clock.sleep(filePeriodMs, ending.signal).catch(() => {});
      const now = await file.stamp().catch(() => stamp);
      if (now !== undefined && now !== stamp && !ending.signal.aborted) onChange();
      stamp = now ?? stamp;
    }
  };
  const ended = follow();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await ended;
    },
  };
}

/** Takes up changed settings, one after the other. What is wrong with them is logged, and nothing changes. */
class Reloading {
  idle: Promise<void> = Promise.resolve();
  readonly #log: Logger;
  readonly #balancer: Balancer;
  readonly #read: () => Promise<OperatorSettings>;
  #config: OperatorConfig;
  #isEnded = false;

  constructor(
    log: Logger,
    of: {
      readonly balancer: Balancer;
      readonly config: OperatorConfig;
      readonly read: () => Promise<OperatorSettings>;
    },
  ) {
    this.#log = log;
    this.#balancer = of.balancer;
    this.#config = of.config;
    this.#read = of.read;
  }

  now(): Promise<void> {
    return (this.idle = this.idle.then(() => this.#reload()));
  }

  /** Takes up nothing more. */
  end(): void {
    this.#isEnded = true;
  }

  async #reload(): Promise<void> {
    if (this.#isEnded) return;
    try {
      const { config, problems } = await this.#read();
      if (config === undefined) {
        for (const problem of problems)
          this.#log.error("settings are refused; all stays as it was", { problem });
        return;
      }
      const settings = neededRestarts(this.#config, config);
      if (settings.length > 0) this.#log.warn("a restart is needed for some settings", { settings });
      if (isSame(this.#config, config)) return;
      const { ready } = await this.#balancer.reconfigure(config);
      this.#config = config;
      this.#log.info("the operator is started with other settings");
      // Not waited for: it may take for ever, and then the next change is what helps.
      ready.then(
        () => this.#log.info("settings are taken up"),
        () => {}, // stopped for the next ones, or at the end
      );
    } catch (error) {
      if (!this.#isEnded) this.#log.error("settings cannot be taken up", { error });
    }
  }
}

/** Maps count by what is in them. */
function isSame(one: OperatorConfig, other: OperatorConfig): boolean {
  const text = (config: OperatorConfig): string =>
    JSON.stringify(config, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
  return text(one) === text(other);
}
