import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installed, output } from "../../../e2e/harness/command.ts";
import { origin } from "../bench-zone.ts";
import type { ServerDriver } from "../server-driver.ts";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../..");
const program = path.join(root, ".cache/peers/coredns");

/** CoreDNS with its `file` plugin. It has no cookies. */
export const coredns: ServerDriver = {
  name: "CoreDNS",
  async absence() {
    if (existsSync(program) || (await installed("go"))) return undefined;
    return "neither a built CoreDNS (.cache/peers/coredns) nor Go to build it";
  },
  async version() {
    await build();
    return (await output(program, ["-version"])).split("\n")[0]!;
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
      command: [program, "-quiet", "-conf", config],
      env: { ...process.env, GOMAXPROCS: String(workers) },
    };
  },
};

/** Builds what is not built yet; Go itself knows what has changed. */
async function build(): Promise<void> {
  if (!(await installed("go"))) return;
  if (!existsSync(program)) console.error("building CoreDNS: a minute or two with an empty Go cache");
  await mkdir(path.dirname(program), { recursive: true });
  await output("go", ["build", "-C", path.join(root, "e2e/peers/coredns"), "-o", program, "."], {
    timeoutMs: 15 * 60_000,
  });
}
