import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ClusterCommands } from "./cluster-protocol.ts";

/** What the processes of a fleet run. */
export type ClusterProgram = "meridian-cluster" | "polling-cluster";

type Pending = { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void };

/** One cluster in a process of its own. */
export class ClusterProcess {
  readonly tag: string;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #id = 0;

  constructor(tag: string, program: ClusterProgram) {
    this.tag = tag;
    this.#child = fork(fileURLToPath(new URL(`./${program}.js`, import.meta.url)), [], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#child.on("message", (message: { id: number; result?: unknown; error?: string }) => {
      const { resolve, reject } = this.#pending.get(message.id)!;
      this.#pending.delete(message.id);
      if (message.error === undefined) resolve(message.result as never);
      else reject(new Error(`cluster ${tag}: ${message.error}`));
    });
    this.#child.on("exit", () => {
      for (const { reject } of this.#pending.values()) reject(new Error(`the process of ${tag} ended`));
    });
  }

  call<Name extends keyof ClusterCommands>(
    name: Name,
    ...args: Parameters<ClusterCommands[Name]>
  ): ReturnType<ClusterCommands[Name]> {
    this.#id += 1;
    const id = this.#id;
    const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#child.send({ id, name, args });
    return answer as ReturnType<ClusterCommands[Name]>;
  }

  /** Halts the process: its servers are silent. */
  halt(): void {
    this.#child.kill("SIGSTOP");
  }

  /** Ends it at once: its servers refuse. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await gone;
  }
}
