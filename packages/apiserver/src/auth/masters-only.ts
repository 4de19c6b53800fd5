import type { Authorizer } from "./identity.ts";

/**
 * Allows members of `system:masters` everything, everybody to ask who they are and what they may do, and members of
 * `meridian:history` the paths below `/meridian/` besides.
 */
export const mastersOnly: Authorizer = {
  authorize(user, attributes) {
    if (user.groups.includes("system:masters")) return { allowed: true };
    if (
      attributes.kind === "resource" &&
      attributes.verb === "create" &&
      selfReviews.has(attributes.resource)
    ) {
      return { allowed: true };
    }
    if (attributes.kind === "path" && attributes.verb === "get" && isDiscovery(attributes.path))
      return { allowed: true };
    if (attributes.kind === "path" && attributes.path.startsWith("/meridian/")) {
      return { allowed: user.groups.includes(historyGroup) };
    }
    return { allowed: false };
  },
};

/** Its members may read the history and who asks for what, and compact: a right of its own, not that to any object. */
export const historyGroup = "meridian:history";

const selfReviews = new Set(["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"]);

function isDiscovery(path: string): boolean {
  return /^\/(?:api|apis|openapi|version|healthz|livez|readyz)(?:\/|$)/.test(path);
}
