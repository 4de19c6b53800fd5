import type { ApiContext } from "../verbs/api-context.ts";
import { startDefinitions } from "../crd/definition-loop.ts";
import { createPermanentNamespaces } from "./permanent-namespaces.ts";
import { runEventExpiry } from "./event-expiry.ts";
import { runGarbageCollection } from "./garbage-collection.ts";
import { runNamespaceDeletion } from "./namespace-deletion.ts";

/** The controllers that the server runs by itself over its store. */
export type BackgroundController = "garbage-collection" | "namespaces" | "event-expiry";

const controllers: Readonly<Record<BackgroundController, (context: ApiContext) => Promise<void>>> = {
  "garbage-collection": runGarbageCollection,
  namespaces: runNamespaceDeletion,
  "event-expiry": runEventExpiry,
};

/** Starts what runs beside the requests: it ends with `context.closing`. */
export function startBackground(
  context: ApiContext,
  options: { readonly disabled: readonly BackgroundController[] },
): { readonly ready: Promise<void>; readonly stopped: Promise<void> } {
  const definitions = startDefinitions(context);
  const ready = definitions.ready.then(() => createPermanentNamespaces(context));
  const running = Object.entries(controllers)
    .filter(([name]) => !options.disabled.includes(name as BackgroundController))
    .map(([name, run]) =>
      ready
        .then(() => run(context))
        .catch((error: unknown) => {
          if (!context.closing.aborted)
            context.runtime.log.error("a background controller ended", { controller: name, error });
        }),
    );
  return { ready, stopped: Promise.allSettled([definitions.stopped, ...running]).then(() => {}) };
}
