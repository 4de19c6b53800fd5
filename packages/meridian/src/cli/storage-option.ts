import type { StorageKind } from "../fleet/child-protocol.ts";
import { lastText, type Invocation, type OptionDefinition } from "./command.ts";
import type { OptionReader } from "./option-values.ts";

/** `--storage KIND`, for commands that keep objects. */
export const storageOption: OptionDefinition = {
  name: "storage",
  value: "KIND",
  help: "lmdb, or memory with a log on the disk (default lmdb)",
};

/** What `--storage` and `--ephemeral` mean together; what is wrong is reported to `reader`. */
export function parseStorageKind(invocation: Invocation, reader: OptionReader): StorageKind {
  const text = lastText(invocation, storageOption.name);
  const kind = reader.oneOf(text, { option: "--storage", values: ["lmdb", "memory"], fallback: "lmdb" });
  if (!invocation.switches.has("ephemeral")) return kind;
  if (text === "lmdb") reader.problem("--ephemeral keeps nothing, so it goes with --storage memory only");
  return "ephemeral";
}
