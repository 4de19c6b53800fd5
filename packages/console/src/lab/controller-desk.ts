import type { KubeClient } from "@meridian/controller";
import type { Runtime } from "@meridian/runtime";
import type { SmallControllerState } from "../lab-state.ts";
import type { LabCopy } from "./lab-copy.ts";
import type { LabView } from "./lab-view.ts";
import { SmallController } from "./small-controller.ts";
import type { ControllerAct } from "./small-controller.ts";

/** How many Pods the small controller wants unless it is told. */
export const desiredDefault = 3;

/** Starts and stops the small controller, and keeps the books of it. */
export class ControllerDesk {
  readonly #runtime: Runtime;
  readonly #client: KubeClient;
  readonly #view: LabView;
  #controller: SmallController | undefined;
  #state: SmallControllerState = idle;
  /** It tries again and again; once is enough to be told. */
  #toldRefusal = "";

  constructor(runtime: Runtime, parts: { readonly client: KubeClient; readonly view: LabView }) {
    this.#runtime = runtime;
    this.#client = parts.client;
    this.#view = parts.view;
  }

  get state(): SmallControllerState {
    return this.#state;
  }

  /** Starts it, or lets it trust another copy or want another number. */
  async start(copy: LabCopy, desired: number): Promise<void> {
    await this.#end();
    this.#view.tell({ code: "controllerStarted", copy: copy.name, desired });
    this.#toldRefusal = "";
    this.#state = { ...this.#state, running: true, copy: copy.name, desired, last: null };
    this.#controller = new SmallController(this.#runtime, {
      copy,
      client: this.#client,
      desired,
      onCount: (count) => this.#counted(count),
      onAct: (act) => this.#acted(copy, act),
    });
  }

  /** Stops it; with a copy, only if it trusts this one. */
  async stop(copy?: LabCopy): Promise<void> {
    if (this.#controller === undefined || (copy !== undefined && this.#controller.copy !== copy)) return;
    await this.#end();
    this.#state = { ...this.#state, running: false };
    this.#view.tell({ code: "controllerStopped" });
  }

  /** As if it had never run. */
  async reset(): Promise<void> {
    await this.#end();
    this.#state = idle;
  }

  async #end(): Promise<void> {
    await this.#controller?.[Symbol.asyncDispose]();
    this.#controller = undefined;
  }

  #counted({ resourceVersion, seen }: { readonly seen: number; readonly resourceVersion: string }): void {
    const version = this.#view.line.versionOf(resourceVersion);
    const last = { seen, version, behind: this.#view.behind(resourceVersion) };
    this.#state = { ...this.#state, counts: this.#state.counts + 1, last };
    this.#view.lookSoon();
  }

  #acted(copy: LabCopy, act: ControllerAct): void {
    const { action, name, refusal, resourceVersion, seen } = act;
    const { desired, refusals, writes } = this.#state;
    const about = { action, name, copy: copy.name, behind: this.#view.behind(resourceVersion) };
    if (refusal === undefined) {
      this.#toldRefusal = "";
      this.#state = { ...this.#state, writes: writes + 1 };
      this.#view.tellInOrder({ code: "controllerActed", ...about, seen, desired });
      return;
    }
    this.#state = { ...this.#state, refusals: refusals + 1 };
    const told = [action, name, refusal.reason, resourceVersion].join(" ");
    if (told !== this.#toldRefusal)
      this.#view.tellInOrder({ code: "controllerRefused", ...about, ...refusal });
    this.#toldRefusal = told;
    this.#view.lookSoon();
  }
}

const idle: SmallControllerState = {
  running: false,
  copy: null,
  desired: desiredDefault,
  counts: 0,
  writes: 0,
  refusals: 0,
  last: null,
};
