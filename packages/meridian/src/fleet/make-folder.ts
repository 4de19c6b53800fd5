import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Creates a private folder and what is missing above it. One folder at a time: Node's own recursive form tries for ever
 * where a file system answers ENOENT to the last step, as /proc does.
 *
 * @throws the system's error for the first folder that cannot be made
 */
export async function makePrivateFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await isFolder(at)) && dirname(at) !== at; at = dirname(at))
    missing.push(at);
  for (const folder of missing.toReversed()) {
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      if (!(await isFolder(folder))) throw error; // another start may have made it meanwhile
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
