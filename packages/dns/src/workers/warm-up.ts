import { ReusedClient, type Runtime } from "@meridian/runtime";
import { composeMessage, type Message } from "../message/message.ts";
import { AnswerCore } from "../server/answer-core.ts";
import { Authority } from "../server/authority.ts";
import { RateLimit } from "../server/rate-limit.ts";
import { parseZoneFile } from "../zone/zone-file.ts";

const zoneText = `$ORIGIN warm.invalid.
@ 30 SOA ns host 1 7200 1800 86400 30
@ 30 NS ns
ns 30 A 192.0.2.1
www 30 A 192.0.2.2
www 30 A 192.0.2.3
www 30 AAAA 2001:db8::1
alias 30 CNAME www
*.wild 30 A 192.0.2.4
child 30 NS ns.child
ns.child 30 A 192.0.2.5
`;

const questions: readonly (readonly [name: string, type: string])[] = [
  ["www.warm.invalid", "A"],
  ["WWW.warm.invalid", "AAAA"],
  ["www.warm.invalid", "TXT"],
  ["no.such.warm.invalid", "A"],
  ["alias.warm.invalid", "A"],
  ["any.wild.warm.invalid", "A"],
  ["host.child.warm.invalid", "A"],
  ["warm.invalid", "SOA"],
  ["elsewhere.invalid", "A"],
];
const roundsMax = 4_000;
const budgetMs = 400;

/**
 * Answers synthetic questions from a zone of its own until V8 has compiled the code that answers, so that the first
 * questions of clients do not meet it interpreted, several times slower. No counter, limit or zone of the server is
 * touched.
 */
export function warmUp({ random, clock }: Runtime): void {
  const { zone } = parseZoneFile(zoneText);
  if (zone === undefined) return;
  // Its code is compiled as well, and lets all pass.
  const rateLimit = RateLimit.create({ seed: 1, logOnly: true });
  const authority = new Authority({ random, clock, rateLimit });
  authority.setZone(zone);
  const core = new AnswerCore(authority.share(), { random, clock, slot: 1 });
  const messages = questions.flatMap(([name, type]) => [
    questionOf(name, type, {}),
    questionOf(name, type, { edns: { payloadSize: 1232, version: 0, dnssecOk: false, options: [] } }),
  ]);
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 53_000 });
  const output = new Uint8Array(65_535);
  const untilMs = clock.monotonicMs() + budgetMs;
  for (let round = 0; round < roundsMax && clock.monotonicMs() < untilMs; round++) {
    for (const message of messages) core.answer(message, 0, message.length, client, output);
  }
}

function questionOf(name: string, type: string, more: Partial<Message>): Uint8Array {
  return composeMessage({ id: 1, questions: [{ name, type, class: 1 }], ...more });
}
