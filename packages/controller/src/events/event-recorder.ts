import type { KubeObject } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { KubeClient } from "../client/kube-client.ts";

/** What to tell the user about an object. */
export interface EventNote {
  readonly type: "Normal" | "Warning";
  /** CamelCase, one word per cause. */
  readonly reason: string;
  readonly message: string;
}

/** Options of a recorder. */
export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** Who reports, for example `k8gb`. */
  readonly component: string;
  /** Which instance of it, for example the Pod's name. */
  readonly instance?: string;
}

/** Writes core/v1 Events in the background. */
export class EventRecorder {
  constructor(_runtime: Pick<Runtime, "clock" | "random" | "log">, _options: EventRecorderOptions) {}
  /** Never waits and never throws; over its limits a note is dropped and counted. */
  record(_about: KubeObject, _note: EventNote): void {}
  /** Writes until the signal aborts. */
  async run(_signal: AbortSignal): Promise<void> {}
  get dropped(): number {
    return 0;
  }
}
