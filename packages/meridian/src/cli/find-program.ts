import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Whether a program can be started by its name. */
export async function findProgram(name: string, path: string | undefined): Promise<boolean> {
  for (const folder of (path ?? "").split(delimiter)) {
    if (folder === "") continue;
    try {
      await access(join(folder, name), constants.X_OK);
      return true;
    } catch {
      // Not in this folder.
    }
  }
  return false;
}
