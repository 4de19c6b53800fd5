import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "../harness/eventually.ts";
import { LoggedProcess } from "../harness/logged-process.ts";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const program = path.join(root, "packages/meridian/dist/main.js");

/** `meridian lab` as a process. */
export class LabProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: LoggedProcess;
  readonly #folder: string;

  private constructor(url: string, process: LoggedProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  /** Starts the lab on a port, by default a free one. */
  static async start(port = 0): Promise<LabProcess> {
    const folder = await mkdtemp(path.join(tmpdir(), "meridian-lab-"));
    const log = path.join(folder, "log");
    const command = [process.execPath, program, "lab", "--listen", `127.0.0.1:${port}`];
    const running = LoggedProcess.start(command, log);
    const url = await eventually(
      "the lab says where it is",
      async () => {
        const said = await readFile(log, "utf8");
        const found = /at (http:\/\/\S+)/.exec(said)?.[1];
        if (found === undefined) throw new Error(said || "it has said nothing");
        return found;
      },
      { withinMs: 30_000 },
    );
    return new LabProcess(url, running, folder);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end("SIGTERM");
    await rm(this.#folder, { recursive: true, force: true });
  }
}
