import { writeFileSync } from "node:fs";
import type { TestEvent } from "node:test/reporters";

/** A test reporter that prints failures and skips in full, and writes the counts of single tests to a file. */
// oxlint-disable-next-line import/no-default-export -- the test runner loads a reporter by its default export
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const verbose = process.env["TEST_VERBOSE"] !== undefined;
  for await (const event of source) {
    if (event.type === "test:pass" || event.type === "test:fail") {
      const { name, details, skip, todo, file, line } = event.data;
      const skipped = skip !== undefined && skip !== false;
      // Its tests have told their own; one that is skipped whole has none that could.
      if (details.type === "suite" && event.type === "test:pass" && !skipped) continue;
      if (skipped) {
        counts.skipped += 1;
        yield `SKIPPED  ${name}${typeof skip === "string" ? `: ${skip}` : ""}\n`;
      } else if (event.type === "test:pass" && (todo === undefined || todo === false)) {
        counts.passed += 1;
        if (verbose) yield `ok  ${name} (${Math.round(details.duration_ms)} ms)\n`;
      } else if (event.type === "test:fail") {
        const error = (details as { error: Error }).error as Error & { code?: string; cause?: unknown };
        if (error.code === "ERR_TEST_FAILURE" && /subtests? failed/.test(String(error.message))) continue;
        counts.failed += 1;
        const cause = chain(error.cause ?? error.message);
        yield `FAILED  ${name} (${file ?? ""}:${line ?? ""})\n${cause}\n\n`;
      }
    } else if (event.type === "test:diagnostic" && /MEASURED/.test(event.data.message)) {
      yield `${event.data.message}\n`;
    } else if (event.type === "test:stdout" || event.type === "test:stderr") {
      yield event.data.message;
    }
  }
  const file = process.env["TEST_COUNTS_FILE"];
  if (file !== undefined) writeFileSync(file, JSON.stringify(counts));
}

/** An error with all its causes; what is wrong usually stands in the last one. */
function chain(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : JSON.stringify(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${chain(error.cause)}`;
}
