/** Who is asking. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

/** A bearer token and whom it stands for. */
export interface TokenIdentity {
  readonly token: string;
  readonly username: string;
  readonly groups?: readonly string[];
}

/** What is asked for: a resource or, with `path`, something else. */
export type RequestAttributes =
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource?: string;
      readonly namespace?: string;
      readonly name?: string;
    }
  | { readonly kind: "path"; readonly verb: string; readonly path: string };

/** The verdict of an authorizer; the reason is shown to the user. */
export interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason?: string;
}

/** Decides who may do what. */
export interface Authorizer {
  authorize(user: UserInfo, attributes: RequestAttributes): AuthorizationDecision;
}
