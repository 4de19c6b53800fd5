import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { pageFolder, type PageFiles } from "@meridian/console";

/** The files of the console's page as it was built; none where it was not. */
export async function readPage(folder: string = fileURLToPath(pageFolder)): Promise<PageFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path).split(sep).join("/"), await readFile(path)] as const;
      }),
  );
  return new Map(files);
}
