import type { Endpoint } from "@meridian/runtime";
import { exchange } from "../client/exchange.ts";
import type { DnsClient } from "../client/dns-client.ts";
import { rcodeToText } from "../message/codes.ts";
import { nameFromText } from "../name/name.ts";
import { macOctets, type TsigKey } from "../tsig/tsig-key.ts";
import { tsigOctets } from "../tsig/tsig-record.ts";
import { composeUpdate, type UpdateChange, type UpdatePrerequisite } from "./compose-update.ts";
import { findPrimary } from "./find-primary.ts";

/** A change of somebody else's zone. */
export interface UpdateZoneOptions {
  readonly zone: string;
  /** The primaries, asked in this order; or whom to ask for the zone's SOA, whose MNAME is the primary. */
  readonly primary:
    | { readonly servers: readonly Endpoint[] }
    | {
        readonly findAt: readonly Endpoint[];
        /** Where the primary listens. Default 53. */ readonly port?: number;
      };
  /** Signs the update; then only signed replies are believed. Without it, whoever forges the source forges the reply. */
  readonly key?: TsigKey;
  readonly prerequisites?: readonly UpdatePrerequisite[];
  /** All in one message, so made all or none, with no moment in between. */
  readonly changes: readonly UpdateChange[];
  /** For everything, finding the primary included. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** What became of the update. */
export type UpdateVerdict =
  | { readonly state: "applied"; readonly server: Endpoint }
  /**
   * A prerequisite does not hold. When `repeated`, an earlier copy of this update may have been made, its reply lost, and
   * be the very reason: look at the zone before trying otherwise.
   */
  | {
      readonly state: "unmet";
      readonly rcode: "NXDOMAIN" | "NXRRSET" | "YXDOMAIN" | "YXRRSET";
      readonly server: Endpoint;
      readonly repeated: boolean;
    }
  /** No server would do it: REFUSED, NOTAUTH, NOTZONE, SERVFAIL ... Names the last of them. */
  | { readonly state: "refused"; readonly rcode: string; readonly server: Endpoint }
  /**
   * Replies came that cannot be believed, so the update may have been made or not. `error` is what the last of them claims:
   * BADKEY, BADSIG and BADTIME are likely true and mean that nothing was changed.
   */
  | {
      readonly state: "unproved";
      readonly reason: string;
      readonly error?: string;
      readonly server: Endpoint;
    }
  /** No reply: the update may have been made or not. */
  | { readonly state: "unreachable"; readonly reason: string };

/** What fits a datagram that every server takes (RFC 2136 §6.2). */
const datagramOctetsMax = 512;
const udpWaitsMs = [400, 800];
const unmetRcodes = ["NXDOMAIN", "NXRRSET", "YXDOMAIN", "YXRRSET"] as const;
/**
 * Changes a zone by dynamic update (RFC 2136), in one message. Resent over UDP, then over TCP, until it has a reply or the
 * time is over: the changes are such that making them twice is making them once. A server whose clock differs says so,
 * signed, and is asked again by its clock. Rejects with `signal.reason` only.
 *
 * @throws DnsError `BadName`, `BadRecord` or `TooLarge` for an update that cannot be written
 */
export async function updateZone(client: DnsClient, options: UpdateZoneOptions): Promise<UpdateVerdict> {
  const { zone, primary, key, prerequisites = [], changes, deadlineMs, signal } = options;
  const { clock } = client.parts.runtime;
  const deadline = clock.monotonicMs() + deadlineMs;
  const message = composeUpdate({ zone, prerequisites, changes });
  const found =
    "servers" in primary
      ? primary
      : await findPrimary(client, {
          zone,
          servers: primary.findAt,
          port: primary.port ?? 53,
          deadlineMs: deadlineMs / 2,
          signal,
        });
  if (found.servers === undefined) return { state: "unreachable", reason: found.reason };
  const octets =
    message.length +
    (key === undefined
      ? 0
      : tsigOctets({
          keyName: nameFromText(key.name),
          algorithm: nameFromText(key.algorithm),
          macOctets: macOctets(key.algorithm),
          otherOctets: 0,
        }));
  let verdict: UpdateVerdict = { state: "unreachable", reason: "no server to ask" };
  for (const [index, server] of found.servers.entries()) {
    const leftMs = (deadline - clock.monotonicMs()) / (found.servers.length - index);
    if (leftMs <= 0) break;
    const waitsMs = octets > datagramOctetsMax ? [] : udpWaitsMs.filter((waitMs) => waitMs < leftMs / 3);
    const spentMs = waitsMs.reduce((sum, waitMs) => sum + waitMs, 0);
    const result = await exchange(client.parts, message, {
      server,
      key,
      questionLength: nameFromText(zone).length + 4,
      waitsMs,
      streamMs: leftMs - spentMs,
      signal,
    });
    verdict = judge(result, server);
    if (verdict.state === "applied" || verdict.state === "unmet") return verdict;
  }
  signal?.throwIfAborted();
  return verdict;
}

function judge(result: Awaited<ReturnType<typeof exchange>>, server: Endpoint): UpdateVerdict {
  switch (result.kind) {
    case "silent":
      return { state: "unreachable", reason: "no reply in time" };
    case "unproved": {
      const { reason, error } = result;
      return { state: "unproved", reason, server, ...(error === undefined ? {} : { error }) };
    }
    case "replied": {
      const rcode = rcodeToText(result.message[3]! & 15);
      if (rcode === "NOERROR") return { state: "applied", server };
      const unmet = unmetRcodes.find((known) => known === rcode);
      if (unmet === undefined) return { state: "refused", rcode, server };
      return { state: "unmet", rcode: unmet, server, repeated: result.sent > 1 };
    }
  }
}
