import type { Status, StatusDetails, StatusReason } from "@meridian/kube";
import { describeSubject } from "./request-subject.ts";
import type { RequestSubject } from "./request-subject.ts";

/**
 * Why a request failed without a verdict of the server.
 *
 * - `InvalidRequest`: it names no object (an empty name, no namespace); nothing was sent.
 * - `CredentialUnavailable`: there is nothing to log in with: a token file is empty, a plugin failed; nothing was sent.
 * - `RateLimited`: this client's own limit would have let it wait beyond its deadline; nothing was sent.
 * - `Unreachable`: no HTTP answer could be had; `cause` is the network's error.
 * - `DeadlineExceeded`: the answer, or the end of a watch, did not come in time.
 * - `MalformedResponse`: the answer is not the JSON that the API promises.
 * - `TruncatedResponse`: a stream ended inside a document, or broke.
 * - `ResponseTooLarge`: a document or a body is over its limit.
 * - `Closed`: the client, or the watch, was closed before.
 */
export type ClientFailureReason =
  | "InvalidRequest"
  | "CredentialUnavailable"
  | "RateLimited"
  | "Unreachable"
  | "DeadlineExceeded"
  | "MalformedResponse"
  | "TruncatedResponse"
  | "ResponseTooLarge"
  | "Closed";

/** The server's word for a failure, this client's, or one that is newer than this code. */
export type ApiErrorReason = StatusReason | ClientFailureReason | (string & {});

/** What is known of a failed request. */
export interface ApiFailure {
  readonly subject: RequestSubject;
  readonly reason: ApiErrorReason;
  /** What went wrong, without the attempt, which is put before it. */
  readonly message: string;
  /** The server's Status; absent where the server gave no verdict. */
  readonly status?: Status;
  readonly cause?: unknown;
}

/**
 * The failure of one request. Every rejected call of a `KubeClient` is one of these, or the reason of the caller's signal.
 *
 *     cannot update configmaps shop/web: Operation cannot be fulfilled on … (409 Conflict)
 *     cannot list gslbs.k8gb.io: connection refused by 10.0.0.2:6443 (Unreachable)
 *
 * Match on `reason` (or by `isNotFound`, `isConflict` … of `@meridian/kube`), not by `instanceof`, which two copies of
 * a package defeat. Tokens never stand in it.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly reason: ApiErrorReason;
  /** The HTTP status; 0 where no answer came, or none that could be understood. */
  readonly code: number;
  /** The object, the causes by field, and the wait that the server asks for, as far as the server named them. */
  readonly details: StatusDetails;
  /** The server's answer; `undefined` where it gave none. */
  readonly status: Status | undefined;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`. */
  readonly verb: string;
  /** `configmaps`, `gslbs.k8gb.io`, or a path where no resource was asked for. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** The object's name, where one was meant. */
  readonly objectName: string | undefined;

  constructor(failure: ApiFailure) {
    const { subject, reason, status, cause } = failure;
    const code = status?.code ?? 0;
    const verdict = [code === 0 ? "" : String(code), reason].filter((part) => part !== "").join(" ");
    const suffix = verdict === "" ? "" : ` (${verdict})`;
    super(
      `cannot ${describeSubject(subject)}: ${failure.message}${suffix}`,
      cause === undefined ? {} : { cause },
    );
    this.reason = reason;
    this.code = code;
    this.details = status?.details ?? {};
    this.status = status;
    this.verb = subject.verb;
    this.resource = subject.resource;
    this.subresource = subject.subresource;
    this.namespace = subject.namespace;
    this.objectName = subject.name;
  }
}

/** True for an ApiError, also one of another copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === "ApiError" && "verb" in error;
}
