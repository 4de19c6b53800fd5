import { writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "../../../e2e/harness/command.ts";
import { peerAbsence, peerProgram } from "../../../e2e/harness/peer-programs.ts";
import { origin } from "../bench-zone.ts";
import type { ServerDriver } from "../server-driver.ts";

/** CoreDNS with its `file` plugin. It has no cookies. */
export const coredns: ServerDriver = {
  name: "CoreDNS",
  absence: () => peerAbsence("coredns"),
  async version() {
    return (await output(await peerProgram("coredns"), ["-version"])).split("\n")[0]!;
  },
  can: { twoWorkers: true, updates: () => Promise.resolve(false) },
  async prepare({ folder, port, zoneFile, workers }) {
    const config = path.join(folder, "Corefile");
    await writeFile(
      config,
      `${origin}:${port} {
  bind 127.0.0.1
  file ${zoneFile} ${origin} {
    reload 0
  }
  ${workers > 1 ? `multisocket ${workers}` : ""}
}
`,
    );
    return {
      command: [await peerProgram("coredns"), "-quiet", "-conf", config],
      env: { ...process.env, GOMAXPROCS: String(workers) },
    };
  },
};
