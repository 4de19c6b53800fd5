import { goQuote } from "./field-error.ts";
import { isStatusError } from "./status-error-checks.ts";
import { StatusError } from "./status.ts";
import type { Status, StatusCause, StatusDetails, StatusReason } from "./status.ts";

/** A collection for messages: `group` is empty for the core group. */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

/** A kind for messages: `group` is empty for the core group. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** 404: there is no object of this name. `gslbs.k8gb.io "x" not found`. */
export function notFound(resource: GroupResource, name: string): StatusError {
  return failure(404, "NotFound", {
    message: `${resourceText(resource)} ${quote(name)} not found`,
    details: detailsOf(resource, name),
  });
}

/** 404 for a path or a collection that the server does not serve. */
export function unknownPath(): StatusError {
  return failure(404, "NotFound", {
    message: "the server could not find the requested resource",
    details: {},
  });
}

/** 409: create of a name that is taken. `deleting` says that the existing object is on its way out. */
export function alreadyExists(
  resource: GroupResource,
  name: string,
  options: { readonly deleting?: boolean } = {},
): StatusError {
  const text = `${resourceText(resource)} ${quote(name)} already exists`;
  return failure(409, "AlreadyExists", {
    message: options.deleting === true ? `object is being deleted: ${text}` : text,
    details: detailsOf(resource, name),
  });
}

/** 409: every name made from this `generateName` prefix was taken; the client may try again. */
export function generateNameConflict(resource: GroupResource, name: string): StatusError {
  return failure(409, "AlreadyExists", {
    message: `${resourceText(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    details: { ...detailsOf(resource, name), retryAfterSeconds: 1 },
  });
}

/** What the API says when the resourceVersion of a write is not the stored one. */
export const staleObjectMessage: string =
  "the object has been modified; please apply your changes to the latest version and try again";

/** 409: a write that saw an older state, or a failed precondition. The default message is that of a stale resourceVersion. */
export function conflict(
  resource: GroupResource,
  name: string,
  message: string = staleObjectMessage,
): StatusError {
  return failure(409, "Conflict", {
    message: `Operation cannot be fulfilled on ${resourceText(resource)} ${quote(name)}: ${message}`,
    details: detailsOf(resource, name),
  });
}

/** 409: server-side apply met fields of other managers; one cause per field, reason `FieldManagerConflict`. */
export function applyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return failure(409, "Conflict", { message, details: { causes } });
}

/** 422: the object breaks rules, one cause per broken rule; the message lists each once. */
export function invalid(kind: GroupKind, name: string, causes: readonly StatusCause[]): StatusError {
  const kindText = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const list = causesText(causes);
  return failure(422, "Invalid", {
    message: `${kindText} ${quote(name)} is invalid${list === "" ? "" : `: ${list}`}`,
    details: { ...named(name), ...grouped(kind.group), kind: kind.kind, ...caused(causes) },
  });
}

/** 422 without a field to blame: a JSON patch whose operations do not apply. */
export function unprocessable(message: string): StatusError {
  return failure(422, "Invalid", {
    message: `the server rejected our request due to an error in our request: ${message}`,
    details: { causes: [{ reason: "UnexpectedServerResponse", message }] },
  });
}

/** 400: a request that cannot be understood. */
export function badRequest(message: string): StatusError {
  return failure(400, "BadRequest", { message });
}

/** 401: no credentials, or none that the server accepts. Says nothing else on purpose. */
export function unauthorized(): StatusError {
  return failure(401, "Unauthorized", { message: "Unauthorized" });
}

/** 403: admission or a rule of the resource forbids it. `gslbs.k8gb.io "x" is forbidden: because`. */
export function forbidden(
  resource: GroupResource,
  name: string,
  because: string | { readonly message: string; readonly causes: readonly StatusCause[] },
): StatusError {
  const { message, causes } = typeof because === "string" ? { message: because, causes: [] } : because;
  const subject = resource.plural === "" ? "forbidden" : `${forbiddenSubject(resource, name)} is forbidden`;
  return failure(403, "Forbidden", {
    message: `${subject}: ${message}`,
    details: { ...detailsOf(resource, name), ...caused(causes) },
  });
}

/** Who wanted to do what, for the text that an authorizer's refusal carries. */
export type AccessAttempt =
  | {
      readonly user: string;
      readonly verb: string;
      readonly resource: GroupResource;
      readonly subresource?: string;
      readonly name?: string;
      readonly namespace?: string;
      readonly reason?: string;
    }
  | { readonly user: string; readonly verb: string; readonly path: string; readonly reason?: string };

/** 403: the authorizer said no. */
export function accessDenied(attempt: AccessAttempt): StatusError {
  const reason = attempt.reason === undefined || attempt.reason === "" ? "" : `: ${attempt.reason}`;
  if ("path" in attempt) {
    const message = `User ${quote(attempt.user)} cannot ${attempt.verb} path ${quote(attempt.path)}${reason}`;
    return failure(403, "Forbidden", { message: `forbidden: ${message}`, details: {} });
  }
  const { resource, subresource, namespace } = attempt;
  const plural = subresource ? `${resource.plural}/${subresource}` : resource.plural;
  const where = namespace ? `in the namespace ${quote(namespace)}` : "at the cluster scope";
  return forbidden(
    resource,
    attempt.name ?? "",
    `User ${quote(attempt.user)} cannot ${attempt.verb} resource ${quote(plural)} in API group ${quote(resource.group)} ${where}${reason}`,
  );
}

/** 403: create in a namespace that is being deleted. The cause is what clients look for. */
export function namespaceTerminating(resource: GroupResource, name: string, namespace: string): StatusError {
  return forbidden(resource, name, {
    message: `unable to create new content in namespace ${namespace} because it is being terminated`,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}

/** 410: the history asked for is gone. `continueToken` lets a pager go on from the newest state. */
export function expired(message: string, options: { readonly continueToken?: string } = {}): StatusError {
  return failure(410, "Expired", {
    message,
    ...(options.continueToken === undefined ? {} : { continueToken: options.continueToken }),
  });
}

/** 410 for a watch whose start is older than the oldest version that history can resume from. */
export function tooOldResourceVersion(asked: string, oldest: string): StatusError {
  return expired(`too old resource version: ${asked} (${oldest})`);
}

/** 504: a read of at least this version, which the store has not reached. */
export function tooLargeResourceVersion(
  asked: string,
  current: string,
  options: { readonly retryAfterSeconds?: number } = {},
): StatusError {
  return failure(504, "Timeout", {
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: options.retryAfterSeconds ?? 1,
    },
  });
}

/** 405: the resource has no such verb. */
export function methodNotAllowed(resource: GroupResource, verb: string): StatusError {
  return failure(405, "MethodNotAllowed", {
    message: `${verb} is not supported on resources of kind ${quote(resourceText(resource))}`,
    details: detailsOf(resource, ""),
  });
}

/** 405: a path that has other methods, but not this one. */
export function methodNotAllowedHere(): StatusError {
  return failure(405, "MethodNotAllowed", {
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
}

/** 406: none of the media types that the client accepts can be produced. */
export function notAcceptable(supported: readonly string[]): StatusError {
  return failure(406, "NotAcceptable", {
    message: `only the following media types are accepted: ${supported.join(", ")}`,
  });
}

/** 415: a body (or patch) of a media type that is not understood here. */
export function unsupportedMediaType(supported: readonly string[]): StatusError {
  return failure(415, "UnsupportedMediaType", {
    message: `the body of the request was in an unknown format - accepted media types include: ${supported.join(", ")}`,
  });
}

/** 413: the body, the patch or the stored object is too large. */
export function requestEntityTooLarge(message: string): StatusError {
  return failure(413, "RequestEntityTooLarge", { message: `Request entity too large: ${message}` });
}

/** 429: overload; the client waits for `retryAfterSeconds`. */
export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return failure(429, "TooManyRequests", { message, details: { retryAfterSeconds } });
}

/** 500: a fault of the server itself. */
export function internalError(message: string, options?: ErrorOptions): StatusError {
  return failure(500, "InternalError", {
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
    ...(options === undefined ? {} : { options }),
  });
}

/** 500: the storage could not be reached in time. */
export function serverTimeout(resource: GroupResource, verb: string): StatusError {
  return failure(500, "ServerTimeout", {
    message: `The ${verb} operation against ${resourceText(resource)} could not be completed at this time, please try again.`,
    details: { ...grouped(resource.group), kind: resource.plural, retryAfterSeconds: 2 },
  });
}

/** 503: the server does not serve (yet, or any more). */
export function serviceUnavailable(message: string): StatusError {
  return failure(503, "ServiceUnavailable", { message });
}

/** 504: the request ran out of time. */
export function timeout(message: string, options: { readonly retryAfterSeconds?: number } = {}): StatusError {
  const { retryAfterSeconds } = options;
  return failure(504, "Timeout", {
    message: `Timeout: ${message}`,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  });
}

/** The `Status` of a request that succeeded without an object to return. */
export function successStatus(details?: StatusDetails): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    ...(details === undefined ? {} : { details }),
    code: 200,
  };
}

/** The `Status` of any failure: that of a StatusError, and 500 InternalError for everything else. */
export function statusOf(error: unknown): Status {
  if (isStatusError(error)) return error.status;
  return internalError(error instanceof Error ? error.message : String(error)).status;
}

/** The list of failed rules as the API prints it: one as it is, several in brackets, each text once. */
export function causesText(causes: readonly StatusCause[]): string {
  const texts = new Set(
    causes.map((cause) => `${cause.field ?? "<nil>"}: ${cause.message ?? cause.reason ?? ""}`),
  );
  const list = [...texts];
  return list.length > 1 ? `[${list.join(", ")}]` : (list[0] ?? "");
}

interface FailureParts {
  readonly message: string;
  readonly details?: StatusDetails;
  readonly continueToken?: string;
  readonly options?: ErrorOptions;
}

function failure(code: number, reason: StatusReason, parts: FailureParts): StatusError {
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: parts.continueToken === undefined ? {} : { continue: parts.continueToken },
    status: "Failure",
    message: parts.message,
    reason,
    ...(parts.details === undefined ? {} : { details: parts.details }),
    code,
  };
  return new StatusError(status, parts.options);
}

function resourceText(resource: GroupResource): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function forbiddenSubject(resource: GroupResource, name: string): string {
  return name === "" ? resourceText(resource) : `${resourceText(resource)} ${quote(name)}`;
}

/** In `details` of these errors `kind` holds the plural, as kube-apiserver does. */
function detailsOf(resource: GroupResource, name: string): StatusDetails {
  return {
    ...named(name),
    ...grouped(resource.group),
    ...(resource.plural === "" ? {} : { kind: resource.plural }),
  };
}

const named = (name: string): { readonly name?: string } => (name === "" ? {} : { name });
const grouped = (group: string): { readonly group?: string } => (group === "" ? {} : { group });
const caused = (causes: readonly StatusCause[]): { readonly causes?: readonly StatusCause[] } =>
  causes.length === 0 ? {} : { causes };
const quote = goQuote;
