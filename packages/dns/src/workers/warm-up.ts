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
/** Room for each of their messages. */
const messageStride = 128;
const roundsMax = 4_000;
const roundsPerStep = 8;
const budgetMs = 400;

/**
 * Answers synthetic questions from a zone of its own until V8 has compiled the code that answers, so that the questions of
 * clients do not meet it interpreted, several times slower. No counter, limit or zone of the server is touched.
 *
 * In steps of about a millisecond, so that a thread can answer its first clients meanwhile.
 */
export class WarmUp {
  readonly #runtime: Pick<Runtime, "clock">;
  readonly #core: AnswerCore;
  /** All messages in one buffer, as a batch of datagrams is: one that comes once is read in another way. */
  readonly #input: Uint8Array = new Uint8Array(questions.length * 2 * messageStride);
  readonly #lengths: number[] = [];
  readonly #client = new ReusedClient("udp", { address: "192.0.2.200", port: 53_000 });
  readonly #output: Uint8Array = new Uint8Array(65_535);
  #rounds = 0;
  #spentMs = 0;

  constructor({ random, clock }: Pick<Runtime, "random" | "clock">) {
    this.#runtime = { clock };
    // Its code is compiled as well, and lets all pass.
    const rateLimit = RateLimit.create({ seed: 1, logOnly: true });
    const authority = new Authority({ random, clock, rateLimit });
    const { zone } = parseZoneFile(zoneText);
    if (zone !== undefined) authority.setZone(zone);
    this.#core = new AnswerCore(authority.share(), { random, clock, slot: 1 });
    for (const [name, type] of questions) {
      this.#add(questionOf(name, type, {}));
      this.#add(
        questionOf(name, type, { edns: { payloadSize: 1232, version: 0, dnssecOk: false, options: [] } }),
      );
    }
  }

  get isDone(): boolean {
    return this.#rounds >= roundsMax || this.#spentMs >= budgetMs;
  }

  step(): void {
    const { clock } = this.#runtime;
    const startedMs = clock.monotonicMs();
    for (let round = 0; round < roundsPerStep; round++) {
      for (let index = 0; index < this.#lengths.length; index++)
        this.#core.answer(
          this.#input,
          index * messageStride,
          this.#lengths[index]!,
          this.#client,
          this.#output,
        );
    }
    this.#rounds += roundsPerStep;
    this.#spentMs += clock.monotonicMs() - startedMs;
  }

  #add(message: Uint8Array): void {
    this.#input.set(message, this.#lengths.length * messageStride);
    this.#lengths.push(message.length);
  }
}

function questionOf(name: string, type: string, more: Partial<Message>): Uint8Array {
  return composeMessage({ id: 1, questions: [{ name, type, class: 1 }], ...more });
}
