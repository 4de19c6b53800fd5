import { useId, useState } from "react";
import type { ReactNode } from "react";
import { labLimits } from "../../lab-state.ts";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CounterList } from "../parts/counter-list.tsx";
import { NumberField } from "../parts/number-field.tsx";
import { Thought } from "../parts/thought.tsx";
import { useLabDesk } from "../stream/lab-desk.tsx";
import { useMessages } from "../text/messages-context.ts";

/** The only other writer: what it trusts, what it wants, and what it makes of that. */
export function SmallController({ state }: { readonly state: LabState }): ReactNode {
  const text = useMessages();
  const { send } = useLabDesk();
  const { controller, copies } = state;
  const { running } = controller;
  const [wish, setWish] = useState<{ readonly copy?: string; readonly desired?: number }>({});
  const selectId = useId();

  const names = copies.map(({ name }) => name);
  const trusted = running ? controller.copy : (wish.copy ?? controller.copy);
  const copy = trusted !== null && names.includes(trusted) ? trusted : (names[0] ?? "");
  const desired = running ? controller.desired : (wish.desired ?? controller.desired);
  const choose = (next: { readonly copy?: string; readonly desired?: number }): void => {
    setWish({ ...wish, ...next });
    if (running) void send([{ do: "startController", copy, desired, ...next }]);
  };
  return (
    <section className="panel controller" aria-labelledby="controller-title">
      <header className="panel-head">
        <h2 id="controller-title">{text.controller}</h2>
        <p className="readout">{running ? text.running : text.stopped}</p>
      </header>
      <p className="note">{text.controllerNote}</p>
      <div className="row">
        <span className="field">
          <label htmlFor={selectId}>{text.trusts}</label>
          <select id={selectId} value={copy} onChange={(event) => choose({ copy: event.target.value })}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
        <NumberField
          label={text.wants}
          value={desired}
          min={0}
          max={labLimits.desired}
          onChoose={(number) => choose({ desired: number })}
        />
        <ActionButton
          action="controller"
          tone="primary"
          label={text.actionOn(running ? text.stop : text.start, text.controller)}
          commands={running ? [{ do: "stopController" }] : [{ do: "startController", copy, desired }]}
        >
          {running ? text.stop : text.start}
        </ActionButton>
      </div>
      <Thought state={state} />
      <CounterList
        counters={[
          [text.controllerCounters.counts, controller.counts],
          [text.controllerCounters.writes, controller.writes],
          [text.controllerCounters.refusals, controller.refusals],
        ]}
      />
    </section>
  );
}
