import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { installed, run } from "../../../e2e/harness/command.ts";
import { origin } from "../bench-zone.ts";
import type { ServerDriver } from "../server-driver.ts";

/** Its cookies are on by default, and it answers a CNAME without its target. */
export const gdnsd: ServerDriver = {
  name: "gdnsd",
  absence: async () => ((await installed("gdnsd")) ? undefined : "gdnsd is missing (Debian: gdnsd)"),
  version: async () => /gdnsd version \S+/.exec(Object.values(await run("gdnsd", [])).join(""))?.[0] ?? "",
  can: { twoWorkers: true, updates: () => Promise.resolve(false) },
  async prepare({ folder, port, zoneFile, workers }) {
    await mkdir(path.join(folder, "zones"));
    await symlink(zoneFile, path.join(folder, "zones", origin));
    await writeFile(
      path.join(folder, "config"),
      `options => {
  listen => { 127.0.0.1 => { udp_threads => ${workers}, tcp_threads => ${workers} } }
  dns_port => ${port}
  run_dir => "${folder}/run"
  state_dir => "${folder}/state"
}
`,
    );
    return { command: ["gdnsd", "-c", folder, "start"] };
  },
};
