import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Runtime } from "@meridian/runtime";
import { ChildServer, freePort } from "./child-server.ts";
import type { DifferentialZone } from "./differential-zones.ts";
import { DnsExchange } from "./dns-exchange.ts";

/** Where a server finds its zones, and where it listens. */
interface Placement {
  /** A folder of its own; the zone files lie in its parent, named for their origins. */
  readonly folder: string;
  readonly zones: readonly DifferentialZone[];
  readonly port: number;
}

/** An authoritative server that the field trusts, and how it is run over zone files. */
interface ReferenceKind {
  readonly name: string;
  readonly debianPackage: string;
  readonly probe: readonly string[];
  readonly configFile: string;
  readonly config: (placement: Placement) => string;
  readonly command: (configPath: string) => readonly string[];
  readonly says: RegExp;
}

/** A running reference server. */
export interface ReferenceServer extends AsyncDisposable {
  readonly name: string;
  readonly exchange: DnsExchange;
}

const bind: ReferenceKind = {
  name: "BIND",
  debianPackage: "bind9",
  probe: ["named", "-v"],
  configFile: "named.conf",
  config: ({ folder, zones, port }) => `options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; minimal-responses yes; minimal-any no; notify no; zero-no-soa-ttl no; empty-zones-enable no;
  check-integrity no; check-wildcard no; check-sibling no; check-mx ignore; check-mx-cname ignore; check-srv-cname ignore;
  answer-cookie no; tcp-initial-timeout 1200; tcp-idle-timeout 1200;
};
controls { };
${zones.map(({ origin }) => `zone "${origin}" { type primary; file "../${origin}"; check-names ignore; };`).join("\n")}
`,
  command: (configPath) => ["named", "-g", "-n", "1", "-c", configPath],
  says: / running\n/,
};

const nsd: ReferenceKind = {
  name: "NSD",
  debianPackage: "nsd",
  probe: ["nsd", "-v"],
  configFile: "nsd.conf",
  config: ({ folder, zones, port }) => `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  zonesdir: "${path.dirname(folder)}"
  database: ""
  pidfile: ""
  xfrdfile: ""
  xfrdir: "${folder}"
  zonelistfile: "${folder}/zones.list"
  server-count: 1
  minimal-responses: yes
  refuse-any: no
  rrl-ratelimit: 0
  tcp-timeout: 600
remote-control:
  control-enable: no
${zones.map(({ origin }) => `zone:\n  name: "${origin}"\n  zonefile: "${origin}"`).join("\n")}
`,
  command: (configPath) => ["nsd", "-d", "-c", configPath],
  says: /nsd started/,
};

const knot: ReferenceKind = {
  name: "Knot",
  debianPackage: "knot",
  probe: ["knotd", "--version"],
  configFile: "knot.conf",
  config: ({ folder, zones, port }) => `server:
  listen: 127.0.0.1@${port}
  rundir: "${folder}"
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
  tcp-idle-timeout: 600
log:
  - target: stderr
    any: info
database:
  storage: "${folder}/state"
template:
  - id: default
    storage: "${path.dirname(folder)}"
    semantic-checks: off
    zonefile-sync: -1
    journal-content: none
zone:
${zones.map(({ origin }) => `  - domain: "${origin}"\n    file: "${origin}"`).join("\n")}
`,
  command: (configPath) => ["knotd", "-c", configPath],
  says: /server started/,
};

const kinds: readonly ReferenceKind[] = [bind, nsd, knot];

/** What is not installed of the reference servers, as a sentence; undefined when all are there. */
export function missingReferenceServers(): string | undefined {
  const missing = kinds.filter(({ probe: [program = "", ...args] }) => {
    return spawnSync(program, args).error !== undefined;
  });
  if (missing.length === 0) return undefined;
  const packages = missing.map((kind) => kind.debianPackage).join(" ");
  return `not installed: ${missing.map((kind) => kind.name).join(", ")} (Debian: apt-get install ${packages})`;
}

/** Writes the zone files into `folder` and starts BIND, NSD and Knot over them, in that order. */
export async function startReferenceServers(
  runtime: Runtime,
  { folder, zones }: { readonly folder: string; readonly zones: readonly DifferentialZone[] },
): Promise<readonly ReferenceServer[]> {
  for (const zone of zones) await writeFile(path.join(folder, zone.origin), zone.text);
  const servers: ReferenceServer[] = [];
  for (const kind of kinds) {
    const own = path.join(folder, kind.name.toLowerCase());
    await mkdir(path.join(own, "state"), { recursive: true });
    const port = await freePort(runtime);
    const configPath = path.join(own, kind.configFile);
    await writeFile(configPath, kind.config({ folder: own, zones, port }));
    const child = await ChildServer.start(kind.command(configPath), kind.says);
    const exchange = new DnsExchange(runtime, { address: "127.0.0.1", port });
    servers.push({
      name: kind.name,
      exchange,
      async [Symbol.asyncDispose]() {
        await exchange[Symbol.asyncDispose]();
        await child[Symbol.asyncDispose]();
      },
    });
  }
  return servers;
}
