import { writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "./command.ts";
import { namedConfig, unboundConfig } from "./resolver-config.ts";

/** A zone that a resolver is told where to find, and what it trusts there. */
export interface TrustedZone {
  readonly zone: string;
  readonly server: string;
  /** The DS record of its key in presentation form. */
  readonly ds: string;
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
    async configure(folder, { zone, server, ds }) {
      const file = path.join(folder, "unbound.conf");
      const settings = [
        "val-log-level: 2",
        'module-config: "validator iterator"',
        `trust-anchor: "${zone}. DS ${ds}"`,
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
    async configure(folder, { zone, server, ds }) {
      await output("ip", ["address", "add", `${this.address}/32`, "dev", "lo"]); // named listens on known addresses only
      const file = path.join(folder, "named.conf");
      const [tag, algorithm, digestType, digest] = ds.split(" ");
      const config = namedConfig(
        { folder, address: this.address, port: 53 },
        {
          settings: ["max-udp-size 4096; dnssec-validation yes;"],
          statements: [
            `trust-anchors { "${zone}" static-ds ${tag} ${algorithm} ${digestType} "${digest}"; };`,
            `zone "${zone}" { type static-stub; server-addresses { ${server}; }; };`,
          ],
        },
      );
      await writeFile(file, config);
      return ["-g", "-n", "1", "-c", file];
    },
  },
];
