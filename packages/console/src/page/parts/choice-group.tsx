import { useId } from "react";
import type { ReactNode } from "react";

/** The choices, the one that is taken, and who hears of another. */
export interface ChoiceGroupProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly text: string; readonly lang?: string }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

/** A few choices beside each other, one of them taken. */
export function ChoiceGroup<T extends string>(props: ChoiceGroupProps<T>): ReactNode {
  const { label, onChoose, options, value } = props;
  const name = useId();
  return (
    <fieldset className="choices">
      <legend className="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="choice" lang={option.lang}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
