import { isConflict, isNotFound, parseTime } from "@meridian/kube";
import { collectionPrefix, refOf } from "../objects/object-store.ts";
import { lastSeenOf } from "../resource/builtin/events.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { plainDelete } from "../verbs/delete-options.ts";
import { deleteObject } from "../verbs/delete.ts";

/** How long an event is kept after it happened last. */
const eventTtlMs = 60 * 60 * 1_000;
const sweepEveryMs = 60_000;
const pageSize = 500;

/** Deletes events that are older than an hour, until the server closes. */
export async function runEventExpiry(context: ApiContext): Promise<void> {
  const { clock } = context.runtime;
  while (!context.closing.aborted) {
    await clock.sleep(sweepEveryMs, context.closing);
    try {
      await deleteOldEvents(context, clock.now() - eventTtlMs);
    } catch (error) {
      // A store that is busy or full for a moment must not end the sweeping for good.
      if (!context.closing.aborted)
        context.runtime.log.warn("old events could not be deleted; trying again at the next sweep", {
          error,
        });
    }
  }
}

async function deleteOldEvents(context: ApiContext, olderThan: number): Promise<void> {
  const events = context.registry.served({ group: "", version: "v1", plural: "events" });
  if (events === undefined) return;
  const prefix = collectionPrefix(events.definition);
  let after: string | undefined;
  do {
    const page = await context.objects.list(events, {
      prefix,
      limit: pageSize,
      ...(after !== undefined && { after }),
    });
    for (const { object } of page.objects) {
      const lastSeen = parseTime(lastSeenOf(object));
      if (lastSeen === undefined || lastSeen >= olderThan) continue;
      const { resourceVersion = "" } = object.metadata;
      const options = { ...plainDelete, preconditions: { resourceVersion } };
      await deleteObject(context, events, { ref: refOf(object), options }).catch((error: unknown) => {
        // It is gone already, or it has just happened again.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    }
    after = page.remaining > 0 ? page.records.at(-1)?.key : undefined;
  } while (after !== undefined);
}
