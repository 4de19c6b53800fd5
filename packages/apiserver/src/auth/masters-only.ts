import type { Authorizer } from "./identity.ts";

/** Allows members of `system:masters` everything, and everybody to ask who they are and what they may do. */
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
    return { allowed: false };
  },
};

const selfReviews = new Set(["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"]);

function isDiscovery(path: string): boolean {
  return /^\/(?:api|apis|openapi|version|healthz|livez|readyz)(?:\/|$)/.test(path);
}
