import type { Endpoint } from "@meridian/runtime";
import { rcodeToText, typeFromText, typeToText } from "../message/codes.ts";
import type { Message, MessageRecord } from "../message/message.ts";
import { foldNameText } from "../name/name.ts";
import type { Answered, Refused } from "./verdict.ts";

const chainStepsMax = 16;

/** What a reply means for its question; `follow` when its CNAMEs lead to a name that it says nothing about. */
export type ReplyMeaning =
  | { readonly kind: "verdict"; readonly verdict: Answered | Refused }
  | { readonly kind: "follow"; readonly name: string; readonly verdict: Answered };

/** Judges a whole reply (not truncated) to a question. Pure. */
export function judgeReply(
  reply: Message,
  question: { readonly name: string; readonly type: string },
  server: Endpoint,
): ReplyMeaning {
  const rcode = rcodeToText(reply.rcode);
  if (rcode !== "NOERROR" && rcode !== "NXDOMAIN")
    return { kind: "verdict", verdict: { state: "refused", rcode, server } };
  const type = typeToText(typeFromText(question.type));
  const { name, complete } = followChain(reply.answers, foldNameText(question.name), type);
  const answered = (outcome: Answered["outcome"]): Answered => ({
    state: "answered",
    outcome,
    authoritative: reply.authoritative,
    records: reply.answers,
    authority: reply.authority,
    additional: reply.additional,
    server,
  });
  if (complete) return { kind: "verdict", verdict: answered("data") };
  if (rcode === "NXDOMAIN") return { kind: "verdict", verdict: answered("nxdomain") };
  if (reply.authority.some((record) => record.type === "SOA"))
    return { kind: "verdict", verdict: answered("nodata") };
  if (name !== foldNameText(question.name)) return { kind: "follow", name, verdict: answered("nodata") };
  const refers = !reply.authoritative && reply.authority.some((record) => record.type === "NS");
  return { kind: "verdict", verdict: answered(refers ? "referral" : "nodata") };
}

/** Follows CNAMEs within an answer section; a name that comes again ends it. */
function followChain(
  records: readonly MessageRecord[],
  start: string,
  type: string,
): { readonly name: string; readonly complete: boolean } {
  let name = start;
  const byOwner = new Map<string, MessageRecord[]>();
  for (const record of records) {
    const owner = foldNameText(record.name);
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), record]);
  }
  const seen = new Set([name]);
  for (let step = 0; step < chainStepsMax; step++) {
    const owned = byOwner.get(name) ?? [];
    if (owned.some((record) => record.type === type || type === "ANY")) return { name, complete: true };
    const alias = owned.find((record) => record.type === "CNAME");
    if (alias === undefined) break;
    name = foldNameText(alias.data);
    if (seen.has(name)) break;
    seen.add(name);
  }
  return { name, complete: false };
}
