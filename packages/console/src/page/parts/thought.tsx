import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { useMessages } from "../text/messages-context.ts";
import { controllerThought } from "../view/controller-thought.ts";
import { StaleSign } from "./stale-sign.tsx";

/** What the small controller makes of what it sees. */
export function Thought({ state }: { readonly state: LabState }): ReactNode {
  const text = useMessages();
  const thought = controllerThought(state);
  return (
    <p className="thought" data-mood={thought.state}>
      {thought.state === "wrong" && <StaleSign />} {text.thought(thought)}
    </p>
  );
}
