import { DnsError } from "../dns-error.ts";
import { equalNames, foldName, nameToText, type Name } from "../name/name.ts";
import type { FileRecord } from "../zone/file-record.ts";
import type { WireRecord } from "../zone/wire-record.ts";
import { ZoneLoader, type LoadProblem } from "../zone/zone-loader.ts";
import type { Zone } from "../zone/zone.ts";
import type { TakeRecord } from "./transfer-reader.ts";

/** Fills a zone with the records of a transfer as they come, the SOA first: it takes no more memory than the zone. */
export class RecordLoader {
  readonly take: TakeRecord;
  readonly #origin: Name;
  readonly #loader: ZoneLoader;
  #record: FileRecord | undefined;
  /** As it was sent. */
  #owner: Name | undefined;
  #problem: LoadProblem | undefined;

  /** @param options `hashSeed` is that of whoever will serve the zone */
  constructor(options: { readonly origin: Name; readonly hashSeed: number }) {
    const { origin, hashSeed } = options;
    this.#origin = foldName(origin);
    this.#loader = new ZoneLoader({
      origin: this.#origin,
      hashSeed,
      takesAnySignatures: true,
      report: (problem) => void (this.#problem ??= problem),
    });
    this.take = (record) => this.#take(record);
  }

  /** The zone. @throws DnsError `BadTransfer` where a zone cannot hold what was taken */
  end(): Zone {
    const zone = this.#loader.end();
    const problem = this.#problem;
    if (zone !== undefined && problem === undefined) return zone;
    const what = problem?.owner === undefined ? "" : `${nameToText(problem.owner)}: `;
    throw new DnsError(
      "BadTransfer",
      `cannot use the transfer of ${nameToText(this.#origin)}: ${what}${problem?.message ?? "it has no records"}`,
    );
  }

  #take({ owner, type, ttl, rdata }: WireRecord): void {
    // What is wrong already is not loaded to its end.
    if (this.#problem !== undefined) return;
    const record = (this.#record ??= { line: 0, owner: foldName(owner), type, ttl, rdata });
    // Records of one owner stand together, and the loader knows them by the object.
    if (this.#owner !== owner && !equalNames(record.owner, owner)) record.owner = foldName(owner);
    this.#owner = owner;
    record.type = type;
    record.ttl = ttl;
    record.rdata = rdata;
    this.#loader.record(record);
  }
}
