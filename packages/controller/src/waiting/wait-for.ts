import { objectKey } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { absentIfNotFound } from "../client/absent-if-not-found.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { describeTarget } from "../client/resource-path.ts";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { Informer } from "../informer/informer.ts";
import type { InformerRuntime } from "../informer/informer.ts";

/** Which object to wait for, and until when. */
export interface WaitForOptions<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly namespace?: string;
  readonly name: string;
  /** Given the present state, or `undefined` while there is no such object. What it throws ends the waiting. */
  readonly until: (object: T | undefined) => boolean;
  readonly signal?: AbortSignal;
  /** Default 60,000. */
  readonly deadlineMs?: number;
}

/**
 * Resolves with the first state of an object that fulfils a condition: at once where it does already, else as soon as it
 * changes so. Watches that break are resumed; none is left when it has resolved or rejected. States in between may be
 * left out, so ask for what lasts.
 *
 *     await waitFor(runtime, client, { type: jobType, namespace, name, until: (job) => job?.status?.succeeded === 1 });
 *     await waitFor(runtime, client, { type: podType, namespace, name, until: (pod) => pod === undefined }); // gone
 *
 * @throws ControllerError `DeadlineExceeded`; ApiError where the object may not be read; what `until` throws; the
 * signal's reason
 */
export async function waitFor<T extends KubeObject = KubeObject>(
  runtime: InformerRuntime,
  client: Pick<KubeClient, "get"> & ConstructorParameters<typeof Informer<T>>[1]["client"],
  options: WaitForOptions<T>,
): Promise<T | undefined> {
  const { type, namespace, name, until, deadlineMs = 60_000 } = options;
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
  using bounds = deadlineSignal(runtime.clock, {
    signal: options.signal,
    ms: deadlineMs,
    reason: () => {
      const target = describeTarget(type, ref);
      return new ControllerError(
        "DeadlineExceeded",
        `${target} did not come to be as wanted within ${deadlineMs} ms`,
      );
    },
  });
  const { signal } = bounds;

  // A refusal shows here, as one: an informer would try again for ever. Most conditions are fulfilled at once.
  const first = await absentIfNotFound(client.get<T>(type, ref, { signal }));
  if (until(first)) return first;

  const informer = new Informer<T>(runtime, {
    client,
    type,
    ...(namespace === undefined ? {} : { namespace }),
    fieldSelector: `metadata.name=${name}`,
  });
  let outcome: { readonly object: T | undefined } | { readonly error: unknown } | undefined;
  const over = new Error("the waiting is over");
  const look = (object: T | undefined): void => {
    if (outcome !== undefined) return;
    try {
      if (!until(object)) return;
      outcome = { object };
    } catch (error) {
      outcome = { error };
    }
    bounds.abort(over);
  };
  const lookAgain = (): void => look(informer.lister.get(objectKey(ref)));
  const handler = informer.addHandler({ onKey: lookAgain });
  const following = informer.run(signal);
  // Gone between the reading and the first list: no handler is told of what was never there.
  void informer.synced.then(lookAgain);
  await following;
  handler.remove();

  if (outcome === undefined) throw signal.reason;
  if ("error" in outcome) throw outcome.error;
  return outcome.object;
}
