export { labBodyBytesMax, startLabServer } from "./http/lab-server.ts";
export type { LabServer, LabServerOptions } from "./http/lab-server.ts";
export type { PageFiles } from "./http/page-files.ts";
export type { LabApiServer } from "./lab/lab-copy.ts";
export { labUsers } from "./lab/lab-users.ts";
export type { LabUser } from "./lab/lab-users.ts";
export { labLimits } from "./lab-state.ts";
export type {
  ArmedFault,
  CopiedPodRow,
  CopyCounters,
  CopyState,
  HistoryRecord,
  LabEvent,
  LabEventCode,
  LabLogEntry,
  LabState,
  PodRow,
  ServerCounters,
  SmallControllerState,
  TruthState,
  Writer,
} from "./lab-state.ts";
export { parseLabCommand } from "./lab-commands.ts";
export type {
  LabCommand,
  LabCommandAnswer,
  LabCommandName,
  LabRefusal,
  LabRefusalCode,
} from "./lab-commands.ts";

/** The folder of the built page: what `startLabServer` is given the files of. */
export const pageFolder: URL = new URL("./site/", import.meta.url);
