import { createOrUpdate, type KubeClient, type Lister } from "@meridian/controller";
import { controllerOf, ingressType, type Ingress } from "@meridian/kube";
import type { Logger } from "@meridian/runtime";
import type { ReferenceOutcome } from "../decide/gslb-snapshot.ts";
import { embeddedIngress, withEmbeddedSpec } from "../references/embedded-ingress.ts";
import type { ResolvedReference } from "../references/resolve-reference.ts";
import type { Gslb } from "../resources/gslb.ts";
import { managedByLabel } from "../resources/gslb-annotations.ts";
import { isEnding } from "../resources/legacy-gslb.ts";
import { isPredecessor } from "../resources/owner.ts";
import { isRefusal } from "./refusal.ts";

/** The copy of the Ingresses. */
interface IngressCopy {
  readonly ingresses: { readonly lister: Pick<Lister<Ingress>, "get"> };
}

type IngressClient = Pick<KubeClient, "get" | "create" | "update">;

/**
 * Makes the Ingress of an embedded spec what the spec says; nothing is written where it is already.
 *
 * @returns a failed outcome where an Ingress of that name is somebody else's, which is left alone, or the API server
 *   refuses it
 */
export async function writeEmbeddedIngress(
  gslb: Gslb,
  resolved: ResolvedReference,
  options: {
    readonly client: IngressClient;
    readonly copies: IngressCopy;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
): Promise<ReferenceOutcome | undefined> {
  // What the collector takes from a Gslb that is being deleted must not be made anew.
  if (resolved.target.by !== "embedded" || gslb.metadata.deletionTimestamp !== undefined) return undefined;
  const stored = options.copies.ingresses.lister.get(resolved.target.key);
  if (stored === undefined && isEnding(gslb)) return undefined;
  if (stored !== undefined && !isOurs(stored, gslb)) {
    const message = `Ingress ${resolved.target.key} exists and is not this Gslb's; refer to it by spec.resourceRef, or delete or rename one of the two`;
    return { kind: "failed", reason: "NotOwned", message, gone: false };
  }
  const desired = embeddedIngress(gslb);
  try {
    if (stored === undefined) options.log.info("Creating a new Ingress", { ingress: resolved.target.key });
    await createOrUpdate<Ingress>(options.client, ingressType, {
      desired,
      mutate: (current) => withEmbeddedSpec(current, desired),
      current: stored,
      signal: options.signal,
    });
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = `the API server refuses the Ingress of spec.ingress: ${error.status.message ?? error.message}`;
    return { kind: "failed", reason: "InvalidReference", message, gone: false };
  }
}

/** Ours: controlled by this Gslb or the legacy one that it follows, or by nobody but marked as made by a Gslb. */
function isOurs(ingress: Ingress, gslb: Gslb): boolean {
  const controller = controllerOf(ingress);
  if (controller !== undefined)
    return controller.uid === gslb.metadata.uid || isPredecessor(controller, gslb);
  return ingress.metadata.labels?.[managedByLabel] === "gslb";
}
