/** The parts of the controller bench, in the order of the report. */
export const controllerSectionNames = [
  "controller-sync",
  "controller-catch-up",
  "controller-live",
  "controller-half-open",
  "controller-reconcile",
] as const;

export type ControllerSectionName = (typeof controllerSectionNames)[number];
