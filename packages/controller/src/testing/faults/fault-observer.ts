import type { EventFault } from "./fault.ts";

/** A fault and the event of a watch that it befalls. */
export interface BefallenEvent {
  readonly fault: EventFault;
  /** The event as the server sent it, with its line feed. */
  readonly line: Uint8Array;
  /** False: a delay that has only begun; it is told once more when the event goes on. */
  readonly over: boolean;
}

/** Who is told of what a box does. Both are called in the middle of it, so they must not throw. */
export interface FaultObserver {
  /** The mode, the watches that are open or the events held back may be others now. Comes often. */
  readonly onChange?: () => void;
  readonly onEventFault?: (befallen: BefallenEvent) => void;
}
