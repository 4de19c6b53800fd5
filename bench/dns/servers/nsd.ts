import { writeFile } from "node:fs/promises";
import path from "node:path";
import { installed, run } from "../../../e2e/harness/command.ts";
import { origin } from "../bench-zone.ts";
import type { ServerDriver } from "../server-driver.ts";

export const nsd: ServerDriver = {
  name: "NSD",
  absence: async () => ((await installed("nsd")) ? undefined : "nsd is missing (Debian: nsd)"),
  version: async () => (await run("nsd", ["-v"])).stderr.split("\n")[0]!,
  can: { twoWorkers: true, updates: () => Promise.resolve(false) },
  async prepare({ folder, port, zoneFile, workers, cookies }) {
    const config = path.join(folder, "nsd.conf");
    await writeFile(
      config,
      `server:
  server-count: ${workers}
  ip-address: 127.0.0.1@${port}
  zonesdir: "${folder}"
  database: ""
  username: ""
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  xfrdir: "${folder}"
  minimal-responses: yes
  rrl-ratelimit: 0
  answer-cookie: ${cookies ? "yes" : "no"}
  tcp-count: 1000
remote-control:
  control-enable: no
zone:
  name: ${origin}
  zonefile: "${zoneFile}"
`,
    );
    return { command: ["nsd", "-d", "-c", config] };
  },
};
