import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ChildServer } from "../../test/conformance/child-server.ts";
import { output } from "./command.ts";

/** A name server that the parent delegates to. */
export interface Delegated {
  readonly name: string;
  readonly address: string;
}

/** A zone that the parent delegates, to servers whose names are in the parent. */
export interface Delegation {
  readonly zone: string;
  readonly servers: readonly Delegated[];
}

/** A parent zone signed and served by BIND, which changes its DS records as the children's CDS records say (RFC 7344). */
export class SignedParent implements AsyncDisposable {
  readonly zone: string;
  readonly address: string;
  /** The DS record of its own key, for resolvers to trust. */
  readonly ds: string;
  readonly #folder: string;
  readonly #delegations: readonly Delegation[];
  readonly #dsSets = new Map<string, readonly string[]>();
  #named: ChildServer | undefined;
  #serial = 1;

  private constructor(fields: {
    zone: string;
    address: string;
    folder: string;
    ds: string;
    delegations: readonly Delegation[];
  }) {
    this.zone = fields.zone;
    this.address = fields.address;
    this.#folder = fields.folder;
    this.ds = fields.ds;
    this.#delegations = fields.delegations;
  }

  static async start(options: {
    readonly zone: string;
    readonly address: string;
    readonly folder: string;
    readonly delegations: readonly Delegation[];
    /** The first DS records by zone, in presentation form; later ones come by CDS. */
    readonly ds: ReadonlyMap<string, readonly string[]>;
  }): Promise<SignedParent> {
    const { zone, address, folder } = options;
    const keygen = (flags: readonly string[]): Promise<string> =>
      output("dnssec-keygen", ["-q", "-K", folder, "-a", "ECDSAP256SHA256", ...flags, zone]);
    const key = (await keygen(["-f", "KSK"])).trim();
    await keygen([]);
    const line = await output("dnssec-dsfromkey", ["-2", path.join(folder, key)]);
    const ds = line.trim().split(/\s+/).slice(3).join(" ");
    const parent = new SignedParent({ ...options, ds });
    for (const [child, records] of options.ds) parent.#dsSets.set(child, records);
    await writeFile(
      path.join(folder, "parent.conf"),
      `options { directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port 53 { ${address}; }; listen-on-v6 { none; }; recursion no; empty-zones-enable no; notify no; };
controls { };
zone "${zone}" { type primary; file "${folder}/parent.zone.signed"; };
`,
    );
    await output("ip", ["address", "add", `${address}/32`, "dev", "lo"]); // named listens on known addresses only
    await parent.#sign();
    parent.#named = await ChildServer.start(
      ["named", "-g", "-n", "1", "-c", path.join(folder, "parent.conf")],
      / running\n/,
    );
    return parent;
  }

  /** The DS records of a zone as they are. */
  dsOf(zone: string): readonly string[] {
    return this.#dsSets.get(zone) ?? [];
  }

  /**
   * Takes a child's CDS from one of its servers: `dnssec-cds` checks it by the DS records that are there, as a registry
   * does. True when the DS set changed by it.
   */
  async takeCds(zone: string, server: string): Promise<boolean> {
    const records = await Promise.all(
      ["DNSKEY", "CDNSKEY", "CDS"].map((type) =>
        output("dig", ["+dnssec", "+noall", "+answer", "+tries=2", `@${server}`, zone, type]),
      ),
    );
    const childFile = path.join(this.#folder, "child");
    const dsFile = path.join(this.#folder, `dsset-${zone}.`);
    await writeFile(childFile, records.join(""));
    await writeFile(
      dsFile,
      this.dsOf(zone)
        .map((ds) => `${zone}. 1 IN DS ${ds}\n`)
        .join(""),
    );
    await output("dnssec-cds", ["-a", "SHA-256", "-s", "-86400", "-f", childFile, "-d", dsFile, "-i", zone]);
    const found = [...(await readFile(dsFile, "utf8")).matchAll(/\sDS\s+(.+)$/gm)].map((match) =>
      normal(match[1]!),
    );
    const before = this.dsOf(zone).map(normal);
    if (found.toSorted().join() === before.toSorted().join()) return false;
    this.#dsSets.set(zone, found);
    await this.#sign();
    this.#named!.signal("SIGHUP");
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#named?.[Symbol.asyncDispose]();
  }

  async #sign(): Promise<void> {
    const lines = [
      `$TTL 1`,
      `@ SOA ns host ${this.#serial++} 3600 600 86400 1`,
      `@ NS ns`,
      `ns A ${this.address}`,
    ];
    const glue = new Map<string, string>();
    for (const { zone, servers } of this.#delegations) {
      for (const { name, address } of servers) {
        lines.push(`${zone}. NS ${name}.`);
        glue.set(name, address);
      }
      for (const ds of this.dsOf(zone)) lines.push(`${zone}. DS ${ds}`);
    }
    for (const [name, address] of glue) lines.push(`${name}. A ${address}`);
    const file = path.join(this.#folder, "parent.zone");
    await writeFile(file, `${lines.join("\n")}\n`);
    await output("dnssec-signzone", [
      "-S",
      "-K",
      this.#folder,
      "-d",
      this.#folder,
      "-o",
      this.zone,
      "-f",
      `${file}.signed`,
      file,
    ]);
  }
}

function normal(ds: string): string {
  const [tag, algorithm, type, ...digest] = ds.trim().split(/\s+/);
  return `${tag} ${algorithm} ${type} ${digest.join("").toUpperCase()}`;
}
