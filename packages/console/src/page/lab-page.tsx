import type { ReactNode } from "react";
import { useLabState } from "./use-lab-state.ts";

/** The whole page: what the server says, as it is. */
export function LabPage(): ReactNode {
  const state = useLabState();
  return (
    <main>
      <h1>Informer lab</h1>
      <pre>{state === undefined ? "…" : JSON.stringify(state, undefined, 2)}</pre>
    </main>
  );
}
