import type { KubeObject } from "../metadata.ts";
import type { ObjectReference } from "./core.ts";

/**
 * Something that happened to an object (events.k8s.io/v1). The server keeps one kind of Events: what is written so is read as
 * an Event of v1 as well, with `regarding` as `involvedObject`, `note` as `message` and `reportingController` as
 * `reportingComponent`. All but `series` is fixed once it is written.
 */
export interface SeriesEvent extends KubeObject {
  /** When it was seen first; a MicroTime. */
  readonly eventTime: string;
  /** Present where it happened more than once. */
  readonly series?: EventSeries;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController: string;
  readonly reportingInstance: string;
}

/** How often something happened, from 2 on, and when last (a MicroTime). */
export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}
