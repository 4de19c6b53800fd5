import { useState } from "react";
import type { ReactNode } from "react";
import type { LabCommand } from "../../lab-commands.ts";
import { useLabDesk } from "../stream/lab-desk.tsx";

/** What a button says and asks for. */
export interface ActionButtonProps {
  /** What it is in the page's code: the focus goes on to another button of the same action. */
  readonly action: string;
  readonly commands: readonly LabCommand[] | (() => readonly LabCommand[]);
  readonly children: string;
  /** The whole name, where the words on the button do not say what it acts on. It has to contain them. */
  readonly label?: string;
  readonly tone?: "plain" | "primary" | "quiet" | "danger";
  /** It is not its turn. It can have the focus all the same. */
  readonly blocked?: boolean;
  readonly onDone?: () => void;
}

/** A button that asks the lab to do something. It can be pressed again while it waits, and keeps the focus. */
export function ActionButton(props: ActionButtonProps): ReactNode {
  const { action, blocked = false, children, commands, label, onDone, tone = "plain" } = props;
  const { send } = useLabDesk();
  const [waiting, setWaiting] = useState(0);
  const press = async (): Promise<void> => {
    setWaiting((before) => before + 1);
    const done = await send(typeof commands === "function" ? commands() : commands);
    setWaiting((before) => before - 1);
    if (done) onDone?.();
  };
  return (
    <button
      type="button"
      className={`button button-${tone}`}
      data-action={action}
      aria-label={label}
      aria-disabled={blocked || undefined}
      data-busy={waiting > 0}
      onClick={() => blocked || void press()}
    >
      {children}
    </button>
  );
}
