import { dnsErrorText } from "../dns-error.ts";
import { foldName, nameFromText, type Name } from "../name/name.ts";
import { EntryCutter } from "./entry-cutter.ts";
import { FileRecordReader } from "./file-record.ts";
import { ZoneLoader } from "./zone-loader.ts";
import type { ZoneFileProblem } from "./zone-text.ts";
import type { Zone } from "./zone.ts";

/** The zone of a master file, or everything that is wrong with the file. */
export type ZoneFileResult =
  | { readonly zone: Zone; readonly problems?: undefined }
  | { readonly zone?: undefined; readonly problems: readonly ZoneFileProblem[] };

export interface ZoneFileOptions {
  /** The zone's origin, which the SOA must be of, and what relative names start from. */
  readonly origin?: string;
  /** An authority's, so that serving the zone does not hash all its names again. */
  readonly hashSeed?: number;
}

const problemsMax = 100;

/**
 * Reads a master file (RFC 1035 §5, RFC 2308 §4 `$TTL`, RFC 3597 `\#`) into a zone, or reports every problem with its
 * line. `$INCLUDE` and `$GENERATE` are refused: a file stands for itself.
 *
 * The zone's origin is the owner of the SOA record; `origin`, where given, must be the same and is what relative names
 * start from. Several TTLs in one set become the least. Addresses rotate.
 */
export function parseZoneFile(text: string, options: ZoneFileOptions = {}): ZoneFileResult {
  const reader = new ZoneFileReader(options);
  reader.write(new TextEncoder().encode(text));
  return reader.end();
}

/**
 * As `parseZoneFile`, for files that come piece by piece: records go into the zone's memory as they are read, so that a
 * file of any size takes no more memory than its zone.
 */
export class ZoneFileReader {
  readonly #problems: ZoneFileProblem[] = [];
  readonly #cutter: EntryCutter;
  readonly #records: FileRecordReader | undefined;
  readonly #loader: ZoneLoader | undefined;

  constructor(options: ZoneFileOptions = {}) {
    const report = (problem: ZoneFileProblem): void =>
      void (this.#problems.length < problemsMax && this.#problems.push(problem));
    this.#cutter = new EntryCutter(report);
    let origin: Name | undefined;
    try {
      if (options.origin !== undefined) origin = nameFromText(options.origin);
    } catch (error) {
      report({ line: 0, message: dnsErrorText(error) });
      return;
    }
    this.#loader = new ZoneLoader({
      origin: origin === undefined ? undefined : foldName(origin),
      report,
      hashSeed: options.hashSeed,
    });
    this.#records = new FileRecordReader({ origin, report, onRecord: this.#loader });
  }

  /** Takes the next octets of the file, UTF-8. They may be reused once this returns. */
  write(octets: Uint8Array): void {
    if (this.#records !== undefined) this.#cutter.write(octets, this.#records);
  }

  /** Ends the file. */
  end(): ZoneFileResult {
    const problems = this.#problems;
    if (this.#records === undefined || this.#loader === undefined) return { problems };
    this.#cutter.end(this.#records);
    const zone = this.#loader.end();
    // Problems of single lines are why later checks fail, so they come first.
    if (problems.length > 0 || zone === undefined)
      return { problems: problems.sort((left, right) => placeOf(left) - placeOf(right)) };
    return { zone };
  }
}

/** Those of the whole file come last: the SOA that is missing may be the one that a line could not give. */
function placeOf({ line }: ZoneFileProblem): number {
  return line === 0 ? Number.MAX_SAFE_INTEGER : line;
}
