import type { Runtime } from "@meridian/runtime";
import { labEndpoint, type LabListen } from "./lab-listen.ts";
import { readPage } from "./read-page.ts";
import { startLab, type RunningLab } from "./start-lab.ts";

/**
 * Starts the lab beside a fleet. Without an address of its own it takes another port where the usual one is taken; the fleet is
 * worth more than the lab, so what keeps it from starting is reported and no failure.
 */
export async function openLabBeside(
  runtime: Runtime,
  options: { readonly listen: LabListen; readonly complain: (line: string) => void },
): Promise<RunningLab | undefined> {
  const { complain, listen } = options;
  if (listen === "off") return undefined;
  const page = await readPage();
  try {
    if (listen !== "default") return await startLab(runtime, { listen, page });
    return await startLab(runtime, { listen: labEndpoint, page }).catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code !== "AddressInUse") throw error;
      return startLab(runtime, { listen: { ...labEndpoint, port: 0 }, page });
    });
  } catch (error) {
    complain(`  no informer lab: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
