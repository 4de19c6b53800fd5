import { useEffect, useId, useState } from "react";
import type { ReactNode } from "react";
import { useMessages } from "../text/messages-context.ts";

/** Typing is over after this. */
const settleMs = 600;

/** The number that holds, its bounds (both may be chosen), and who hears of another. */
export interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly onChoose: (value: number) => void;
}

/** A whole number. It counts when typing is over: as the nearest within the bounds, and not at all where it is no number. */
export function NumberField({ label, max, min, onChoose, value }: NumberFieldProps): ReactNode {
  const text = useMessages();
  const id = useId();
  const [draft, setDraft] = useState<string>();
  const choose = (typed: string): void => {
    const number = Math.min(max, Math.max(min, Number(typed)));
    setDraft(undefined);
    if (/^-?\d+$/.test(typed) && number !== value) onChoose(number);
  };
  useEffect(() => {
    if (draft === undefined) return;
    const timer = setTimeout(() => {
      if (/^-?\d+$/.test(draft)) choose(draft);
    }, settleMs);
    return () => clearTimeout(timer);
  });
  return (
    <span className="field">
      <label htmlFor={id}>
        {label} <span className="bounds">{text.bounds(min, max)}</span>
      </label>
      <input
        id={id}
        type="number"
        inputMode="numeric"
        min={min}
        max={max}
        value={draft ?? String(value)}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={() => draft !== undefined && choose(draft)}
        onKeyDown={(event) => event.key === "Enter" && draft !== undefined && choose(draft)}
      />
    </span>
  );
}
