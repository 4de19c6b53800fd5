import { accessDenied, badRequest } from "@meridian/kube";
import type { HttpHeaders } from "@meridian/runtime";
import type { Authorizer, UserInfo } from "./identity.ts";

/**
 * Who a request counts as: its own user, or the one whom it asks to stand in for (`kubectl --as`), where it may.
 *
 * @throws StatusError 400, 403.
 */
export function impersonate(user: UserInfo, headers: HttpHeaders, authorizer: Authorizer): UserInfo {
  const username = headers["impersonate-user"];
  const groups = (headers["impersonate-group"] ?? "")
    .split(",")
    .map((group) => group.trim())
    .filter(Boolean);
  if (username === undefined || username === "") {
    const asked = Object.keys(headers).find((name) => name.startsWith("impersonate-"));
    if (asked === undefined) return user;
    throw badRequest(`${asked} needs Impersonate-User beside it`);
  }
  mayImpersonate(user, authorizer, { resource: "users", name: username });
  for (const name of groups) mayImpersonate(user, authorizer, { resource: "groups", name });
  return { username, groups: [...new Set([...groups, "system:authenticated"])] };
}

function mayImpersonate(
  user: UserInfo,
  authorizer: Authorizer,
  { name, resource }: { readonly resource: string; readonly name: string },
): void {
  const verb = "impersonate";
  const { allowed, reason } = authorizer.authorize(user, {
    kind: "resource",
    verb,
    group: "",
    version: "v1",
    resource,
    name,
  });
  if (allowed) return;
  throw accessDenied({
    user: user.username,
    verb,
    resource: { group: "", plural: resource },
    name,
    ...(reason !== undefined && { reason }),
  });
}
