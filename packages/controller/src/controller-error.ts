/**
 * What this package can fail with outside of requests, whose failures are `ApiError`s.
 *
 * - `InvalidKubeconfig`: a kubeconfig cannot be read, or names something that it does not contain.
 * - `UnsupportedCredential`: a kubeconfig user asks for a way to log in that this client does not have.
 * - `CredentialUnavailable`: a token file is missing, unreadable or empty, or a plugin gave nothing to log in with.
 * - `DeadlineExceeded`: something did not come in time.
 * - `MalformedResponse`, `TruncatedResponse`, `ResponseTooLarge`: what a stream of JSON is; as an `ApiError` to users.
 * - `UnknownKind`: the server serves no such kind or resource.
 * - `IndexConflict`: an index of that name exists.
 * - `UnknownIndex`: no index of that name exists.
 * - `NoVersion`: to wait for a version, an empty one was given.
 * - `AlreadyOwned`: an object is controlled by another one than by which it should be.
 * - `InvalidOwner`: an object cannot control that one: it is in another namespace, or has no uid.
 * - `Terminal`: what a reconcile throws where trying again is no use.
 * - `InvalidElection`: the times of a leader election allow two leaders, or none for long.
 * - `LeadershipLost`: this process no longer leads, and what only a leader may do has to end.
 * - `AlreadyRunning`: `run` was called while a run is going on.
 */
export type ControllerErrorCode =
  | "InvalidKubeconfig"
  | "UnsupportedCredential"
  | "CredentialUnavailable"
  | "DeadlineExceeded"
  | "MalformedResponse"
  | "TruncatedResponse"
  | "ResponseTooLarge"
  | "UnknownKind"
  | "IndexConflict"
  | "UnknownIndex"
  | "NoVersion"
  | "AlreadyOwned"
  | "InvalidOwner"
  | "Terminal"
  | "InvalidElection"
  | "LeadershipLost"
  | "AlreadyRunning";

/** A failure of this package outside of requests. Match on `code`; two copies of a package defeat `instanceof`. */
export class ControllerError extends Error {
  override readonly name = "ControllerError";
  readonly code: ControllerErrorCode;
  constructor(code: ControllerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
