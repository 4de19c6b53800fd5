#!/usr/bin/env node
// Nothing is imported before the check: on an old Node the first newer built-in would end with a riddle.
const floor = [20, 19];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const tooOld = major < (floor[0] ?? 0) || (major === floor[0] && minor < (floor[1] ?? 0));
if (tooOld) {
  process.stderr.write(
    `meridian needs Node ${floor.join(".")} or newer, and this is ${process.versions.node}: install a newer one (https://nodejs.org)\n`,
  );
  process.exitCode = 1;
} else {
  import("./run-command.ts").then(
    ({ runCommand }) => runCommand(process.argv.slice(2)),
    (error: unknown) => {
      process.stderr.write(
        `meridian cannot be loaded; run "npm ci" and "npm run build" again: ${String(error)}\n`,
      );
      process.exitCode = 1;
    },
  );
}
export {};
