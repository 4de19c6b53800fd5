import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { installed, output } from "../../../e2e/harness/command.ts";
import { origin } from "../bench-zone.ts";
import type { ServerDriver } from "../server-driver.ts";
import { benchKey } from "../tsig-key.ts";

export const knot: ServerDriver = {
  name: "Knot",
  absence: async () => ((await installed("knotd")) ? undefined : "knotd is missing (Debian: knot)"),
  version: async () => (await output("knotd", ["--version"])).trim(),
  can: { twoWorkers: true, updates: () => Promise.resolve(true) },
  async prepare({ folder, port, zoneFile, workers, cookies, updates }) {
    const config = path.join(folder, "knot.conf");
    const storage = path.join(folder, "storage");
    await mkdir(storage);
    // Never written back: Knot 3.2 has crashed when commits came while it wrote a file of a million names.
    await writeFile(
      config,
      `server:
  rundir: "${folder}"
  listen: 127.0.0.1@${port}
  udp-workers: ${workers}
  tcp-workers: ${workers}
  background-workers: 1
database:
  storage: "${storage}"
key:
  - id: ${benchKey.name}
    algorithm: ${benchKey.algorithm}
    secret: ${benchKey.secret}
${cookies ? "mod-cookies:\n  - id: default\n" : ""}acl:
  - id: update
    key: ${benchKey.name}
    action: update
template:
  - id: default
    storage: "${storage}"
    semantic-checks: off
    zonefile-sync: -1
    journal-content: changes
${cookies ? "    global-module: mod-cookies/default\n" : ""}zone:
  - domain: ${origin}
    file: "${zoneFile}"
${updates ? "    acl: update\n" : ""}`,
    );
    return { command: ["knotd", "-c", config] };
  },
};
