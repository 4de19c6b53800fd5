import type { Storage } from "@meridian/apiserver";
import type { DnsClient } from "@meridian/dns";
import type { Cluster, ClusterPlace } from "@meridian/meridian";
import type { Runtime } from "@meridian/runtime";
import type { Tag } from "./fleet-map.ts";

/** A fault built into the clusters, to see that its checker finds it. None by default. */
export interface Plant {
  readonly runtime?: (runtime: Runtime, tag: Tag) => Runtime;
  readonly storage?: (storage: Storage, tag: Tag) => Storage;
  /** Called when an operator was ended alone. */
  readonly operatorDeath?: (cluster: Cluster) => void;
  readonly dnsClient?: (runtime: Runtime, place: ClusterPlace) => DnsClient;
}
