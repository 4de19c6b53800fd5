import type { Verdict } from "@meridian/dns";
import { formatEndpoint } from "@meridian/runtime";
import type { AddressFamily } from "../decide/address-family.ts";
import type { PeerAnswer } from "../decide/peer-view.ts";

/**
 * What a DNS verdict says about a peer's targets. NXDOMAIN and NODATA are answers: it has none. A refusal, a failure, a
 * referral and silence say nothing. AA is not asked for, since k8gb never sets it.
 */
export function peerAnswer(verdict: Verdict, family: AddressFamily): PeerAnswer {
  switch (verdict.state) {
    case "answered": {
      if (verdict.outcome === "referral")
        return { kind: "failed", verdict: `a referral from ${formatEndpoint(verdict.server)}` };
      const targets = verdict.records.filter((record) => record.type === family).map((record) => record.data);
      const outcome = { data: `${targets.length} of type ${family}`, nodata: "NODATA", nxdomain: "NXDOMAIN" };
      return {
        kind: "answered",
        targets,
        verdict: `${outcome[verdict.outcome]} from ${formatEndpoint(verdict.server)}`,
      };
    }
    case "refused":
      return { kind: "failed", verdict: `${verdict.rcode} from ${formatEndpoint(verdict.server)}` };
    case "unreachable":
      return { kind: "failed", verdict: verdict.reason };
  }
}
