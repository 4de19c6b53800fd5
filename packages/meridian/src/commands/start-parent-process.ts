import { nodeRuntime } from "@meridian/runtime/node";
import { startParent } from "../cluster/parent.ts";
import type { ChildRole, ParentRole } from "../fleet/child-protocol.ts";
import { pinoLogger } from "../pino-logger.ts";

/** Makes this process the parent DNS server. @throws NetworkError */
export async function startParentProcess(
  role: ParentRole & Pick<ChildRole, "logLevel">,
): Promise<AsyncDisposable> {
  const log = pinoLogger({ format: "json", level: role.logLevel });
  return startParent(nodeRuntime({ dataFolder: ".", log }), role);
}
