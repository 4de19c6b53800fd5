import type { ReactNode } from "react";

/** Numbers with their names. */
export function CounterList({
  counters,
}: {
  readonly counters: readonly (readonly [name: string, value: number])[];
}): ReactNode {
  return (
    <dl className="counters">
      {counters.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
