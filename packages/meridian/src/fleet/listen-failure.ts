import { MeridianError, type MeridianErrorCode } from "../meridian-error.ts";

const codes: Readonly<Record<string, MeridianErrorCode>> = {
  AddressInUse: "PortTaken",
  PermissionDenied: "PermissionDenied",
  AddressNotAvailable: "AddressMissing",
};

/** Turns a failure to listen into one of ours; its message says what to do already. Other failures are passed on. */
export function asMeridianError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "NetworkError" || !("code" in error)) return error;
  const code = codes[String(error.code)];
  return code === undefined ? error : new MeridianError(code, error.message, { cause: error });
}
