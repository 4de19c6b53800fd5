import { writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "./command.ts";
import { namedConfig, unboundConfig } from "./resolver-config.ts";

/** Where a resolver finds a zone and those below, and what it trusts there. */
export interface TrustedZone {
  readonly zone: string;
  readonly server: string;
  /** The zone that is trusted by these DS records of its keys in presentation form; `zone`, or one below. */
  readonly anchor: { readonly zone: string; readonly ds: readonly string[] };
}

/** A validating resolver on port 53 of an address of loopback. */
export interface ValidatingResolver {
  readonly command: string;
  readonly address: string;
  /** Writes the configuration and returns the arguments that run it in the foreground. */
  configure(folder: string, trusted: TrustedZone): Promise<readonly string[]>;
}

/** Unbound and BIND, which validate by code of their own. */
export const validatingResolvers: readonly ValidatingResolver[] = [
  {
    command: "unbound",
    address: "127.0.98.1",
    async configure(folder, { zone, server, anchor }) {
      const file = path.join(folder, "unbound.conf");
      const settings = [
        "val-log-level: 2",
        'module-config: "validator iterator"',
        ...anchor.ds.map((ds) => `trust-anchor: "${anchor.zone}. DS ${ds}"`),
      ];
      await writeFile(
        file,
        unboundConfig({ folder, address: this.address, port: 53 }, { zone, server, settings }),
      );
      return ["-d", "-c", file];
    },
  },
  {
    command: "named",
    address: "127.0.98.2",
    async configure(folder, { zone, server, anchor }) {
      await output("ip", ["address", "add", `${this.address}/32`, "dev", "lo"]); // named listens on known addresses only
      const file = path.join(folder, "named.conf");
      const anchors = anchor.ds.map((ds) => {
        const [tag, algorithm, digestType, digest] = ds.split(" ");
        return `"${anchor.zone}" static-ds ${tag} ${algorithm} ${digestType} "${digest}";`;
      });
      const config = namedConfig(
        { folder, address: this.address, port: 53 },
        {
          settings: ["max-udp-size 4096; dnssec-validation yes;"],
          statements: [
            `trust-anchors { ${anchors.join(" ")} };`,
            `zone "${zone}" { type static-stub; server-addresses { ${server}; }; };`,
          ],
        },
      );
      await writeFile(file, config);
      return ["-g", "-n", "1", "-c", file];
    },
  },
];
