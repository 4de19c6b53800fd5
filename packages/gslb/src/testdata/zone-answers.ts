import type { ResourceRecord, Verdict } from "@meridian/dns";
import type { ZoneWorldOptions } from "./zone-world.ts";

/** What the edge server and the peers answer: by `name type`, the data; `fail` where nobody answers. */
export type ZoneAnswers = Map<string, readonly string[] | "fail">;

/**
 * Answers of a world where the edge server is the parent's own server, and every server knows the same. What is not in the
 * map does not exist.
 */
export function answersFrom(answers: ZoneAnswers): NonNullable<ZoneWorldOptions["answer"]> {
  return ({ name, type, servers }): Verdict => {
    const server = servers[0];
    const data = answers.get(`${name} ${type}`);
    if (server === undefined || data === "fail") return { state: "unreachable", reason: "no reply in time" };
    const records: readonly ResourceRecord[] = (data ?? []).map((each) => ({ name, type, ttl: 30, data: each }));
    const outcome = data === undefined ? "nxdomain" : records.length > 0 ? "data" : "nodata";
    return { state: "answered", outcome, authoritative: true, records, authority: [], additional: [], server };
  };
}
