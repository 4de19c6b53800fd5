import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer, requestBodyBytesMax } from "@meridian/apiserver";
import { formatEndpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Terminal } from "../cli/terminal.ts";
import { whenAborted } from "../cli/when-aborted.ts";
import type { ClosingStack } from "../cluster/closing-stack.ts";
import { prepareAuthority, prepareClusterFolder } from "../fleet/cluster-folder.ts";
import { FolderLock } from "../fleet/folder-lock.ts";
import { readTextIfPresent } from "../fleet/private-file.ts";
import { MeridianError } from "../meridian-error.ts";
import { pinoLogger } from "../pino-logger.ts";
import type { ApiserverOptions } from "./apiserver-options.ts";
import { choosePort, type ChosenPort } from "./choose-port.ts";
import { openStorage } from "./open-storage.ts";

/** Runs an API server until the terminal says stop; everything opened goes onto `closing`. @throws MeridianError */
export async function serveApiserver(
  terminal: Terminal,
  options: ApiserverOptions,
  closing: ClosingStack,
): Promise<number> {
  const folder = options.folder ?? (await temporaryFolder(closing));
  closing.use(await FolderLock.acquire(folder, "meridian apiserver"));
  const log = pinoLogger({ format: terminal.interactive ? "pretty" : "json", level: "info" });
  const runtime = nodeRuntime({ dataFolder: folder, log });
  const givenToken = options.tokenFile === undefined ? undefined : await readToken(options.tokenFile);
  const authority = await prepareAuthority(runtime, folder);

  const storage = closing.use(await openStorage(runtime, { kind: options.storage, folder }));

  const { address } = options;
  const { port, last } =
    options.port === 0 ? await choosePort(runtime, { folder, address }) : { port: options.port };
  const server = `https://${formatEndpoint({ address: options.address, port })}`;
  const prepared = await prepareClusterFolder(runtime, folder, {
    name: "meridian",
    address: options.address,
    server,
    authority,
    ...(givenToken === undefined ? {} : { token: givenToken }),
  });
  const identity = { token: prepared.token, username: "admin", groups: ["system:masters"] };
  const apiServer = closing.use(
    createApiServer(runtime, {
      storage,
      tokens: [identity],
      disabledControllers: options.disabledControllers,
    }),
  );
  closing.use(
    await runtime.network.serveHttp({
      address: options.address,
      port,
      tls: prepared.server,
      handler: apiServer.handler,
      bodyBytesMax: requestBodyBytesMax,
    }),
  );
  await apiServer.ready;
  terminal.print(`API server ready at ${server}`);
  if (last !== undefined) terminal.print(lastPortText(last));
  terminal.print(`kubeconfig: ${prepared.kubeconfigPath}`);
  await whenAborted(terminal.stopping);
  return 0;
}

async function temporaryFolder(closing: ClosingStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "meridian-apiserver-"));
  closing.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function readToken(path: string): Promise<string> {
  const token = (await readTextIfPresent(path))?.trim();
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new MeridianError(
    "BadFile",
    `${path} holds no token: write one line of printable ASCII without spaces into it`,
  );
}

function lastPortText({ port, outcome }: NonNullable<ChosenPort["last"]>): string {
  return outcome === "kept"
    ? `port ${port} as in the last run: its kubeconfig is still right`
    : `port ${port} of the last run is taken: read the kubeconfig again`;
}
