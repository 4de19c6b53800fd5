/** Where a resolver listens and keeps its files. */
export interface ResolverPlace {
  readonly folder: string;
  readonly address: string;
  readonly port: number;
}

/** The configuration of an Unbound that asks one server for one zone. */
export function unboundConfig(
  { folder, address, port }: ResolverPlace,
  of: {
    readonly zone: string;
    /** `ADDRESS` or `ADDRESS@PORT`. */
    readonly server: string;
    /** Further lines of the clause `server`. */
    readonly settings: readonly string[];
  },
): string {
  return `server:
  interface: ${address}
  port: ${port}
  num-threads: 1
  do-daemonize: no
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  access-control: 127.0.0.0/8 allow
  local-zone: "test." nodefault
  do-ip6: no
${of.settings.map((line) => `  ${line}\n`).join("")}remote-control:
  control-enable: no
stub-zone:
  name: "${of.zone}"
  stub-addr: ${of.server}
`;
}

/** The configuration of a BIND that resolves, with further lines of its options and the statements behind them. */
export function namedConfig(
  { folder, address, port }: ResolverPlace,
  { settings, statements }: { readonly settings: readonly string[]; readonly statements: readonly string[] },
): string {
  return `options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { ${address}; };
  listen-on-v6 { none; };
  recursion yes; allow-query { any; };
  empty-zones-enable no;
${settings.map((line) => `  ${line}\n`).join("")}};
controls { };
${statements.join("\n")}
`;
}
