import type { Runtime } from "@meridian/runtime";
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
}
