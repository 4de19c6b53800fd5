/** What one request shows to be let in. Never logged. */
export interface Credential {
  /** The header's whole value: `Bearer …`, `Basic …`. */
  readonly authorization?: string;
  /** PEM texts of a client certificate, in place of the connection's own. */
  readonly certificatePem?: string;
  readonly privateKeyPem?: string;
}

/** Where requests take their credential from. Asked before each request, so it answers from memory where it can. */
export interface CredentialSource {
  /**
   * What to send now. Any number of requests may ask at once.
   *
   * @throws ControllerError `CredentialUnavailable` where there is nothing to send
   */
  current(signal: AbortSignal): Promise<Credential>;
  /** The server refused this one with 401. True if another can be had, so that trying once more makes sense. */
  renew(refused: Credential, signal: AbortSignal): Promise<boolean>;
  /** Ends what runs on its behalf. */
  [Symbol.dispose]?(): void;
}

/** A credential that never changes. */
export function fixedCredential(credential: Credential): CredentialSource {
  return { current: () => Promise.resolve(credential), renew: () => Promise.resolve(false) };
}

/** A bearer token that never changes. */
export function bearerToken(token: string): CredentialSource {
  return fixedCredential({ authorization: `Bearer ${token}` });
}

/** Whether a server could not tell the two apart. */
export function sameCredential(one: Credential, other: Credential): boolean {
  return (
    one.authorization === other.authorization &&
    one.certificatePem === other.certificatePem &&
    one.privateKeyPem === other.privateKeyPem
  );
}
