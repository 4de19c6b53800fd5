import { ownerReferenceTo, parseApiVersion } from "@meridian/kube";
import type { KubeObject, OwnerReference, ResourceType } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";

/**
 * The object with `owner` as its controller, as controller-runtime's `SetControllerReference` makes it: it is collected with
 * its owner, and wakes it where it is watched by `watchOwned`. A reference to the owner that is there already, be it to one of
 * the same name that lived before, is replaced.
 *
 * @throws ControllerError `AlreadyOwned` where another object controls it; `InvalidOwner` where the owner is in another
 *   namespace, or does not come from the server and so has no uid
 */
export function setControllerReference<T extends KubeObject>(
  object: T,
  owner: Pick<KubeObject, "metadata">,
  ownerType: ResourceType,
): T {
  const { metadata } = object;
  const { name = "", uid = "", namespace = "" } = owner.metadata;
  if (name === "" || uid === "") {
    throw invalidOwner(object, `${ownerType.kind} ${name} has no uid yet; take it as the server has it`);
  }
  if (ownerType.namespaced && namespace !== (metadata.namespace ?? "")) {
    throw invalidOwner(
      object,
      `${ownerType.kind} ${name} is in namespace ${namespace}; an owner is in the same one, or of a type without any`,
    );
  }
  const reference = ownerReferenceTo(owner, ownerType);
  throwIfControlledByAnother(object, reference);
  return {
    ...object,
    metadata: { ...metadata, ownerReferences: withOwners(metadata.ownerReferences, [reference]) },
  };
}

/** @throws ControllerError `AlreadyOwned` where an object has a controller that is not this one */
export function throwIfControlledByAnother(object: KubeObject, controller: OwnerReference): void {
  const { ownerReferences = [] } = object.metadata;
  const other = ownerReferences.find(
    (owner) => owner.controller === true && !areOfOneObject(owner, controller),
  );
  if (other === undefined) return;
  throw new ControllerError(
    "AlreadyOwned",
    `${textOf(object)} is controlled by ${other.kind} ${other.name}, so ${controller.kind} ${controller.name} cannot ` +
      `control it; choose another name, or let go of it there`,
  );
}

/** Those references and these, each in the place of one to the same object: two writers would else reorder them for ever. */
export function withOwners(
  current: readonly OwnerReference[] | undefined = [],
  desired: readonly OwnerReference[],
): readonly OwnerReference[] {
  const kept = current.map((owner) => desired.find((wanted) => areOfOneObject(wanted, owner)) ?? owner);
  const added = desired.filter((wanted) => !current.some((owner) => areOfOneObject(wanted, owner)));
  return [...kept, ...added];
}

/** Versions and uids do not count: references outlive versions, and one to an owner that is gone is of no use any more. */
function areOfOneObject(a: OwnerReference, b: OwnerReference): boolean {
  const groupOf = ({ apiVersion }: OwnerReference): string => parseApiVersion(apiVersion).group;
  return a.kind === b.kind && a.name === b.name && groupOf(a) === groupOf(b);
}

function invalidOwner(object: KubeObject, problem: string): ControllerError {
  return new ControllerError("InvalidOwner", `${textOf(object)} cannot be controlled: ${problem}`);
}

function textOf({ kind, metadata: { namespace = "", name = "" } }: KubeObject): string {
  return `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}
