import type { ConditionOutcome } from "./gslb-conditions.ts";
import type { ZonePair } from "./zone-names.ts";

/** What became of writing a zone's delegation into its parent. */
export type DelegationOutcome =
  | { readonly kind: "delegated" | "ownAddressUnknown" | "withdrawing"; readonly message: string }
  /** The provider could not; `message` says why. */
  | { readonly kind: "failed"; readonly message: string }
  /** Nobody writes it: it is kept by hand. `isDelegated`: the parent was seen to name the own server. */
  | {
      readonly kind: "noProvider";
      readonly isDelegated: boolean;
      readonly zone: ZonePair & { readonly ownNameServer: string };
    };

/** What the conditions of an accepted ZoneDelegation are told from. */
export interface ZoneFacts {
  readonly delegation: DelegationOutcome;
  /** Names of peers' servers that have no known address. */
  readonly unknown: readonly string[];
  /** Geo tags of peers that have an address and gave no answer there. */
  readonly silent: readonly string[];
  /** How many peers there are. */
  readonly peerCount: number;
  /** What works but probably not as meant. */
  readonly warning?: string | undefined;
}

/** The condition of a ZoneDelegation that cannot be served. Nothing else is said of one. */
export function refusedZone(message: string): readonly ConditionOutcome[] {
  return [
    { type: "Accepted", status: "False", reason: "InvalidZone", message },
    {
      type: "Programmed",
      status: "False",
      reason: "NotAccepted",
      message: "the zone is not served; Accepted tells why",
    },
  ];
}

/** The conditions of a ZoneDelegation that is served. */
export function zoneConditions(facts: ZoneFacts): readonly ConditionOutcome[] {
  return [
    {
      ...{ type: "Accepted", status: "True" },
      reason: facts.warning === undefined ? "Accepted" : "AcceptedWithWarnings",
      message: facts.warning ?? "the zone is served",
    },
    programmed(facts.delegation),
    peersReachable(facts),
  ];
}

function programmed(delegation: DelegationOutcome): ConditionOutcome {
  const type = "Programmed";
  switch (delegation.kind) {
    case "delegated":
      return { type, status: "True", reason: "Programmed", message: delegation.message };
    case "noProvider":
      return byHand(delegation);
    case "ownAddressUnknown":
      return { type, status: "False", reason: "OwnAddressUnknown", message: delegation.message };
    case "withdrawing":
      return { type, status: "False", reason: "Withdrawing", message: delegation.message };
    case "failed":
      return { type, status: "False", reason: "ProviderFailed", message: delegation.message };
  }
}

function peersReachable({ unknown, silent, peerCount }: ZoneFacts): ConditionOutcome {
  const type = "PeersReachable";
  if (unknown.length + silent.length === 0) {
    const [reason, message] =
      peerCount === 0
        ? ["NoPeers", "no other cluster takes part"]
        : ["PeersReachable", "every other cluster's server is known and answers"];
    return { type, status: "True", reason, message };
  }
  const parts = [
    ...(unknown.length === 0 ? [] : [`no address is known of ${unknown.join(", ")}`]),
    ...(silent.length === 0 ? [] : [`no answer about the zone from ${silent.join(", ")}`]),
  ];
  return {
    type,
    status: "False",
    reason: unknown.length > 0 ? "ServersUnknown" : "PeerUnreachable",
    message: parts.join("; "),
  };
}

function byHand({
  isDelegated,
  zone: { loadBalancedZone, parentZone, ownNameServer },
}: Extract<DelegationOutcome, { kind: "noProvider" }>): ConditionOutcome {
  const type = "Programmed";
  return isDelegated
    ? {
        type,
        status: "True",
        reason: "DelegatedByHand",
        message: `${parentZone} delegates to ${ownNameServer}`,
      }
    : {
        type,
        status: "Unknown",
        reason: "NoProvider",
        message: `no provider writes the delegation, and ${parentZone} was not seen to name this server: add ${loadBalancedZone} NS ${ownNameServer} and the address of that name by hand`,
      };
}
