import type { BefallenEvent, EventFault } from "@meridian/controller/faults";
import type { ArmedFault, LabEvent } from "../lab-state.ts";
import { parseEventLine } from "./event-line.ts";
import type { EventLine } from "./event-line.ts";

/** What the wire did to an event, by the code that it has in the log. */
export interface WireIncident {
  readonly code: Extract<LabEvent, { readonly version: number; readonly ms: number }>["code"];
  readonly event: EventLine;
  readonly ms: number;
}

/** What the log tells of a fault; `undefined` where the line cannot be read. Pure. */
export function wireIncident({ fault, line, over }: BefallenEvent): WireIncident | undefined {
  const event = parseEventLine(line);
  if (event === undefined) return undefined;
  switch (fault.do) {
    case "break":
      return { code: "eventLost", event, ms: 0 };
    case "drop":
      return { code: "eventLostSilently", event, ms: 0 };
    case "double":
      return { code: "eventDoubled", event, ms: 0 };
    case "delay":
      return { code: over ? "eventDelivered" : "eventDelayed", event, ms: fault.ms };
  }
}

/** What has to befall an event for a fault that was armed. Pure. */
export function eventFault({ fault, ms }: ArmedFault): EventFault {
  switch (fault) {
    case "lose":
      return { do: "break" };
    case "loseSilently":
      return { do: "drop" };
    case "double":
      return { do: "double" };
    case "delay":
      return { do: "delay", ms };
  }
}
