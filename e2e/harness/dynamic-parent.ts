import { writeFile } from "node:fs/promises";
import path from "node:path";
import { ChildServer } from "../../test/conformance/child-server.ts";
import { boundCommand } from "./bound-command.ts";
import { output, run, type CommandResult } from "./command.ts";
import { dig, type DigAnswer } from "./dig.ts";

/** A parent zone that BIND serves, and that changes by signed updates only. */
export interface DynamicParentOptions {
  readonly zone: string;
  /** Where it is served, on port 53. */
  readonly address: string;
  /** Where the root is served that delegates it. */
  readonly root: string;
  readonly folder: string;
  /** What each key may change: rules of BIND's `update-policy`, without `grant` and the key. */
  readonly grants: Readonly<Record<string, readonly string[]>>;
  /** Further lines of the zone's clause, such as who may transfer it. */
  readonly settings?: readonly string[];
}

/**
 * BIND with a parent zone, empty but for itself, that takes updates by RFC 2136. It also serves a root that delegates the
 * zone, so that resolvers need no more than a root hint.
 */
export class DynamicParent implements AsyncDisposable {
  readonly zone: string;
  readonly address: string;
  readonly root: string;
  readonly #folder: string;
  readonly #keys: ReadonlyMap<string, string>;
  #named: ChildServer | undefined;

  private constructor(options: DynamicParentOptions, keys: ReadonlyMap<string, string>) {
    const { zone, address, root, folder } = options;
    this.zone = zone;
    this.address = address;
    this.root = root;
    this.#folder = folder;
    this.#keys = keys;
  }

  static async start(options: DynamicParentOptions): Promise<DynamicParent> {
    const { zone, address, root, folder, grants, settings = [] } = options;
    const keys = new Map<string, string>();
    for (const key of Object.keys(grants)) {
      keys.set(key, await output("tsig-keygen", ["-a", "hmac-sha256", key]));
      await writeFile(path.join(folder, `${key}.key`), keys.get(key)!);
    }
    const rules = Object.entries(grants).flatMap(([key, each]) =>
      each.map((rule) => `grant ${key} ${rule};`),
    );
    await writeFile(
      path.join(folder, "parent.conf"),
      `options { directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port 53 { ${address}; ${root}; }; listen-on-v6 { none; }; recursion no; empty-zones-enable no; notify no; };
controls { };
${[...keys.values()].join("")}
view "root" { match-destinations { ${root}; }; zone "." { type primary; file "root.zone"; }; };
view "parent" { zone "${zone}" { type primary; file "parent.zone"; ${settings.join(" ")}
  update-policy { ${rules.join(" ")} }; }; };
`,
    );
    const soa = `SOA ns.${zone}. host.${zone}. 1 3600 600 86400 1`;
    await writeFile(
      path.join(folder, "root.zone"),
      `$TTL 5\n. ${soa}\n. NS root.\nroot. A ${root}\n${zone}. NS ns.${zone}.\nns.${zone}. A ${address}\n`,
    );
    await writeFile(
      path.join(folder, "parent.zone"),
      `$TTL 5\n@ ${soa}\n@ NS ns.${zone}.\nns A ${address}\n`,
    );
    // named listens on known addresses only
    for (const each of [address, root]) await output("ip", ["address", "add", `${each}/32`, "dev", "lo"]);
    const parent = new DynamicParent(options, keys);
    await parent.restart();
    return parent;
  }

  /** A key in the form that BIND and we read. */
  keyText(name: string): string {
    const text = this.#keys.get(name);
    if (text === undefined) throw new Error(`the parent has no key ${name}`);
    return text;
  }

  /** The path of a file with that key. */
  keyFile(name: string): string {
    return path.join(this.#folder, `${name}.key`);
  }

  /** Starts the server, again after it was ended: with the zone as it was. */
  async restart(): Promise<void> {
    this.#named = await ChildServer.start(
      boundCommand(["named", "-g", "-n", "1", "-c", path.join(this.#folder, "parent.conf")]),
      / running\n/,
    );
  }

  /** Ends the server as a crash does. */
  async kill(): Promise<void> {
    await this.#named?.kill();
    this.#named = undefined;
  }

  dig(name: string, type: string): Promise<DigAnswer> {
    return dig({ server: this.address, port: 53, name, type });
  }

  /** Whom it delegates a zone to: the names of the servers, without the dot, sorted. */
  async delegation(zone: string): Promise<readonly string[]> {
    const { authority } = await this.dig(zone, "NS");
    return authority
      .map((line) => line.split(/\s+/))
      .filter(([, , , type]) => type === "NS")
      .map((fields) => fields[4]!.replace(/\.$/, ""))
      .toSorted();
  }

  /** The serial of the zone: it moves with every change. */
  async serial(): Promise<number> {
    const { answer } = await this.dig(this.zone, "SOA");
    return Number(answer[0]?.split(/\s+/)[6]);
  }

  /** Sends lines of nsupdate, signed by a key. */
  update(key: string, lines: readonly string[]): Promise<CommandResult> {
    const script = [`server ${this.address}`, `zone ${this.zone}`, ...lines, "send", ""].join("\n");
    return run("nsupdate", ["-k", this.keyFile(key)], { stdin: script });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#named?.[Symbol.asyncDispose]();
  }
}
