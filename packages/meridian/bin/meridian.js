#!/usr/bin/env node
// Checked in, since npm links a command at install, before anything is built.
import("../dist/main.js").catch((error) => {
  const built = error.code !== "ERR_MODULE_NOT_FOUND";
  process.stderr.write(
    built ? `${error.stack}\n` : `meridian is not built yet; run "npm run build" (${error.message})\n`,
  );
  process.exitCode = 1;
});
