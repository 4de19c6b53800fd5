import type { ResourceType } from "@meridian/kube";
import type { KubeClient } from "../client/kube-client.ts";
import type { ObjectReading } from "../client/object-reading.ts";
import type { WireFormat } from "../client/wire-format.ts";
import type { Failure } from "./failure.ts";

/**
 * The copy that a reflector keeps. All calls are synchronous, and none may throw. Readings are valid until the call
 * returns.
 */
export interface ReflectorTarget {
  /** One more object of a state that is on its way, or one that is gone from it again. */
  collect(reading: ObjectReading): void;
  uncollect(key: string): void;
  /** That state will not be: whatever was collected is to be forgotten. */
  discard(): void;
  /** The collection is exactly what was collected. */
  replace(): void;
  apply(type: "ADDED" | "MODIFIED" | "DELETED", reading: ObjectReading): void;
  /** The version of an object in the copy. */
  versionOf(key: string): string | undefined;
  /** The version of the copy, or the connection to its server, may have changed. */
  progressed(): void;
}

/** The requests that a reflector sends. */
export type CollectionClient = Pick<KubeClient, "listRaw" | "watchRaw">;

/** What to follow. */
export interface ReflectorOptions {
  readonly client: CollectionClient;
  readonly type: ResourceType;
  readonly target: ReflectorTarget;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly pageSize: number;
  readonly watchList: boolean;
  readonly wireFormat?: WireFormat | undefined;
  readonly compressed?: boolean | undefined;
  /** Hears of each failure. What it throws is reported and changes nothing. */
  readonly onFailure?: ((error: unknown, about: FailureNotice) => FailureVerdict) | undefined;
}

/** What a failed list or watch leads to by itself. */
export interface FailureNotice {
  readonly kind: Failure["kind"];
  /** Whether everything is read again, or the watch goes on from the version of the copy. */
  readonly next: "list" | "watch";
  /** How many have followed each other without a pause of two minutes; 0 if this one counts as none. */
  readonly failures: number;
}

/** `stop` ends the run, which rejects with the error; everything else lets it go on. */
export type FailureVerdict = "stop" | void;

/** The failure that was seen last. */
export interface LastFailure extends FailureNotice {
  readonly message: string;
  /** On the monotonic clock. */
  readonly atMs: number;
}

/** What a reflector has seen. */
export interface ReflectorCounts {
  /** Times that the whole collection was taken, as a list or as a stream. */
  readonly replaces: number;
  /** Watches that the server has opened. */
  readonly watches: number;
  /** Times that the history was gone when it was needed. */
  readonly expired: number;
  readonly events: number;
  readonly bookmarks: number;
  /** Events of another kind than was asked for, or of a type that is newer than this code. */
  readonly skipped: number;
  /** Failures of any kind, each followed by another attempt. */
  readonly failures: number;
}
