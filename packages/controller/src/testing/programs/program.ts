import type { Random } from "@meridian/runtime";
import type { CutKind, EventFault, RequestFault } from "../faults/fault.ts";
import { refusals } from "../faults/fault.ts";

/** One act of a program against a server, what is between, and its copies. */
export type Act =
  /** A write at the server; `shown` objects are in the selected part of the collection. */
  | { readonly do: "put"; readonly name: string; readonly shown: boolean }
  | { readonly do: "remove"; readonly name: string }
  /** `tick` is a write to another collection; `compact` loses the history up to now. */
  | {
      readonly do:
        "tick" | "compact" | "bookmark" | "end watches" | "garbage" | "silence" | "cut" | "connect";
    }
  | { readonly do: "partition" | "heal" | "no bookmarks" | "no initial end" | "overtaking" | "calm" }
  /** Another handler on the first copy, its end, or another copy. */
  | { readonly do: "handler" | "remove handler" | "copy" }
  | { readonly do: "cut watches"; readonly how: CutKind }
  | { readonly do: "befall request"; readonly fault: RequestFault }
  | { readonly do: "befall event"; readonly fault: EventFault }
  | { readonly do: "fail watches"; readonly how: keyof typeof refusals }
  | { readonly do: "repeat"; readonly back: number }
  | { readonly do: "hold" | "pass"; readonly ms: number };

/** A program, and everything else that its outcome depends on. */
export interface Program {
  readonly seed: number;
  readonly watchList: boolean;
  readonly pageSize: number;
  readonly acts: readonly Act[];
}

/** A program of up to `length` acts. The same numbers give the same program. */
export function randomProgram(random: Pick<Random, "uint32">, length: number = 60): Program {
  const pick = <T>(choices: readonly T[]): T => choices[random.uint32() % choices.length] as T;
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const act = (): Act => {
    let at = random.uint32() % total;
    for (const { weight, make } of kinds) {
      if (at < weight) return make(pick);
      at -= weight;
    }
    throw new Error("weights do not add up");
  };
  return {
    seed: random.uint32() % 1_000_000,
    watchList: pick([true, false]),
    pageSize: pick([1, 2, 500]),
    acts: Array.from({ length: 1 + (random.uint32() % length) }, act),
  };
}

type Draw = <T>(choices: readonly T[]) => T;

const names = ["a", "b", "c", "d", "e"];
const refusalNames = Object.keys(refusals) as readonly (keyof typeof refusals)[];

/** How often each kind of act is. Faults that no honest network has are not among them. */
const kinds: readonly { readonly weight: number; readonly make: (pick: Draw) => Act }[] = [
  { weight: 14, make: (pick) => ({ do: "put", name: pick(names), shown: pick([true, false]) }) },
  { weight: 7, make: (pick) => ({ do: "remove", name: pick(names) }) },
  { weight: 16, make: (pick) => ({ do: "pass", ms: pick([1, 5, 50, 1_500, 40_000]) }) },
  { weight: 2, make: (pick) => ({ do: "hold", ms: pick([5, 1_500, 20_000]) }) },
  { weight: 4, make: (pick) => ({ do: pick(["tick", "compact", "compact", "bookmark"] as const) }) },
  { weight: 2, make: (pick) => ({ do: pick(["end watches", "garbage"] as const) }) },
  { weight: 4, make: (pick) => ({ do: "cut watches", how: pick(["clean", "inside", "broken"] as const) }) },
  { weight: 5, make: (pick) => ({ do: pick(["silence", "cut", "connect", "connect"] as const) }) },
  { weight: 3, make: (pick) => ({ do: pick(["partition", "heal"] as const) }) },
  {
    weight: 3,
    make: (pick) => ({ do: pick(["no bookmarks", "no initial end", "overtaking", "calm"] as const) }),
  },
  { weight: 5, make: (pick) => ({ do: "befall request", fault: requestFault(pick) }) },
  { weight: 3, make: (pick) => ({ do: "befall event", fault: eventFault(pick) }) },
  { weight: 2, make: (pick) => ({ do: "fail watches", how: pick(refusalNames) }) },
  { weight: 2, make: (pick) => ({ do: "repeat", back: pick([0, 1, 2, 5]) }) },
  { weight: 2, make: (pick) => ({ do: pick(["handler", "remove handler", "copy"] as const) }) },
];

function requestFault(pick: Draw): RequestFault {
  return pick<() => RequestFault>([
    () => ({ do: "refuse", with: refusals[pick(refusalNames)] }),
    () => ({ do: "refuse", with: refusals[pick(refusalNames)] }),
    () => ({ do: "truncate", how: pick(["clean", "broken"] as const) }),
    () => ({ do: pick(["unreachable", "loseAnswer", "swallow"] as const) }),
    () => ({ do: "delay", ms: pick([50, 5_000]) }),
  ])();
}

function eventFault(pick: Draw): EventFault {
  return pick<() => EventFault>([
    () => ({ do: pick(["break", "double"] as const) }),
    () => ({ do: "delay", ms: pick([50, 5_000]) }),
  ])();
}
