import type { Authorizer, TokenIdentity } from "@meridian/apiserver";
import { labUsers, type LabUser } from "@meridian/console";

const reading = new Set(["get", "list", "watch"]);

/** What each user of the lab may do, and nobody else anything. */
export const labRights: Authorizer = {
  authorize(user, attributes) {
    const may = labUsers.find(({ name }) => name === user.username)?.may;
    if (may === undefined) return { allowed: false };
    if (attributes.kind === "path")
      return { allowed: may === "look" && attributes.path.startsWith("/meridian/") };
    const isPod =
      attributes.group === "" && attributes.resource === "pods" && attributes.subresource === undefined;
    return { allowed: isPod && (may === "write pods" || reading.has(attributes.verb)) };
  },
};

/** Identities of the lab's users, with new tokens. */
export function labIdentities(
  random: { readonly bytes: (length: number) => Uint8Array },
  users: readonly LabUser[] = labUsers,
): readonly TokenIdentity[] {
  return users.map(({ name }) => ({
    username: name,
    token: Buffer.from(random.bytes(24)).toString("base64url"),
  }));
}
