import { useEffect, useState } from "react";
import type { LabState } from "../lab-state.ts";

/** The newest state that the server has sent; `undefined` before the first. The browser connects again by itself. */
export function useLabState(): LabState | undefined {
  const [state, setState] = useState<LabState>();
  useEffect(() => {
    const source = new EventSource("/lab/events");
    source.addEventListener("state", (event: MessageEvent<string>) => {
      setState(JSON.parse(event.data) as LabState);
    });
    return () => source.close();
  }, []);
  return state;
}
