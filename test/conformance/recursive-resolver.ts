import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Runtime } from "@meridian/runtime";
import { namedConfig, unboundConfig, type ResolverPlace } from "../../e2e/harness/resolver-config.ts";
import { ChildServer, freePort } from "./child-server.ts";

/** Resolvers of others, that ask one server for one zone. */
export type ResolverKind = "unbound" | "named";

/** A resolver in a process of its own, at a port of 127.0.0.1. */
export interface RecursiveResolver extends AsyncDisposable {
  readonly port: number;
}

/** Starts a resolver; `undefined` where it is not installed. Unbound sends the client's subnet, of /24, to the server. */
export async function startResolver(
  runtime: Runtime,
  kind: ResolverKind,
  of: { readonly zone: string; readonly server: number },
): Promise<RecursiveResolver | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-resolver-"));
  const port = await freePort(runtime);
  const file = path.join(folder, `${kind}.conf`);
  await writeFile(file, configurations[kind]({ folder, address: "127.0.0.1", port }, of));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const [command, says] =
      kind === "unbound"
        ? [["unbound", "-d", "-c", file], /start of service/]
        : [["named", "-g", "-n", "1", "-c", file], / running\n/];
    const child = await ChildServer.start(command, says);
    const stop = async (): Promise<void> => {
      await child[Symbol.asyncDispose]();
      await remove();
    };
    return { port, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await remove();
    if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

const configurations: Readonly<
  Record<ResolverKind, (place: ResolverPlace, of: { zone: string; server: number }) => string>
> = {
  unbound: (place, { zone, server }) =>
    unboundConfig(place, {
      zone,
      server: `127.0.0.1@${server}`,
      settings: [
        'module-config: "subnetcache iterator"',
        "send-client-subnet: 127.0.0.1",
        "max-client-subnet-ipv4: 24",
      ],
    }),
  named: (place, { zone, server }) =>
    namedConfig(place, {
      settings: ["dnssec-validation no;"],
      statements: [
        `zone "${zone}" { type forward; forward only; forwarders { 127.0.0.1 port ${server}; }; };`,
      ],
    }),
};
