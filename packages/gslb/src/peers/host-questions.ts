import type { DnsClient, TsigKey, Verdict } from "@meridian/dns";
import type { Clock, Endpoint } from "@meridian/runtime";
import { addressFamilies, type AddressFamily } from "../decide/address-family.ts";
import { localTargetsName } from "../decide/local-targets-name.ts";
import type { PeerAnswer } from "../decide/peer-view.ts";
import { textHash } from "../decide/text-hash.ts";
import { Ending } from "../tasks/ending.ts";
import { forEachParallel } from "../tasks/parallel.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { peerAnswer } from "./peer-answer.ts";

/** Hosts that one peer is asked about at once; each is two questions. */
const hostsAtOnce = 64;
/** After so many failures in a row the peer counts as silent: other hosts have failed too, unasked. */
const failuresMax = 16;
/** How often a silent peer is tried in a period. */
const triesPerPeriod = 16;
/** What is due within this time is asked together. */
const tickMs = 20;

/** A time in which every host is asked once. */
interface Round {
  readonly startMs: number;
  readonly windowMs: number;
  readonly key: TsigKey | undefined;
  readonly ending: Ending;
}

/** Whom to ask, and who takes the answers. */
export interface HostQuestionsOptions {
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly clock: Clock;
  readonly tasks: TaskScope;
  readonly deadlineMs: number;
  readonly periodMs: number;
  /** Where the peer is asked, the best first. */
  readonly servers: () => readonly Endpoint[];
  readonly onServer: (server: Endpoint) => void;
  /** A number that is higher for each question than for those asked before. */
  readonly nextOrder: () => number;
  readonly onAnswer: (host: string, family: AddressFamily, answer: OrderedAnswer) => void;
  /** The peer answers again: all that was not asked meanwhile is of interest. */
  readonly onRecovered: () => void;
}

/** An answer, and when its question was asked among others. */
export interface OrderedAnswer {
  readonly answer: PeerAnswer;
  readonly order: number;
  /** By which it is proved; absent where it is not, and where nothing was asked. */
  readonly key?: TsigKey | undefined;
}

/**
 * Asks a peer that tells no more than `localtargets-<host>`, host by host: a k8gb, or one that does not share the key. Spread
 * over the period, so that it sees a steady trickle; all at once where something is new.
 */
export class HostQuestions {
  readonly #options: HostQuestionsOptions;
  #failuresInARow = 0;
  /** Whether the last question was answered. */
  #isThere = false;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #round: Round | undefined;

  constructor(options: HostQuestionsOptions) {
    this.#options = options;
  }

  /** Asks about these hosts, many at a time. @returns whether every question was answered */
  async askNow(hosts: Iterable<string>, key: TsigKey | undefined): Promise<boolean> {
    // A host that is given up in this round must not hide an answer to a question that another round asked meanwhile.
    const order = this.#options.nextOrder();
    let failuresInARow = 0;
    let isWhole = true;
    await forEachParallel(hosts, hostsAtOnce, async (host) => {
      if (failuresInARow >= failuresMax) {
        isWhole = false;
        this.#giveUp(host, order);
      } else if (await this.#ask(host, key)) failuresInARow = 0;
      else {
        failuresInARow += 1;
        isWhole = false;
      }
    });
    return isWhole;
  }

  /** Gives a host that is new its place in the round under way. */
  join(host: string): void {
    const { clock, tasks } = this.#options;
    const round = this.#round;
    const waitMs = round === undefined ? -1 : timeOf(host, round) - clock.monotonicMs();
    if (round === undefined || waitMs < 0) return;
    tasks.start("peer questions", async () => {
      const { signal } = round.ending;
      await clock.sleep(waitMs, signal).catch(() => {});
      if (!signal.aborted) await this.#askInTurn(host, round.key);
    });
  }

  /** Ends the round under way. */
  stop(): void {
    this.#round?.ending.end();
    this.#round = undefined;
  }

  /**
   * Asks about these hosts over the time given, in place of the round under way. Each host has its place in it, the same in
   * every round, so that no two questions about one are further apart than the rounds.
   */
  async askSpread(hosts: readonly string[], windowMs: number, key: TsigKey | undefined): Promise<void> {
    const { clock, tasks } = this.#options;
    this.stop();
    const ending = new Ending(tasks.signal);
    const { signal } = ending;
    const round: Round = { startMs: clock.monotonicMs(), windowMs, key, ending };
    this.#round = round;
    const places = hosts.map((host) => ({ host, atMs: timeOf(host, round) }));
    places.sort((a, b) => a.atMs - b.atMs);
    for (let next = 0; next < places.length;) {
      const waitMs = places[next]!.atMs - clock.monotonicMs();
      if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => {});
      if (signal.aborted) return;
      const dueMs = clock.monotonicMs() + tickMs;
      const due: string[] = [];
      while (next < places.length && places[next]!.atMs <= dueMs) due.push(places[next++]!.host);
      tasks.start("peer questions", () =>
        forEachParallel(due, hostsAtOnce, (host) => this.#askInTurn(host, key)),
      );
    }
  }

  async #askInTurn(host: string, key: TsigKey | undefined): Promise<void> {
    const { clock, periodMs, nextOrder, onRecovered } = this.#options;
    const isSilent = this.#failuresInARow >= failuresMax;
    if (isSilent && clock.monotonicMs() < this.#triedAtMs + periodMs / triesPerPeriod)
      return this.#giveUp(host, nextOrder());
    const isAnswered = await this.#ask(host, key);
    if (isAnswered && isSilent) onRecovered();
  }

  /** @returns whether the peer answered */
  async #ask(host: string, key: TsigKey | undefined): Promise<boolean> {
    const { dnsClient, deadlineMs, clock, tasks, servers, onServer, nextOrder, onAnswer } = this.#options;
    const order = nextOrder();
    const asked = servers();
    this.#triedAtMs = clock.monotonicMs();
    // A peer that was there is not gone because a few packets were lost.
    const wasThere = this.#isThere;
    const outcomes = addressFamilies.map(async (family) => {
      const query = (): Promise<Verdict> =>
        dnsClient.query({
          ...{ name: localTargetsName(host), type: family, servers: asked, deadlineMs },
          ...{ recursionDesired: true, signal: tasks.signal },
          ...(key === undefined ? {} : { key }),
        });
      const first = await query();
      const verdict = first.state === "unreachable" && wasThere ? await query() : first;
      if (verdict.state === "answered") onServer(verdict.server);
      const answer = peerAnswer(verdict, family);
      onAnswer(host, family, { answer, order, key });
      return answer.kind === "answered" || (family === "AAAA" && verdict.state === "refused");
    });
    const isAnswered = (await Promise.all(outcomes)).every((answered) => answered);
    this.#isThere = isAnswered;
    this.#failuresInARow = isAnswered ? 0 : this.#failuresInARow + 1;
    return isAnswered;
  }

  #giveUp(host: string, order: number): void {
    const verdict = "not asked, since the peer did not answer about other hosts";
    for (const family of addressFamilies)
      this.#options.onAnswer(host, family, { answer: { kind: "failed", verdict }, order });
  }
}

function timeOf(host: string, { startMs, windowMs }: Round): number {
  return startMs + (textHash(host) / 2 ** 32) * windowMs;
}
