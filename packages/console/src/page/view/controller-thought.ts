import type { LabState } from "../../lab-state.ts";

/** What the small controller believes, and how that is in truth. */
export interface ControllerThought {
  readonly state: "never" | "stopped" | "right" | "wrong";
  readonly copy: string;
  readonly seen: number;
  readonly version: number;
  readonly desired: number;
  /** Pods that there really are. */
  readonly actual: number;
  /** Writes that its copy has not seen now. */
  readonly behind: number;
  readonly decides: "create" | "delete" | "nothing";
}

/** What the controller thinks now. Pure. */
export function controllerThought(
  state: Pick<LabState, "controller" | "copies" | "truth">,
): ControllerThought {
  const { controller, copies, truth } = state;
  const { desired, last, running } = controller;
  const copy = copies.find(({ name }) => name === controller.copy);
  const seen = last?.seen ?? 0;
  const decides = seen < desired ? "create" : seen > desired ? "delete" : "nothing";
  const mood = copy?.stale === true ? "wrong" : "right";
  return {
    state: running ? (last === null ? "never" : mood) : "stopped",
    copy: controller.copy ?? "",
    seen,
    version: last?.version ?? 0,
    desired,
    actual: truth.pods.length,
    behind: copy?.behind ?? 0,
    decides,
  };
}
