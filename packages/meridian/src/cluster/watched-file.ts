import { readFile, stat } from "node:fs/promises";
import type { WatchedFile } from "@meridian/dns";
import { systemCodeOf } from "../fleet/private-file.ts";

/**
 * A file of this machine. Its stamp has the inode, so that one that was moved into place counts as another, whatever its
 * times say; a mounted ConfigMap or Secret changes in this way.
 */
export function watchedFile(path: string): WatchedFile {
  return {
    path,
    async stamp() {
      try {
        const { ino, size, mtimeMs, ctimeMs } = await stat(path);
        return [ino, size, mtimeMs, ctimeMs].join(" ");
      } catch (error) {
        if (systemCodeOf(error) === "ENOENT") return undefined;
        throw error;
      }
    },
    read: () => readFile(path),
  };
}
