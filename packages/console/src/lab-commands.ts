import { labLimits } from "./lab-state.ts";

/** What the page asks the lab to do: the body of `POST /lab/commands`. */
export type LabCommand =
  /** Without a name: `web-N`, with the number after the highest that the truth or a copy has. */
  | { readonly do: "create"; readonly name?: string }
  | { readonly do: "change" | "delete"; readonly name: string }
  /** `break` (default): connections break and none comes through. `silence`: the connection stays, and nothing comes. */
  | { readonly do: "cut"; readonly copy: string; readonly how?: "break" | "silence" }
  | { readonly do: "connect"; readonly copy: string }
  /** Forgets the history but for the newest `keep` records (default 0). */
  | { readonly do: "compact"; readonly keep?: number }
  | { readonly do: "setHistory"; readonly records: number }
  | { readonly do: "addCopy" }
  | { readonly do: "removeCopy"; readonly copy: string }
  /** Reads the whole copy so often (default 100). */
  | { readonly do: "readCopy"; readonly copy: string; readonly times?: number }
  /** Changes a Pod as this copy has it, and sends that: refused with 409 if the copy is stale. */
  | { readonly do: "staleWrite"; readonly copy: string; readonly name: string }
  /**
   * The connection breaks while the next event is under way: the way that networks lose events. With `silently` the event
   * is taken out of the stream and nobody notices, which only a faulty proxy can do.
   */
  | { readonly do: "loseEvent"; readonly copy: string; readonly silently?: boolean }
  | { readonly do: "doubleEvent"; readonly copy: string }
  /** The next event, and what follows it, comes so much later (default 5,000). */
  | { readonly do: "delayEvent"; readonly copy: string; readonly ms?: number }
  /** Starts the small controller, or changes which copy it trusts and how many Pods it wants (default 3). */
  | { readonly do: "startController"; readonly copy: string; readonly desired?: number }
  | { readonly do: "stopController" }
  /** Back to the start: two Pods, one copy, four records, no controller, an empty log. */
  | { readonly do: "reset" };

/** The word of a command. */
export type LabCommandName = LabCommand["do"];

/** Why a command was not carried out. */
export interface LabRefusal {
  readonly code: LabRefusalCode;
  /** The field, the name or the bound that it is about. */
  readonly about: string;
}

/** The kinds of refusals, for programs; `LabRefusal.about` says what one is about. */
export type LabRefusalCode =
  /** Not JSON, no such command, or a field that is missing or not right (`about`). */
  | "BadCommand"
  | "NoSuchCopy"
  | "NoSuchPod"
  /** One of `labLimits` is reached. */
  | "TooMany"
  /** The server could not be asked, or too many commands wait (`busy`). */
  | "Unavailable";

/** The answer to a command: 200 with `counter`, else `refusal` with 400 (BadCommand), 404, 409 (TooMany) or 503. */
export type LabCommandAnswer = { readonly counter: number } | { readonly refusal: LabRefusal };

/** Reads a command out of JSON. Unknown fields are refused, so that a typing error does not go unnoticed. Pure. */
export function parseLabCommand(
  value: unknown,
): { readonly command: LabCommand } | { readonly refusal: LabRefusal } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return bad("do");
  const fields = value as Readonly<Record<string, unknown>>;
  const name = fields["do"];
  if (typeof name !== "string" || !Object.hasOwn(rules, name)) return bad("do");
  const rule: Readonly<Record<string, FieldRule>> = rules[name as LabCommandName];
  for (const field of Object.keys(fields)) {
    if (field !== "do" && !Object.hasOwn(rule, field)) return bad(field);
  }
  for (const [field, { fits, optional }] of Object.entries(rule)) {
    const given = fields[field];
    if (given === undefined ? optional !== true : !fits(given)) return bad(field);
  }
  // Every field was checked against the rule of this command.
  return { command: fields as LabCommand };
}

interface FieldRule {
  readonly fits: (value: unknown) => boolean;
  readonly optional?: true;
}

const bad = (about: string): { readonly refusal: LabRefusal } => ({ refusal: { code: "BadCommand", about } });

const wholeNumber =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;

/** A DNS label, as names of Pods here. */
const label: FieldRule = {
  fits: (value) =>
    typeof value === "string" && value.length <= 40 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(value),
};
const optional = (rule: FieldRule): FieldRule => ({ ...rule, optional: true });

const rules: Readonly<Record<LabCommandName, Readonly<Record<string, FieldRule>>>> = {
  create: { name: optional(label) },
  change: { name: label },
  delete: { name: label },
  cut: { copy: label, how: optional({ fits: (value) => value === "break" || value === "silence" }) },
  connect: { copy: label },
  compact: { keep: optional({ fits: wholeNumber(0, labLimits.historyMax) }) },
  setHistory: { records: { fits: wholeNumber(1, labLimits.historyMax) } },
  addCopy: {},
  removeCopy: { copy: label },
  readCopy: { copy: label, times: optional({ fits: wholeNumber(1, labLimits.reads) }) },
  staleWrite: { copy: label, name: label },
  loseEvent: { copy: label, silently: optional({ fits: (value) => typeof value === "boolean" }) },
  doubleEvent: { copy: label },
  delayEvent: { copy: label, ms: optional({ fits: wholeNumber(1, labLimits.delayMs) }) },
  startController: { copy: label, desired: optional({ fits: wholeNumber(0, labLimits.desired) }) },
  stopController: {},
  reset: {},
};
