import type { Endpoint } from "@meridian/runtime";
import type { MeridianErrorCode } from "../meridian-error.ts";

/** How a cluster keeps its objects. `ephemeral` is `memory` that writes nothing down. */
export type StorageKind = "lmdb" | "memory" | "ephemeral";

/** How datagrams are answered: by threads with `recvmmsg`, by the main thread with plain `dgram`, or by threads where they work. */
export type Datapath = "auto" | "mmsg" | "dgram";

/** What a child process shall be; sent over the process channel, so that nothing of it stands in the list of processes. */
export type ChildRole = (ClusterRole | ParentRole) & { readonly logLevel: "info" | "debug" };

/** A child that is a cluster. */
export interface ClusterRole {
  readonly kind: "cluster";
  readonly name: string;
  readonly geoTag: string;
  readonly peerGeoTags: readonly string[];
  /** The cluster's own folder: identity, token and data are read from there. */
  readonly folder: string;
  readonly storage: StorageKind;
  readonly apiServer: Endpoint;
  readonly operator: Endpoint;
  readonly dns: Endpoint;
  /** Where metrics and health are told in the clear. Absent: nowhere. */
  readonly metrics?: Endpoint;
  readonly parentDns: Endpoint;
  readonly datapath: Datapath;
  /** The operator's settings that the person chose. */
  readonly operatorSettings: Readonly<Record<string, string>>;
  /** Where glue cannot tell the port: every peer's DNS server by geo tag. */
  readonly peers?: readonly { readonly geoTag: string; readonly dns: Endpoint }[];
}

/** A child that is the parent's DNS server. */
export interface ParentRole {
  readonly kind: "parent";
  readonly zoneText: string;
  readonly dns: Endpoint;
}

/** What a child tells the process that started it, once. */
export type ChildReport =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly code: MeridianErrorCode; readonly message: string };
