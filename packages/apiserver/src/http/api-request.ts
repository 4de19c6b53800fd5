import type { HttpRequest } from "@meridian/runtime";
import type { UserInfo } from "../auth/identity.ts";
import type { ServedResource } from "../resource/definition.ts";
import type { ApiPath } from "./api-path.ts";
import type { AcceptedForm } from "./negotiation.ts";
import type { Warnings } from "./warnings.ts";

/** A request for a resource that is served, by a user who may make it. */
export interface ApiRequest {
  readonly http: HttpRequest;
  readonly query: URLSearchParams;
  readonly path: Extract<ApiPath, { kind: "resource" }>;
  readonly resource: ServedResource;
  readonly user: UserInfo;
  readonly form: AcceptedForm;
  /** What the answer will warn of. */
  readonly warnings: Warnings;
  /** Checks that the user may do something else to the same object as well: an apply may create it. @throws StatusError 403. */
  readonly requireVerb: (verb: string) => void;
}
