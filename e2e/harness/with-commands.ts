import assert from "node:assert/strict";
import { test } from "node:test";
import { installed } from "./command.ts";

/** Defines tests where all commands that they need are installed; else one that is skipped, and fails with CI=true. */
export async function withCommands(
  needed: readonly string[],
  { subject, define }: { readonly subject: string; readonly define: () => void },
): Promise<void> {
  const missing: string[] = [];
  for (const command of needed) if (!(await installed(command))) missing.push(command);
  if (missing.length === 0) {
    define();
    return;
  }
  test(subject, (t) => {
    assert.notEqual(process.env["CI"], "true", `${missing.join(", ")} not installed`);
    t.skip(`${missing.join(", ")} not installed`);
  });
}
