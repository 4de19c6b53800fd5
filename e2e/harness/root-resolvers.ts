import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { boundCommand } from "./bound-command.ts";
import { output } from "./command.ts";
import { dig, type DigAnswer } from "./dig.ts";
import { eventually } from "./eventually.ts";
import { LoggedProcess } from "./logged-process.ts";
import { namedConfig, unboundConfig, type ResolverPlace } from "./resolver-config.ts";

/** A kind of resolver that is told nothing but the address of a root server. */
export interface RootResolver {
  readonly command: string;
  readonly address: string;
  /** The texts of its files by name, and the words that run it in the foreground. */
  readonly configure: (
    place: ResolverPlace,
    root: string,
  ) => { readonly files: Readonly<Record<string, string>>; readonly args: readonly string[] };
}

/** Three that follow delegations by code of their own: Unbound, BIND and Knot Resolver. */
export const rootResolvers: readonly RootResolver[] = [
  {
    command: "unbound",
    address: "127.0.99.1",
    configure: (place, root) => ({
      files: {
        "unbound.conf": unboundConfig(place, {
          zone: ".",
          server: root,
          settings: ['module-config: "iterator"', "cache-max-negative-ttl: 1", "infra-host-ttl: 5"],
        }),
      },
      args: ["-d", "-c", path.join(place.folder, "unbound.conf")],
    }),
  },
  {
    command: "named",
    address: "127.0.99.2",
    configure: (place, root) => ({
      files: {
        "named.conf": namedConfig(place, {
          settings: ["dnssec-validation no; max-ncache-ttl 1;"],
          statements: ['zone "." { type hint; file "root.hint"; };'],
        }),
        "root.hint": `. 5 NS root.\nroot. 5 A ${root}\n`,
      },
      args: ["-g", "-n", "1", "-c", path.join(place.folder, "named.conf")],
    }),
  },
  {
    command: "kresd",
    address: "127.0.99.3",
    configure: ({ folder, address, port }, root) => ({
      files: {
        "kresd.conf": `net.ipv6 = false
net.listen("${address}", ${port}, { kind = "dns" })
trust_anchors.remove(".")
for _, name in ipairs({ "ta_update", "ta_signal_query", "priming", "detect_time_skew" }) do modules.unload(name) end
modules.load("hints")
hints.root({ ["root."] = "${root}" })
cache.size = 10 * MB
cache.min_ttl(0)
cache.max_ttl(1)
`,
      },
      args: ["-n", "-q", "-c", path.join(folder, "kresd.conf"), folder],
    }),
  },
];

/** A resolver that runs; inside a network namespace. */
export class RunningResolver implements AsyncDisposable {
  readonly #resolver: RootResolver;
  readonly #folder: string;
  readonly #process: LoggedProcess;

  private constructor(resolver: RootResolver, parts: { folder: string; process: LoggedProcess }) {
    this.#resolver = resolver;
    this.#folder = parts.folder;
    this.#process = parts.process;
  }

  /** Starts it, and resolves when it answers for a name that only it can find. */
  static async start(
    resolver: RootResolver,
    options: { readonly root: string; readonly known: string },
  ): Promise<RunningResolver> {
    const folder = await mkdtemp(path.join(tmpdir(), "meridian-resolver-"));
    const { command, address } = resolver;
    await output("ip", ["address", "add", `${address}/32`, "dev", "lo"]); // named listens on known addresses only
    const { files, args } = resolver.configure({ folder, address, port: 53 }, options.root);
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    const process = LoggedProcess.start(boundCommand([command, ...args]), path.join(folder, "log"));
    const running = new RunningResolver(resolver, { folder, process });
    try {
      await eventually(`${command} resolves`, async () => {
        const { status } = await running.ask(options.known, "A");
        if (status !== "NOERROR") throw new Error(status);
      });
    } catch (error) {
      throw new Error(`${command} said: ${await process.lastWords()}`, { cause: error });
    }
    return running;
  }

  /** Asks it as a stub does; a server that is dead or silent is for it to get around. */
  ask(name: string, type = "A"): Promise<DigAnswer> {
    return dig({
      ...{ server: this.#resolver.address, port: 53, name, type },
      options: ["+recurse", "+time=8"],
    });
  }

  lastWords(): Promise<string> {
    return this.#process.lastWords();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
