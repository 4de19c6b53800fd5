import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  Authority,
  createRequestPipeline,
  DnsClient,
  parseTsigKey,
  serveDns,
  TransferPolicy,
  TransferServer,
  TsigKeyring,
  ZoneTransferClient,
  type DnsServer,
  type RecordSet,
  type TsigKey,
} from "@meridian/dns";
import { silentLogger, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { servedBy, type Datapath } from "./datapath.ts";
import { transferKey } from "./transfer-peers.ts";

/** Our server with transfers and everything beside it, on a free port of loopback. */
export interface TransferWorld extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly folder: string;
  readonly key: TsigKey;
  readonly authority: Authority;
  readonly server: TransferServer;
  readonly port: number;
  readonly client: DnsClient;
  readonly transfers: ZoneTransferClient;
  /** The content of a zone at a port, as sorted lines; `undefined` where it cannot be had (yet). */
  readonly content: (port: number, zone: string) => Promise<readonly string[] | undefined>;
}

/** Who may have our zones: whoever has the key, and loopback for the zones below `open.test`. */
const policy = [
  { zone: ".", allow: [{ key: transferKey.name }] },
  { zone: "open.test", allow: [{ clients: "127.0.0.0/8" }] },
];

export async function openTransferWorld(datapath: Datapath): Promise<TransferWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-transfers-"));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  const key = parseTsigKey(transferKey);
  const authority = new Authority(runtime);
  const server = new TransferServer({
    clock: runtime.clock,
    zones: authority,
    policy: new TransferPolicy(policy),
  });
  authority.requests = createRequestPipeline({
    clock: runtime.clock,
    log: runtime.log,
    keyring: new TsigKeyring([key]),
    authority,
    transfer: server.answer,
  });
  const dns: DnsServer = await serveDns(runtime, {
    authority,
    listen: [{ address: "127.0.0.1", port: 0 }],
    ...servedBy(datapath, runtime, authority),
  });
  const client = new DnsClient(runtime, { from: "127.0.0.1" });
  const transfers = new ZoneTransferClient(runtime, { from: "127.0.0.1", idleMs: 5_000 });
  return {
    runtime,
    folder,
    key,
    authority,
    server,
    port: dns.local[0]!.port,
    client,
    transfers,
    async content(port, zone) {
      const result = await transfers.fetchZone({ zone, primaries: [{ address: "127.0.0.1", port, key }] });
      if (result.kind !== "whole") return undefined;
      const { mname, rname, serial, refresh, retry, expire, minimum } = result.soa;
      const soa = `SOA ${mname} ${rname} ${serial} ${refresh} ${retry} ${expire} ${minimum}`;
      return [soa, ...result.sets.flatMap(toLines)].sort();
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await dns[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** Records as `owner ttl type data`, folded. */
export function toLines({ name, ttl, type, data }: RecordSet): string[] {
  return data.map((text) => `${name.toLowerCase()} ${ttl} ${type} ${text}`);
}

/** Waits until a condition holds; fails after 20 s with what it was last. */
export async function eventually<T>(
  runtime: Runtime,
  look: () => Promise<T> | T,
  holds: (value: T) => boolean,
): Promise<T> {
  const deadline = runtime.clock.monotonicMs() + 20_000;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (runtime.clock.monotonicMs() > deadline)
      assert.fail(`never came true; last: ${String(JSON.stringify(value)).slice(0, 2_000)}`);
    await runtime.clock.sleep(40);
  }
}
