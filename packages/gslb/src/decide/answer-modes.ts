/** Where an operator may choose how DNSEndpoints are answered. */
export interface AnswerModes {
  /** `choice`: an answer holds one weighted group. `order`: it holds all, in an order drawn by weight, as k8gb's does. */
  readonly weights: "choice" | "order";
  /** `records`: each TXT target is a record. `strings`: all targets are the strings of one record, as k8gb answers them. */
  readonly txtTargets: "records" | "strings";
  /** The TTL of an entry that has none, or 0, in seconds. k8gb's DNS server answers 60, whatever its option `ttl` says. */
  readonly recordTtl: number;
}

/** What is answered where nobody chose. */
export const defaultAnswerModes: AnswerModes = { weights: "choice", txtTargets: "records", recordTtl: 60 };
