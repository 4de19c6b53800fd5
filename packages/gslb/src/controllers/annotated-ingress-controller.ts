import {
  Controller,
  watchMapped,
  type ControllerMeter,
  type EventRecorder,
  type KubeClient,
} from "@meridian/controller";
import { controllerOf, isNotFound, objectKey, parseObjectKey, type Ingress } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { annotatedIngress, saysMoreThanAsked, saysWhatIsAsked } from "../references/annotated-ingress.ts";
import {
  exposedAddressesAnnotation,
  ingressAnnotations,
  strategyAnnotation,
} from "../resources/gslb-annotations.ts";
import type { Gslb } from "../resources/gslb.ts";
import { gslbType } from "../resources/resource-types.ts";
import type { ClusterCopies } from "./cluster-copies.ts";
import { isRefusal, refusedMs } from "./refusal.ts";

/** What Gslbs are made of and with. */
export interface AnnotatedIngressOptions {
  readonly client: Pick<KubeClient, "get" | "apply" | "delete">;
  readonly copies: Pick<ClusterCopies, "ingresses" | "canonicalGslbs">;
  readonly events: Pick<EventRecorder, "record">;
  readonly meter?: ControllerMeter;
}

type Again = { readonly requeueAfterMs: number } | undefined;

/** Whose the fields of a Gslb are that annotations stand for. */
const fieldManager = "meridian-annotated-ingress";

/**
 * Makes a Gslb of each Ingress with the annotation `k8gb.io/strategy`, as k8gb does, and takes it away with the annotation.
 * Only the fields that the annotations stand for are written, by server-side apply: what users add to the Gslb stays. A Gslb
 * of the name that is not of the Ingress is left alone.
 */
export class AnnotatedIngressController {
  readonly controller: Controller;
  readonly #options: AnnotatedIngressOptions;
  readonly #log: Runtime["log"];

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: AnnotatedIngressOptions) {
    const { copies, meter } = options;
    this.#options = options;
    this.#log = runtime.log;
    const isAnnotated = (ingress: Ingress | undefined): boolean =>
      ingress?.metadata.annotations?.[strategyAnnotation] !== undefined;
    this.controller = new Controller(runtime, {
      name: "annotated-ingress",
      retryMsMax: 30_000,
      ...(meter === undefined ? {} : { meter }),
      sources: [
        watchMapped(copies.ingresses, {
          keysOf: (ingress) => (isAnnotated(ingress) ? [objectKey(ingress.metadata)] : []),
          predicate: { onUpdate: (old, ingress) => !sameWish(old, ingress) },
        }),
        watchMapped(copies.canonicalGslbs, {
          keysOf: (gslb) => {
            const key = objectKey(gslb.metadata);
            const isMade = controllerOf(gslb)?.kind === "Ingress";
            return isMade || isAnnotated(copies.ingresses.lister.get(key)) ? [key] : [];
          },
          predicate: { onUpdate: (old, gslb) => old.metadata.generation !== gslb.metadata.generation },
        }),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Again> {
    const { copies, events } = this.#options;
    const ingress = copies.ingresses.lister.get(key);
    const gslb = copies.canonicalGslbs.lister.get(key);
    // What the collector takes from an Ingress that is gone or going must not be made anew.
    if (ingress === undefined || ingress.metadata.deletionTimestamp !== undefined) return undefined;
    const wish = annotatedIngress(ingress);
    switch (wish.asks) {
      case "nothing":
        await this.#withdraw(ingress, gslb, signal);
        return undefined;
      case "refused":
        events.record(ingress, { type: "Warning", reason: "AnnotationRefused", message: wish.problem });
        return undefined;
      case "gslb":
        return this.#make(ingress, { asked: wish.gslb, gslb, signal });
    }
  }

  async #make(
    ingress: Ingress,
    {
      asked,
      gslb,
      signal,
    }: { readonly asked: Gslb; readonly gslb: Gslb | undefined; readonly signal: AbortSignal },
  ): Promise<Again> {
    const { client, events } = this.#options;
    const key = objectKey(ingress.metadata);
    // A copy that lags must not make somebody's own Gslb ours.
    const current = gslb ?? (await this.#stored(ingress, signal));
    if (current !== undefined && controllerOf(current)?.uid !== ingress.metadata.uid) {
      // That of an Ingress of before is being collected.
      if (controllerOf(current)?.kind === "Ingress") return undefined;
      const message = `Gslb ${key} exists and is not this Ingress'; delete it, or take the annotation ${strategyAnnotation} away`;
      events.record(ingress, { type: "Warning", reason: "GslbNotOwned", message });
      return undefined;
    }
    const isWanting = current === undefined || !saysWhatIsAsked(current, asked);
    if (!isWanting && !(saysMoreThanAsked(current, asked) && (await this.#isOurs(ingress, signal))))
      return undefined;
    try {
      await client.apply(gslbType, asked, { fieldManager, force: true, signal });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const message = `the API server refuses the Gslb of annotation ${strategyAnnotation}: ${error.status.message ?? error.message}`;
      events.record(ingress, { type: "Warning", reason: "AnnotationRefused", message });
      return { requeueAfterMs: refusedMs };
    }
    if (current === undefined)
      this.#log.info("made a Gslb from the annotations of an Ingress; a Gslb of its own says more", {
        ingress: key,
      });
    return undefined;
  }

  /** Takes away what was made from annotations that are no more. What k8gb made, or a user, stays. */
  async #withdraw(ingress: Ingress, gslb: Gslb | undefined, signal: AbortSignal): Promise<void> {
    if (gslb === undefined || controllerOf(gslb)?.uid !== ingress.metadata.uid) return;
    const stored = await this.#stored(ingress, signal);
    if (stored === undefined || stored.metadata.uid !== gslb.metadata.uid) return;
    if (appliedFields(stored) === undefined) return;
    const { uid = "", resourceVersion = "" } = stored.metadata;
    const ref = parseObjectKey(objectKey(stored.metadata));
    await this.#options.client.delete(gslbType, ref, { preconditions: { uid, resourceVersion }, signal });
  }

  /** Whether the fields that are not asked for any more are from here. */
  async #isOurs(ingress: Ingress, signal: AbortSignal): Promise<boolean> {
    const applied = appliedFields(await this.#stored(ingress, signal)) ?? "";
    return applied.includes('"f:primaryGeoTag"') || applied.includes(`"f:${exposedAddressesAnnotation}"`);
  }

  async #stored(ingress: Ingress, signal: AbortSignal): Promise<Gslb | undefined> {
    try {
      return await this.#options.client.get<Gslb>(gslbType, parseObjectKey(objectKey(ingress.metadata)), {
        signal,
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** The fields that were applied from here, as the API server notes them, or `undefined` where none was ever. */
function appliedFields(gslb: Gslb | undefined): string | undefined {
  const entries = (gslb?.metadata.managedFields ?? []) as readonly {
    readonly manager?: string;
    readonly fieldsV1?: unknown;
  }[];
  const ours = entries.find(({ manager }) => manager === fieldManager);
  return ours && JSON.stringify(ours.fieldsV1 ?? {});
}

function sameWish(old: Ingress, ingress: Ingress): boolean {
  return (
    old.metadata.uid === ingress.metadata.uid &&
    ingressAnnotations.every(
      (name) => old.metadata.annotations?.[name] === ingress.metadata.annotations?.[name],
    )
  );
}
