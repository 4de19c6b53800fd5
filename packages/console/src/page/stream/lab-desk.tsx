import { createContext, useCallback, useContext, useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { LabCommand, LabRefusal } from "../../lab-commands.ts";
import { sendCommand } from "./send-command.ts";

/** Why the newest command was not carried out. */
export type Complaint =
  { readonly kind: "refused"; readonly refusal: LabRefusal } | { readonly kind: "away" };

/** Where the buttons of the page bring their commands. */
export interface LabDesk {
  /** Sends commands one after another; false when one of them was not carried out, and those after it were not sent. */
  readonly send: (commands: readonly LabCommand[]) => Promise<boolean>;
  readonly complaint: Complaint | undefined;
  readonly dismiss: () => void;
}

const DeskContext = createContext<LabDesk>({
  send: () => Promise.resolve(false),
  complaint: undefined,
  dismiss: () => {},
});

/** The desk of the page around. */
export function useLabDesk(): LabDesk {
  return useContext(DeskContext);
}

/** Gives everything in it a desk, and remembers the last complaint. */
export function LabDeskProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [complaint, setComplaint] = useState<Complaint>();
  const send = useCallback(async (commands: readonly LabCommand[]): Promise<boolean> => {
    for (const command of commands) {
      const failed = await complaintAbout(command);
      setComplaint(failed);
      if (failed !== undefined) return false;
    }
    return true;
  }, []);
  const dismiss = useCallback(() => setComplaint(undefined), []);
  const desk = useMemo(() => ({ send, complaint, dismiss }), [send, complaint, dismiss]);
  return <DeskContext value={desk}>{children}</DeskContext>;
}

async function complaintAbout(command: LabCommand): Promise<Complaint | undefined> {
  try {
    const answer = await sendCommand(command);
    return "refusal" in answer ? { kind: "refused", refusal: answer.refusal } : undefined;
  } catch {
    return { kind: "away" };
  }
}
