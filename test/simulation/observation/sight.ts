import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import type { DirectAnswer, PackedQuestions } from "./asking.ts";

/** What changed in a cluster's objects. */
export interface SightChanges {
  /** Keys of a store that were written. */
  readonly keys: readonly string[];
  /** Names of applications with another object. */
  readonly applications: Iterable<string>;
  /** Names of applications whose DNSEndpoint somebody else than the operator changed. */
  readonly tampered: Iterable<string>;
}

/** What can be seen of one cluster from outside, whatever it runs. */
export interface Sight {
  /** What changed since the last call. */
  takeChanges(): SightChanges;
  /** The strategy in the Gslb; `null` where there is none. */
  strategy(name: string): GslbStrategySpec | null;
  /** Whether it has a ready backend, wherever that can be reached. */
  healthy(name: string): boolean;
  /** The addresses at which it is reached and that it may publish, by its objects; whether it is healthy or not. */
  addresses(name: string): readonly string[];
  /** Another one when something else may be answered; `undefined` while the DNS server answers nothing. */
  version(): string | undefined;
  /** What the DNS server answers for an application; all of it, where answers are drawn. */
  answer(application: Application, questions: PackedQuestions): DirectAnswer;
  /** What it answers for the questions, as they are. */
  ask(questions: PackedQuestions): DirectAnswer;
}
