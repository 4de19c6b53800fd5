import { typeFromText } from "../message/codes.ts";
import { rdataFromText } from "../message/rdata.ts";
import { nameFromText } from "../name/name.ts";
import type { DnsClient } from "../client/dns-client.ts";
import type { DnsQuestion } from "../client/question-asking.ts";
import {
  algorithmEcdsaP256,
  dnskeyFlags,
  dnskeyOf,
  dsOf,
  type ForeignKey,
  type SigningKey,
} from "./signing-key.ts";

/** Whom to ask, how, and until when; the name and the type are the function's. */
export type KeyQuestion = Omit<DnsQuestion, "name" | "type">;

/** The keys of one peer. Unknown is not "none": what was known of it stays in force. */
export type PeerKeys =
  | { readonly state: "known"; readonly keys: readonly ForeignKey[] }
  | { readonly state: "unknown"; readonly reason: string };

/** More keys than a cluster in a roll-over of both kinds has; a larger set is not believed. */
const peerKeysMax = 6;

/**
 * Asks a peer which keys it has for a zone that both answer, and for which of them it wants a DS (RFC 8901 model 2), at
 * the name below the apex where `ZoneKeys` publishes them.
 *
 * Whoever can forge the reply can forge the zone: ask with a TSIG `key` or by `tls`, or on a way that nobody else is on.
 */
export async function fetchPeerKeys(
  client: Pick<DnsClient, "query">,
  { zone, ownKeysLabel }: { readonly zone: string; readonly ownKeysLabel: string },
  question: KeyQuestion,
): Promise<PeerKeys> {
  const name = `${ownKeysLabel}.${zone}`;
  const dnskeys = await fetchRdatas(client, { ...question, name, type: "DNSKEY" });
  if (typeof dnskeys === "string") return { state: "unknown", reason: dnskeys };
  if (dnskeys.length === 0)
    return { state: "unknown", reason: `${name} has no DNSKEY set; the peer does not sign` };
  const problem =
    dnskeys.length > peerKeysMax
      ? `has more than ${peerKeysMax} keys`
      : dnskeys.map(problemOf).find((text) => text !== undefined);
  if (problem !== undefined) return { state: "unknown", reason: `${name} ${problem}` };
  const wanted = await fetchRdatas(client, { ...question, name, type: "CDNSKEY" });
  if (typeof wanted === "string") return { state: "unknown", reason: wanted };
  const keys = dnskeys.map((dnskey) => ({
    dnskey,
    wantsDs: wanted.some((other) => Buffer.compare(other, dnskey) === 0),
  }));
  return { state: "known", keys };
}

/**
 * Whether a server publishes a key of ours in the zone's DNSKEY set: what must be so of every cluster, for the time that
 * caches hold the set, before the key signs. `undefined` when it could not be asked.
 */
export async function isKeyPublished(
  client: Pick<DnsClient, "query">,
  { zone, key }: { readonly zone: string; readonly key: SigningKey },
  question: KeyQuestion,
): Promise<boolean | undefined> {
  const found = await fetchRdatas(client, { ...question, name: zone, type: "DNSKEY" });
  return typeof found === "string" ? undefined : includes(found, dnskeyOf(key));
}

/** Whether a server of the parent zone has the DS of a key of ours. `undefined` when it could not be asked. */
export async function hasDs(
  client: Pick<DnsClient, "query">,
  { zone, key }: { readonly zone: string; readonly key: SigningKey },
  question: KeyQuestion,
): Promise<boolean | undefined> {
  const found = await fetchRdatas(client, { ...question, name: zone, type: "DS" });
  return typeof found === "string" ? undefined : includes(found, dsOf(nameFromText(zone), dnskeyOf(key)));
}

/** The rdata of a set, empty where there is none; a text that says why where it is not known. */
async function fetchRdatas(
  client: Pick<DnsClient, "query">,
  question: DnsQuestion,
): Promise<readonly Uint8Array[] | string> {
  const verdict = await client.query(question);
  const asked = `${question.name} ${question.type}`;
  if (verdict.state === "unreachable") return `${asked}: ${verdict.reason}`;
  if (verdict.state === "refused") return `${asked}: ${verdict.rcode}`;
  if (verdict.outcome === "referral") return `${asked}: the server refers to others`;
  const type = typeFromText(question.type);
  return verdict.records
    .filter((record) => record.type === question.type)
    .map(({ data }) => rdataFromText(type, data));
}

function problemOf(dnskey: Uint8Array): string | undefined {
  const flags = (dnskey[0]! << 8) | dnskey[1]!;
  const isZoneKey = (flags & ~dnskeyFlags.secureEntryPoint) === dnskeyFlags.zone && dnskey[2] === 3;
  if (!isZoneKey) return `has a key with flags ${flags}; only zone keys are published`;
  // RFC 8901 §6: all signers of a zone use the same algorithms, or validators would miss signatures.
  if (dnskey[3] !== algorithmEcdsaP256)
    return `has a key of algorithm ${dnskey[3]}; all clusters sign with 13`;
  return dnskey.length === 68 ? undefined : "has a key of a wrong length";
}

function includes(rdatas: readonly Uint8Array[], wanted: Uint8Array): boolean {
  return rdatas.some((rdata) => Buffer.compare(rdata, wanted) === 0);
}
