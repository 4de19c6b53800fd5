import { open, type FileHandle } from "node:fs/promises";
import { systemCodeOf } from "../fleet/private-file.ts";
import { MeridianError } from "../meridian-error.ts";

/** Where the lines of the query log go: a file that may be moved away while it is written, or standard output. */
export class QueryLogFile implements AsyncDisposable {
  readonly #path: string;
  #handle: FileHandle | undefined;

  private constructor(path: string, handle: FileHandle | undefined) {
    this.#path = path;
    this.#handle = handle;
  }

  /** @param path `-` is standard output. @throws MeridianError `BadFile` */
  static async open(path: string): Promise<QueryLogFile> {
    return new QueryLogFile(path, path === "-" ? undefined : await openToAppend(path));
  }

  /** Rejects when they cannot be written. */
  async write(lines: string): Promise<void> {
    if (this.#handle !== undefined) await this.#handle.appendFile(lines);
    else
      await new Promise<void>((resolve, reject) =>
        process.stdout.write(lines, (error) => (error ? reject(error) : resolve())),
      );
  }

  /** Goes on in a new file where the old one was moved away. @throws MeridianError `BadFile`; then the old one stays */
  async reopen(): Promise<void> {
    if (this.#handle === undefined) return;
    const old = this.#handle;
    this.#handle = await openToAppend(this.#path);
    await old.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

async function openToAppend(path: string): Promise<FileHandle> {
  try {
    return await open(path, "a");
  } catch (error) {
    throw new MeridianError(
      "BadFile",
      `cannot write the query log ${path} (${systemCodeOf(error)}); name a file in a folder that this user may write`,
      { cause: error },
    );
  }
}
