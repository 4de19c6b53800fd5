import path from "node:path";
import type { Runtime } from "@meridian/runtime";
import { ChildServer, freePort, meridianCommand } from "./child-server.ts";
import { datapaths, type Datapath } from "./datapath.ts";
import { DnsExchange } from "./dns-exchange.ts";
import { startReferenceServers, type ReferenceServer } from "./reference-servers.ts";

/** The same zones served by the reference servers and, on each datapath, by `meridian dns`. */
export class ServedBeside implements AsyncDisposable {
  readonly references: readonly ReferenceServer[];
  readonly #children: readonly ChildServer[];
  readonly #exchanges: ReadonlyMap<Datapath, DnsExchange>;

  private constructor(
    references: readonly ReferenceServer[],
    children: readonly ChildServer[],
    exchanges: ReadonlyMap<Datapath, DnsExchange>,
  ) {
    this.references = references;
    this.#children = children;
    this.#exchanges = exchanges;
  }

  /** The files of the zones are in the folder, named for their origins, or are written to it. */
  static async start(
    runtime: Runtime,
    where: Parameters<typeof startReferenceServers>[1],
  ): Promise<ServedBeside> {
    const references = await startReferenceServers(runtime, where);
    const files = where.zones.flatMap(({ origin }) => [
      ...["--zone-file", path.join(where.folder, origin)],
      ...["--origin", origin],
    ]);
    const children: ChildServer[] = [];
    const exchanges = new Map<Datapath, DnsExchange>();
    for (const datapath of datapaths) {
      const port = await freePort(runtime);
      const how = ["--listen", `127.0.0.1:${port}`, "--datapath", datapath];
      children.push(await ChildServer.start([...meridianCommand, "dns", ...files, ...how], /Serving /));
      exchanges.set(datapath, new DnsExchange(runtime, { address: "127.0.0.1", port }));
    }
    return new ServedBeside(references, children, exchanges);
  }

  /** Ours: on that datapath, which makes no difference to TCP. */
  ours(datapath: Datapath = "dgram"): DnsExchange {
    return this.#exchanges.get(datapath)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [...this.references, ...this.#exchanges.values(), ...this.#children])
      await server[Symbol.asyncDispose]();
  }
}
