import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TsigKeyText } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import { ChildServer, freePort } from "./child-server.ts";

/** Both sides of every transfer in these tests have this key. */
export const transferKey: TsigKeyText = {
  name: "transfer-key",
  algorithm: "hmac-sha512",
  secret: "c2VjcmV0IG9mIHRoZSB0cmFuc2ZlciB0ZXN0cywgb2YgNjQgb2N0ZXRzLCBmb3Igc2hhNTEyIQ==",
};

/** How a peer takes part: as secondary of ours, or as primary that tells us of changes. */
export type PeerRole =
  | { readonly kind: "secondary"; readonly ours: number }
  | { readonly kind: "primary"; readonly ours: number; readonly text: string };

interface Placement {
  readonly folder: string;
  readonly port: number;
  readonly origin: string;
  readonly role: PeerRole;
}

interface PeerKind {
  readonly name: string;
  readonly debianPackage: string;
  readonly probe: readonly string[];
  readonly config: (placement: Placement) => string;
  readonly command: (configPath: string) => readonly string[];
  readonly says: RegExp;
}

/** A running name server of somebody else. */
export interface TransferPeer extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly zoneFile: string;
}

const { name: keyName, algorithm, secret } = transferKey;

const bind: PeerKind = {
  name: "BIND",
  debianPackage: "bind9",
  probe: ["named", "-v"],
  config: ({ folder, port, origin, role }) => `options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; notify ${role.kind === "primary" ? "explicit" : "no"}; notify-delay 0; empty-zones-enable no;
  min-refresh-time 1; min-retry-time 1; ixfr-from-differences no; transfers-in 10;
};
controls { };
key "${keyName}" { algorithm ${algorithm}; secret "${secret}"; };
zone "${origin}" { ${
    role.kind === "secondary"
      ? `type secondary; file "zone"; masterfile-format text; primaries { 127.0.0.1 port ${role.ours} key ${keyName}; };`
      : `type primary; file "zone"; also-notify { 127.0.0.1 port ${role.ours} key ${keyName}; };
    allow-update { key ${keyName}; };`
  }
  allow-transfer { 127.0.0.1; }; };
`,
  command: (configPath) => ["named", "-g", "-n", "1", "-c", configPath],
  says: / running\n/,
};

const nsd: PeerKind = {
  name: "NSD",
  debianPackage: "nsd",
  probe: ["nsd", "-v"],
  config: ({ folder, port, origin, role }) => `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: "${folder}/pid"
  xfrdfile: ""
  xfrdir: "${folder}"
  zonelistfile: "${folder}/zones.list"
  server-count: 1
  rrl-ratelimit: 0
  xfrd-reload-timeout: 0
remote-control:
  control-enable: no
key:
  name: ${keyName}
  algorithm: ${algorithm}
  secret: "${secret}"
zone:
  name: "${origin}"
  zonefile: "zone"
  provide-xfr: 127.0.0.1 NOKEY
  provide-xfr: 127.0.0.1 ${keyName}
${
  role.kind === "secondary"
    ? `  request-xfr: 127.0.0.1@${role.ours} ${keyName}\n  allow-notify: 127.0.0.1 NOKEY`
    : `  notify: 127.0.0.1@${role.ours} ${keyName}\n  store-ixfr: yes\n  create-ixfr: yes`
}
`,
  command: (configPath) => ["nsd", "-d", "-c", configPath],
  says: /nsd started/,
};

const knot: PeerKind = {
  name: "Knot",
  debianPackage: "knot",
  probe: ["knotd", "--version"],
  config: ({ folder, port, origin, role }) => `server:
  listen: 127.0.0.1@${port}
  rundir: "${folder}"
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
log:
  - target: stderr
    any: info
database:
  storage: "${folder}/state"
key:
  - id: ${keyName}
    algorithm: ${algorithm}
    secret: ${secret}
remote:
  - id: ours
    address: 127.0.0.1@${role.ours}
    key: ${keyName}
acl:
  - id: local
    address: 127.0.0.1
    action: [notify, transfer]
  - id: keyed
    key: ${keyName}
    action: [update, transfer]
zone:
  - domain: "${origin}"
    storage: "${folder}"
    file: zone
    acl: [local, keyed]
    refresh-min-interval: 2
    retry-min-interval: 2
    zonefile-sync: -1
    ${role.kind === "secondary" ? "master: ours" : "notify: ours"}
`,
  command: (configPath) => ["knotd", "-c", configPath],
  says: /server started/,
};

/** In the order of the tests. */
export const peerKinds: readonly PeerKind[] = [bind, nsd, knot];

/** Whether a peer is installed; as a sentence for `skip` where it is not, which fails where CI is. */
export function missingPeer(kind: PeerKind): string | false {
  const [program = "", ...args] = kind.probe;
  if (spawnSync(program, args).error === undefined) return false;
  return `not installed: ${kind.name} (Debian: apt-get install ${kind.debianPackage})`;
}

/** Starts a peer with one zone, in a folder of its own below `folder`. */
export async function startPeer(
  runtime: Runtime,
  kind: PeerKind,
  options: { readonly folder: string; readonly origin: string; readonly role: PeerRole },
): Promise<TransferPeer> {
  const { origin, role } = options;
  const folder = path.join(options.folder, `${kind.name.toLowerCase()}-${role.kind}`);
  await mkdir(path.join(folder, "state"), { recursive: true });
  const zoneFile = path.join(folder, "zone");
  if (role.kind === "primary") await writeFile(zoneFile, role.text);
  const port = await freePort(runtime);
  const configPath = path.join(folder, "config");
  await writeFile(configPath, kind.config({ folder, port, origin, role }));
  const child = await ChildServer.start(kind.command(configPath), kind.says);
  return { name: kind.name, port, zoneFile, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}
