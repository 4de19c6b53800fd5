import { writeFile } from "node:fs/promises";
import path from "node:path";
import { installed, output } from "../../../e2e/harness/command.ts";
import { origin } from "../bench-zone.ts";
import type { ServerDriver } from "../server-driver.ts";
import { benchKey } from "../tsig-key.ts";

export const bind: ServerDriver = {
  name: "BIND",
  absence: async () => ((await installed("named")) ? undefined : "named is missing (Debian: bind9)"),
  version: async () => (await output("named", ["-v"])).trim(),
  can: { twoWorkers: true, updates: () => Promise.resolve(true) },
  async prepare({ folder, port, zoneFile, workers, updates }) {
    const config = path.join(folder, "named.conf");
    await writeFile(
      config,
      `options {
  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; minimal-responses yes; allow-query { any; }; notify no;
};
controls { };
key ${benchKey.name} { algorithm ${benchKey.algorithm}; secret "${benchKey.secret}"; };
zone "${origin}" {
  type primary; file "${zoneFile}"; masterfile-format text; journal "${folder}/zone.jnl";
  ${updates ? `allow-update { key ${benchKey.name}; };` : ""}
};
`,
    );
    return { command: ["named", "-f", "-n", String(workers), "-c", config] };
  },
};
