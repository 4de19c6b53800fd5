import { MeridianError } from "../meridian-error.ts";

/** Adds to a failure of the network what a person can do about it; other failures are passed on. */
export function explainNetworkError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "NetworkError" || !("code" in error)) return error;
  switch (error.code) {
    case "AddressInUse":
      return new MeridianError(
        "PortTaken",
        `${error.message}: another program holds it ("ss -lntup" shows which); stop it, or choose another port with --port`,
        { cause: error },
      );
    case "PermissionDenied":
      return new MeridianError(
        "PermissionDenied",
        `${error.message}: ports below 1024 belong to root; use sudo, or a higher port with --port`,
        { cause: error },
      );
    case "AddressNotAvailable":
      return new MeridianError(
        "AddressMissing",
        `${error.message}: this system has no such address; choose one it has`,
        {
          cause: error,
        },
      );
    default:
      return error;
  }
}
