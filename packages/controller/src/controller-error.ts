/**
 * What this package itself can fail with. Failures that the API server reports are `StatusError`s of `@meridian/kube`.
 *
 * - `InvalidKubeconfig`: a kubeconfig cannot be read, or names something that it does not contain.
 * - `UnsupportedCredential`: a kubeconfig user asks for a way to log in that this client does not have.
 * - `InvalidReference`: a request names no object: the name is empty, or a namespace is missing.
 * - `TokenUnavailable`: the token file is missing, unreadable or empty.
 * - `Unreachable`: no HTTP answer could be had; `cause` is the network's error.
 * - `DeadlineExceeded`: the answer, or the end of a watch, did not come in time.
 * - `MalformedResponse`: the answer is not the JSON that the API promises.
 * - `TruncatedResponse`: a stream ended inside a document, or broke.
 * - `ResponseTooLarge`: a document or a body is over its limit.
 * - `IndexConflict`: an index of that name exists.
 * - `UnknownIndex`: no index of that name exists.
 * - `AlreadyRunning`: `run` was called while a run is going on.
 * - `Closed`: used after it was closed.
 */
export type ControllerErrorCode =
  | "InvalidKubeconfig"
  | "UnsupportedCredential"
  | "InvalidReference"
  | "TokenUnavailable"
  | "Unreachable"
  | "DeadlineExceeded"
  | "MalformedResponse"
  | "TruncatedResponse"
  | "ResponseTooLarge"
  | "IndexConflict"
  | "UnknownIndex"
  | "AlreadyRunning"
  | "Closed";

/** A failure of the client side. Match on `code`; two copies of a package defeat `instanceof`. */
export class ControllerError extends Error {
  override readonly name = "ControllerError";
  readonly code: ControllerErrorCode;
  constructor(code: ControllerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
