import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  Authority,
  createRequestPipeline,
  parseTsigKey,
  parseZoneFile,
  serveDns,
  TsigKeyring,
  UpdateServer,
  type DnsServer,
  type TsigKey,
  type UpdateRule,
  type Zone,
} from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { ChildServer, freePort } from "./child-server.ts";
import { servedBy, type Datapath } from "./datapath.ts";

/** The key of these tests, in the texts that tools take. */
export const keyText = {
  name: "update-key.u.test",
  algorithm: "hmac-sha256",
  secret: "dXBkYXRlIGtleSBvZiB0aGUgdGVzdHMsIDMyIGxvbmc=",
};
export const key: TsigKey = parseTsigKey(keyText);

/** The zone that updates change: an apex, a host, an alias, a delegation with two clusters' servers. */
export const updateZoneText = `$ORIGIN u.test.
$TTL 60
@ SOA ns1 hostmaster 100 7200 1800 86400 30
@ NS ns1
ns1 A 127.0.0.1
www A 192.0.2.1
alias CNAME www
cloud NS gslb-ns-eu.cloud
cloud NS gslb-ns-us.cloud
gslb-ns-eu.cloud A 192.0.2.10
gslb-ns-us.cloud A 192.0.2.11
`;

/** Our server with that zone and a journal. */
export interface UpdatedServer extends AsyncDisposable {
  readonly at: Endpoint;
  readonly zone: Zone;
  readonly authority: Authority;
  readonly updates: UpdateServer;
}

/** Serves the zone as its file and its journal have it. */
export async function startUpdatedServer(
  runtime: Runtime,
  options: {
    readonly journal: string;
    readonly rules?: readonly UpdateRule[];
    readonly keys?: readonly TsigKey[];
    /** Default `dgram`. */
    readonly datapath?: Datapath;
  },
): Promise<UpdatedServer> {
  const { rules = [{ key: keyText.name, match: "subdomain", types: ["ANY"] }], keys = [key] } = options;
  const { zone } = parseZoneFile(updateZoneText);
  if (zone === undefined) throw new Error("the test's zone is broken");
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const updates = await UpdateServer.open(runtime, {
    authority,
    zones: [{ zone, journal: options.journal, rules }],
  });
  authority.requests = createRequestPipeline({
    clock: runtime.clock,
    log: runtime.log,
    keyring: new TsigKeyring(keys),
    authority,
    update: updates.handle,
  });
  const server: DnsServer = await serveDns(runtime, {
    authority,
    listen: [{ address: "127.0.0.1", port: 0 }],
    ...servedBy(options.datapath ?? "dgram", runtime, authority),
  });
  return {
    at: server.local[0]!,
    zone,
    authority,
    updates,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await updates[Symbol.asyncDispose]();
    },
  };
}

/** BIND with the same zone and key, over DoT as well. */
export async function startNamed(
  runtime: Runtime,
  options: {
    readonly folder: string;
    readonly tls?: { readonly certificatePem: string; readonly privateKeyPem: string };
  },
): Promise<{ readonly server: ChildServer; readonly at: Endpoint; readonly tlsAt: Endpoint }> {
  const { folder, tls } = options;
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "zone"), updateZoneText);
  const port = await freePort(runtime);
  const tlsPort = await freePort(runtime);
  if (tls !== undefined) {
    await writeFile(path.join(folder, "cert.pem"), tls.certificatePem);
    await writeFile(path.join(folder, "key.pem"), tls.privateKeyPem);
  }
  const overTls = `tls own { cert-file "cert.pem"; key-file "key.pem"; };`;
  const listenTls = `listen-on port ${tlsPort} tls own { 127.0.0.1; };`;
  await writeFile(
    path.join(folder, "named.conf"),
    `key "${keyText.name}" { algorithm ${keyText.algorithm}; secret "${keyText.secret}"; };
${tls === undefined ? "" : overTls}
options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; ${tls === undefined ? "" : listenTls} listen-on-v6 { none; };
  recursion no; notify no; empty-zones-enable no; allow-query { any; };
};
controls { };
zone "u.test" { type primary; file "zone"; allow-update { key "${keyText.name}"; }; };
`,
  );
  const command = ["named", "-g", "-n", "1", "-c", path.join(folder, "named.conf")];
  const server = await ChildServer.start(command, / running\n/);
  return { server, at: { address: "127.0.0.1", port }, tlsAt: { address: "127.0.0.1", port: tlsPort } };
}
