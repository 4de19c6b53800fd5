import type { Runtime } from "@meridian/runtime";
import type { RequestCounts } from "../admin/request-counts.ts";
import type { WriteLedger } from "../admin/write-ledger.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import type { ResourceRegistry } from "../resource/registry.ts";
import type { OpenStreams } from "./open-streams.ts";

/** What every verb and every background controller works with. */
export interface ApiContext {
  readonly runtime: Runtime;
  readonly objects: ObjectStore;
  readonly registry: ResourceRegistry;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** What ends when it does. */
  readonly streams: OpenStreams;
  /** Who asks for what. */
  readonly requests: RequestCounts;
  /** Who wrote what. */
  readonly ledger: WriteLedger;
}
