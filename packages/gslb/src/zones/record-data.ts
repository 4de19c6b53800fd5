import { textToTxtData, type AnswerPolicy, type RecordSet } from "@meridian/dns";
import { isIpv4, isIpv6 } from "@meridian/kube";
import type { AnswerModes } from "../decide/answer-modes.ts";
import { weightGroups } from "../decide/weight-labels.ts";

/** Records of one name and type as one object gives them, merged over its entries. */
export interface GivenRecords {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Turns given records into what the DNS server takes, leaving out targets that the type cannot hold. */
export function toRecordSet(
  given: GivenRecords,
  modes: AnswerModes,
): {
  readonly set: RecordSet;
  readonly refused: readonly string[];
} {
  const targets = given.targets.filter((target) => fits(given.type, target));
  const refused = given.targets.filter((target) => !fits(given.type, target));
  const records = targets.map((target) => presentation(given.type, target));
  const isJoined = given.type === "TXT" && modes.txtTargets === "strings" && records.length > 1;
  const data = isJoined ? [records.join(" ")] : records;
  const policy = answerPolicy(given, targets, modes);
  return { set: { name: given.name, type: given.type, ttl: given.ttl, data, policy }, refused };
}

/**
 * How answers are chosen: by the client's place for geoip, by weight where the labels give weights, in turn for roundRobin,
 * else in the order given. The DNS server knows strategies only by these labels.
 */
function answerPolicy(
  given: GivenRecords,
  targets: readonly string[],
  { weights }: AnswerModes,
): AnswerPolicy {
  if (given.type !== "A" && given.type !== "AAAA") return { kind: "fixed" };
  const strategy = given.labels["strategy"]?.toLowerCase();
  if (strategy === "geoip") return { kind: "geo" };
  const groups = weightGroups(given.labels, targets);
  if (groups !== undefined)
    return {
      kind: weights === "choice" ? "weighted" : "weightedOrder",
      groups: groups.map(({ geoTag: tag, weight, targets: data }) => ({ weight, tag, data })),
    };
  return strategy === "roundrobin" ? { kind: "rotate" } : { kind: "fixed" };
}

function fits(type: string, target: string): boolean {
  if (type === "A") return isIpv4(target);
  return type === "AAAA" ? isIpv6(target) : target !== "";
}

/** DNSEndpoint targets leave out what a zone file needs: quotes around text, dots behind absolute names. */
function presentation(type: string, target: string): string {
  switch (type) {
    case "TXT":
    case "SPF":
      return target.startsWith('"') ? target : textToTxtData(target);
    case "CNAME":
    case "DNAME":
    case "NS":
    case "PTR":
    case "MX":
    case "SRV":
      return target.endsWith(".") ? target : `${target}.`;
    default:
      return target;
  }
}
