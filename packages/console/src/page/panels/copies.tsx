import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { useMessages } from "../text/messages-context.ts";
import { Copy } from "./copy.tsx";

/** All copies, beside each other where there is room. */
export function Copies({ state }: { readonly state: LabState }): ReactNode {
  const text = useMessages();
  return (
    <section className="copies" aria-labelledby="copies-title">
      <header className="panel-head">
        <h2 id="copies-title">{text.copies}</h2>
        <ActionButton action="addCopy" commands={[{ do: "addCopy" }]}>
          {text.addCopy}
        </ActionButton>
      </header>
      {state.copies.length === 0 && <p className="note">{text.noCopies}</p>}
      <div className="copy-grid">
        {state.copies.map((copy) => (
          <Copy key={copy.name} copy={copy} state={state} />
        ))}
      </div>
    </section>
  );
}
