import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { MeridianError } from "../meridian-error.ts";

/** How systems say that there is no such file; ESRCH: no such process, for files of `/proc`. */
const absent: readonly string[] = ["ENOENT", "ENOTDIR", "ESRCH"];

/** The text of a file, or `undefined` where there is none. @throws MeridianError `BadFile` */
export async function readTextIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = systemCodeOf(error);
    if (absent.includes(code)) return undefined;
    throw new MeridianError(
      "BadFile",
      `cannot read ${path} (${code}); make it a file that you may read, or remove it`,
      { cause: error },
    );
  }
}

/**
 * Replaces a file that only its owner may read: afterwards it holds the old or the new text, also after a crash.
 *
 * @throws MeridianError `FolderUnusable`
 */
export async function replacePrivateFile(path: string, text: string | Uint8Array): Promise<void> {
  try {
    await replace(path, text);
  } catch (error) {
    const remedy =
      systemCodeOf(error) === "ENOSPC" ? "free space on its disk" : "make its folder writable for you";
    throw new MeridianError(
      "FolderUnusable",
      `cannot write ${path} (${systemCodeOf(error)}); ${remedy}, or use another folder with --data`,
      { cause: error },
    );
  }
}

async function replace(path: string, text: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The system's word for a failure, such as `EACCES`; the whole failure where there is none. */
export function systemCodeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

/** Removes a file; an absent one is fine. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}
