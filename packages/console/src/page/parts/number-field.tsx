import { useEffect, useId, useState } from "react";
import type { ReactNode } from "react";

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

/** A whole number. It counts when typing is over, and falls back to what holds where that is no number within the bounds. */
export function NumberField({ label, max, min, onChoose, value }: NumberFieldProps): ReactNode {
  const id = useId();
  const [draft, setDraft] = useState<string>();
  const choose = (text: string): void => {
    const number = Number(text);
    setDraft(undefined);
    if (/^\d+$/.test(text) && number >= min && number <= max && number !== value) onChoose(number);
  };
  useEffect(() => {
    if (draft === undefined) return;
    const timer = setTimeout(() => {
      if (/^\d+$/.test(draft)) choose(draft);
    }, settleMs);
    return () => clearTimeout(timer);
  });
  return (
    <span className="field">
      <label htmlFor={id}>{label}</label>
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
