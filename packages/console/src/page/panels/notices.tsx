import type { ReactNode } from "react";
import { useLabDesk } from "../stream/lab-desk.tsx";
import type { LabStream } from "../stream/use-lab-stream.ts";
import { useMessages } from "../text/messages-context.ts";
import { timeOfDay } from "../text/time-of-day.ts";

/** What is wrong between the page and its server. The place is always there, so that what comes into it is read out. */
export function Notices({ link, sinceMs }: Pick<LabStream, "link" | "sinceMs">): ReactNode {
  const text = useMessages();
  const { complaint, dismiss } = useLabDesk();
  return (
    <div className="notices" role="status">
      {link === "connecting" && <p className="notice">{text.connecting}</p>}
      {link === "away" && (
        <p className="notice notice-bad">{text.away(timeOfDay(text.language).format(sinceMs))}</p>
      )}
      {complaint !== undefined && (
        <p className="notice notice-bad">
          <strong>{text.complaintTitle}</strong>{" "}
          {complaint.kind === "away" ? text.serverAway : text.refusal(complaint.refusal)}{" "}
          <button type="button" className="button button-quiet" onClick={dismiss}>
            {text.dismiss}
          </button>
        </p>
      )}
    </div>
  );
}
