import assert from "node:assert/strict";
import type { TcpProxy } from "../tcp-proxy.ts";
import type { CaseWorld } from "./case-world.ts";
import type { FollowedCopy } from "./followed-copy.ts";

/** A copy whose connections go through a proxy of its own. */
export interface ProxiedCopy {
  readonly proxy: TcpProxy;
  readonly copy: FollowedCopy;
}

/** Starts a copy of this case's ConfigMaps through a proxy; it is complete and watches when this resolves. */
export async function followThroughProxy(world: CaseWorld): Promise<ProxiedCopy> {
  const proxy = await world.server.proxy();
  const copy = world.follow({ client: await world.newClient({ url: proxy.url }) });
  await copy.informer.synced;
  await world.eventually("the watch is open", () => assert.ok(copy.informer.connected));
  return { proxy, copy };
}
