import type { CrashKind, SimNode, Simulation } from "@meridian/runtime/sim";
import type { Application } from "./application.ts";
import type { WantedApplication } from "./cluster-user.ts";
import type { ClusterKind, Tag } from "./fleet-map.ts";
import type { FleetSettings } from "./fleet-settings.ts";

/** How a DNS server is ill: it says nothing, or only SERVFAIL. */
export type DnsIllness = "silent" | "servfail";

export interface MemberOptions {
  readonly tag: Tag;
  readonly simulation: Simulation;
  readonly settings: FleetSettings;
}

/** The people of a cluster, who write what is wanted until it is there. */
export interface MemberUser {
  /** Whether everything wanted was written. */
  readonly idle: boolean;
  readonly applications: ReadonlyMap<string, WantedApplication>;
  want(wanted: WantedApplication): void;
  /** Somebody who should not lays hands on the DNSEndpoint of an application. One try, which may fail. */
  tamper(application: Application, how: "delete" | "edit"): Promise<void>;
}

/** One cluster of the simulated fleet over all its crashes, whatever it runs. */
export interface Member {
  readonly tag: Tag;
  readonly kind: ClusterKind;
  readonly node: SimNode;
  readonly user: MemberUser;
  dnsIllness: DnsIllness | undefined;
  /** The one of its DNS addresses that nothing comes back from. */
  deadAddress: string | undefined;
  readonly up: boolean;
  /** Since when its DNS server answers from the objects; `undefined` while it does not. */
  readonly answersSinceMs: number | undefined;
  /** Since when its operator follows the objects too. */
  readonly worksSinceMs: number | undefined;
  /** When the last life ended, or could write nothing any more. */
  readonly failedAtMs: number;
  /** When the wall clock last jumped. */
  readonly clockMovedAtMs: number;
  /** Whether this life can write nothing any more; a restart mends it. */
  readonly isDiskBroken: boolean;
  /** Starts the process, the first time or after a crash. Never rejects: what goes wrong is told. */
  start(): Promise<void>;
  crash(kind: CrashKind): void;
  moveClock(byMs: number): void;
}
