import { parseOperatorConfig } from "@meridian/gslb";
import { nodeRuntime } from "@meridian/runtime/node";
import { collectDefaultMetrics, Registry } from "prom-client";
import { ClosingStack } from "../cluster/closing-stack.ts";
import { startCluster } from "../cluster/cluster.ts";
import { operatorEnvironment } from "../cluster/operator-environment.ts";
import { resolveHost } from "../cluster/resolve-host.ts";
import { watchedFile } from "../cluster/watched-file.ts";
import { openDatapath } from "../dns/open-datapath.ts";
import type { ChildRole, ClusterRole } from "../fleet/child-protocol.ts";
import { readClusterIdentity } from "../fleet/cluster-folder.ts";
import { pinoLogger } from "../pino-logger.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import { openStorage } from "./open-storage.ts";

/** Makes this process one cluster; resolves when its DNS server answers. @throws MeridianError, NetworkError */
export async function startClusterProcess(
  role: ClusterRole & Pick<ChildRole, "logLevel">,
): Promise<AsyncDisposable> {
  const log = pinoLogger({ format: "json", level: role.logLevel });
  const runtime = nodeRuntime({ dataFolder: role.folder, log });
  const { token, server, caPem, peerKey } = await readClusterIdentity(role.folder);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const closing = new ClosingStack();
  try {
    const storage = closing.use(await openStorage(runtime, { kind: role.storage, folder: role.folder }));
    const environment = operatorEnvironment(role);
    const tracer = await openTracer(parseOperatorConfig(environment).config, closing);
    const cluster = await startCluster(runtime, {
      storage,
      token,
      apiServer: role.apiServer,
      operator: role.operator,
      dns: role.dns,
      tls: { server, caPem },
      ...(peerKey === undefined ? {} : { peerKey }),
      ...(role.metrics === undefined ? {} : { metrics: role.metrics }),
      operatorEnvironment: environment,
      ...(tracer === undefined ? {} : { tracer }),
      openFile: watchedFile,
      resolveHost,
      // One thread: the clusters of a playground share a machine.
      openThreads: (authority) => openDatapath(runtime, authority, { datapath: role.datapath, workers: 1 }),
      registry,
    });
    closing.use(cluster);
    await cluster.ready;
  } catch (error) {
    await closing.close().catch(() => {}); // the first failure says more
    throw error;
  }
  return { [Symbol.asyncDispose]: () => closing.close() };
}
