import { writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "./command.ts";

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
      await writeFile(
        file,
        `server:
  interface: ${this.address}
  port: 53
  num-threads: 1
  do-daemonize: no
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  val-log-level: 2
  do-not-query-localhost: no
  access-control: 127.0.0.0/8 allow
  module-config: "validator iterator"
  trust-anchor: "${zone}. DS ${ds}"
  local-zone: "test." nodefault
  do-ip6: no
remote-control:
  control-enable: no
stub-zone:
  name: "${zone}"
  stub-addr: ${server}
`,
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
      await writeFile(
        file,
        `options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port 53 { ${this.address}; };
  listen-on-v6 { none; };
  recursion yes; allow-query { any; }; max-udp-size 4096;
  dnssec-validation yes;
  empty-zones-enable no;
};
controls { };
trust-anchors { "${zone}" static-ds ${tag} ${algorithm} ${digestType} "${digest}"; };
zone "${zone}" { type static-stub; server-addresses { ${server}; }; };
`,
      );
      return ["-g", "-n", "1", "-c", file];
    },
  },
];
