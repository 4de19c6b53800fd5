import { Controller, watchMapped } from "@meridian/controller";
import type { KubeClient } from "@meridian/controller";
import { isStatusError, podType } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import type { Clock, Runtime } from "@meridian/runtime";
import type { LabCopy } from "./lab-copy.ts";
import { labNamespace, lowestFreeName, newPod, podPrefix } from "./lab-pods.ts";
import { controllerUser } from "./lab-users.ts";

/** It counts again this often, whether or not an event has woken it. */
const recountMs = 3_000;

/** So long it waits for its own write to come back; then it trusts its copy again, as it is. */
const ownWriteMs = 1_000;
const ownWriteStepMs = 20;

/** A copy on a cut wire may take any time to be complete. */
const patienceMs = 24 * 60 * 60_000;

/** What the small controller did, or tried to. */
export interface ControllerAct {
  readonly action: "create" | "delete";
  readonly name: string;
  readonly seen: number;
  readonly resourceVersion: string;
  /** Absent when the server did it. */
  readonly refusal?: { readonly status: number; readonly reason: string };
}

/** What it trusts and wants, and who hears of what it does. */
export interface SmallControllerOptions {
  readonly copy: LabCopy;
  readonly client: KubeClient;
  readonly desired: number;
  readonly onCount: (count: { readonly seen: number; readonly resourceVersion: string }) => void;
  readonly onAct: (act: ControllerAct) => void;
}

/**
 * Keeps Pods `web-1`, `web-2` and so on at a number. It knows what its copy says and nothing else: each time it counts what is
 * there now, and no event tells it what to do. So it does the wrong thing while its copy is stale, and the right
 * thing as soon as it is not, whatever was lost, doubled or late in between.
 */
export class SmallController implements AsyncDisposable {
  readonly copy: LabCopy;
  readonly desired: number;
  readonly #clock: Clock;
  readonly #options: SmallControllerOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(runtime: Runtime, options: SmallControllerOptions) {
    this.copy = options.copy;
    this.desired = options.desired;
    this.#clock = runtime.clock;
    this.#options = options;
    const controller = new Controller(
      { ...runtime, log: silentLogger },
      {
        name: controllerUser,
        sources: [watchMapped(this.copy.informer, { keysOf: () => [podPrefix] })],
        syncMs: patienceMs,
        reconcile: (_key, signal) => this.#reconcile(signal),
      },
    );
    // Where there is no Pod at all, none wakes it.
    controller.enqueue(podPrefix);
    this.#running = controller.run(this.#stopping.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the small controller is stopped"));
    await this.#running;
  }

  /** One count, and at most one write: after it there is something else to count. */
  async #reconcile(signal: AbortSignal): Promise<{ readonly requeueAfterMs: number }> {
    const { copy, desired, onCount } = this.#options;
    const pods = copy.read().filter((pod) => pod.metadata.labels?.["app"] === podPrefix);
    const count = { seen: pods.length, resourceVersion: copy.informer.version };
    onCount(count);
    const names = pods.map(({ metadata }) => metadata.name ?? "").toSorted(byNumber);
    const last = names.at(-1);
    if (pods.length < desired) {
      const name = lowestFreeName(new Set(copy.read().map(({ metadata }) => metadata.name ?? "")));
      await this.#act({ ...count, action: "create", name }, signal);
    } else if (pods.length > desired && last !== undefined) {
      await this.#act({ ...count, action: "delete", name: last }, signal);
    }
    return { requeueAfterMs: recountMs };
  }

  async #act(act: ControllerAct, signal: AbortSignal): Promise<void> {
    const { client, onAct } = this.#options;
    const { lister } = this.copy.informer;
    const key = `${labNamespace}/${act.name}`;
    const before = lister.get(key)?.metadata.uid;
    try {
      if (act.action === "create") {
        await client.create(podType, newPod(act.name), { fieldManager: controllerUser, signal });
      } else {
        // It deletes what it saw: an object that has changed since is another one.
        const { uid, resourceVersion } = lister.get(key)?.metadata ?? {};
        await client.delete(
          podType,
          { name: act.name, namespace: labNamespace },
          {
            gracePeriodSeconds: 0,
            preconditions: {
              ...(uid !== undefined && { uid }),
              ...(resourceVersion !== undefined && { resourceVersion }),
            },
            signal,
          },
        );
      }
      onAct(act);
      const endsAtMs = this.#clock.monotonicMs() + ownWriteMs;
      while (lister.get(key)?.metadata.uid === before && this.#clock.monotonicMs() < endsAtMs) {
        await this.#clock.sleep(ownWriteStepMs, signal);
      }
    } catch (error) {
      if (!isStatusError(error)) throw error;
      onAct({ ...act, refusal: { status: error.code, reason: error.reason ?? "" } });
    }
  }
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
