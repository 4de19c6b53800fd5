import { labLimits } from "../lab-state.ts";

/** Somebody who comes to the API server out of the lab, and what the lab needs them to be allowed. */
export interface LabUser {
  readonly name: string;
  /**
   * `write pods`: create, update, patch and delete Pods. `copy pods`: list and watch them. `look`: list and watch them, the paths
   * below `/meridian/`, compaction included.
   */
  readonly may: "write pods" | "copy pods" | "look";
}

/** Whoever sits before the page. */
export const pageUser = "lab-page";
/** The field manager of the Pods that the lab begins with: nobody has pressed a button for them. */
export const beginningManager = "lab-beginning";
/** The small controller: its name in the history is what marks its writes. */
export const controllerUser = "small-controller";
/** The lab itself, which shows the truth. What it asks is left out of the counters. */
export const lookerUser = "lab";

/** The names of copies, and of the users that they are to the server, so that it can tell them apart. */
export const copyNames: readonly string[] = Array.from(
  { length: labLimits.copies },
  (_, index) => `copy-${index + 1}`,
);

/** All of them: the API server must know a token of each. */
export const labUsers: readonly LabUser[] = [
  { name: pageUser, may: "write pods" },
  { name: controllerUser, may: "write pods" },
  { name: lookerUser, may: "look" },
  ...copyNames.map((name): LabUser => ({ name, may: "copy pods" })),
];
