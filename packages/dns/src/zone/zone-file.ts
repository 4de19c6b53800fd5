import type { Zone } from "./zone.ts";

export interface ZoneFileProblem {
  /** Counted from 1; 0 when the problem is of the whole file. */
  readonly line: number;
  /** One line: what is wrong and what to write instead. */
  readonly message: string;
}

export type ZoneFileResult =
  | { readonly zone: Zone; readonly problems?: undefined }
  | { readonly zone?: undefined; readonly problems: readonly ZoneFileProblem[] };

/** Reads a master file (RFC 1035 §5) into a zone, or reports every problem with its line. */
export function parseZoneFile(_text: string, _options?: { readonly origin?: string }): ZoneFileResult {
  return { problems: [{ line: 0, message: "not there yet" }] };
}
