import type { NetworkErrorCode } from "../network.ts";
import { NetworkError } from "../network.ts";

interface Meaning {
  readonly code: NetworkErrorCode;
  readonly remedy: string;
}

const closed: Meaning = { code: "Broken", remedy: "the connection broke; connect again" };
const unreachable: Meaning = {
  code: "Unreachable",
  remedy: "no way leads there; check the address and the routes",
};
const timeout: Meaning = { code: "Timeout", remedy: "no answer; check that it runs and can be reached" };
const exhausted: Meaning = {
  code: "Unreachable",
  remedy: "this system is out of resources; raise its limits or wait",
};

/** What the errors of Node mean, by their code. */
const meanings: ReadonlyMap<string, Meaning> = new Map([
  [
    "EADDRINUSE",
    { code: "AddressInUse", remedy: "the port is taken; stop what listens there or choose another port" },
  ],
  [
    "EADDRNOTAVAIL",
    { code: "AddressNotAvailable", remedy: "this machine does not have that address; use one of its own" },
  ],
  [
    "EACCES",
    {
      code: "PermissionDenied",
      remedy:
        "the system does not allow it; use a port above 1023 or grant the privilege (CAP_NET_BIND_SERVICE)",
    },
  ],
  ["EPERM", { code: "PermissionDenied", remedy: "the system does not allow it; check its packet filter" }],
  ["ECONNREFUSED", { code: "Refused", remedy: "nothing listens there; check address and port" }],
  ["EHOSTUNREACH", unreachable],
  ["ENETUNREACH", unreachable],
  ["EHOSTDOWN", unreachable],
  ["ENETDOWN", unreachable],
  ["EINVAL", { code: "Unreachable", remedy: "the address does not fit the socket; check its family" }],
  [
    "EAFNOSUPPORT",
    { code: "Unreachable", remedy: "this system has no such address family; use another address" },
  ],
  ["ENOTFOUND", { code: "Unreachable", remedy: "the name does not exist; check it" }],
  ["EAI_AGAIN", { code: "Unreachable", remedy: "the name could not be looked up; check the resolver" }],
  ["EMFILE", exhausted],
  ["ENFILE", exhausted],
  ["ENOBUFS", exhausted],
  ["ENOMEM", exhausted],
  ["ETIMEDOUT", timeout],
  ["ERR_HTTP2_PING_CANCEL", timeout],
  ["ECONNRESET", closed],
  ["ECONNABORTED", closed],
  ["EPIPE", closed],
  ["EPROTO", { code: "Broken", remedy: "the peer does not speak this protocol; check scheme and port" }],
]);

/**
 * Turns an error of Node's network into a `NetworkError`.
 *
 * `attempt` says what was tried and with which values, e.g. `cannot listen on 127.0.0.1:53`. A `NetworkError` stays
 * as it is.
 */
export function networkFailure(attempt: string, cause: unknown): NetworkError {
  if (cause instanceof NetworkError) return cause;
  const { code, remedy } = meaningOf(cause);
  return new NetworkError(code, `${attempt}: ${remedy} (${describe(cause)})`, { cause });
}

function meaningOf(cause: unknown): Meaning {
  const code = codeOf(cause);
  if (code === undefined) return closed;
  const meaning = meanings.get(code);
  if (meaning !== undefined) return meaning;
  if (isCertificateCode(code)) {
    return { code: "Broken", remedy: "the certificate was not accepted; check the CA and the names in it" };
  }
  return closed;
}

function codeOf(cause: unknown): string | undefined {
  if (cause instanceof AggregateError && cause.errors.length > 0) return codeOf(cause.errors[0]);
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return undefined;
}

/** OpenSSL's verification results, and Node's own check of the names. */
function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS_/.test(code);
}

function describe(cause: unknown): string {
  const code = codeOf(cause);
  if (!(cause instanceof Error)) return String(cause);
  return code === undefined || cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`;
}
