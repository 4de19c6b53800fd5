/** The checker of one invariant of the design. It is asked after each step that changed something, and regularly. */
export interface Invariant {
  readonly number: number;
  /** How often something was held against it so far: a checker that is never in a position to judge proves nothing. */
  readonly judged: number;
  check(): void;
  /** Asked once at the end, after the healed quiet phase. */
  finish?(): void;
}

/** Takes what a checker saw that must not be; one sentence with names, values and bounds. */
export type Report = (seen: string) => void;
