import { writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "../../../e2e/harness/command.ts";
import { meridianMain } from "../../../e2e/harness/fleet.ts";
import { origin } from "../bench-zone.ts";
import type { ServerCommand, ServerDriver, ServerSettings } from "../server-driver.ts";
import { benchKey } from "../tsig-key.ts";

/** `meridian dns` with the datapath of choice: `mmsg` (threads, many datagrams per system call) or plain `dgram`. */
export function meridian(datapath: "mmsg" | "dgram"): ServerDriver {
  return {
    name: datapath === "mmsg" ? "Meridian" : "Meridian (dgram)",
    async absence() {
      if ((await knownOptions()).has("datapath") || datapath === "dgram") return undefined;
      return "this `meridian dns` has no --datapath";
    },
    version: async () => `node ${process.version}`,
    can: {
      // One socket per thread on one port is what plain dgram cannot have on Node 20.
      twoWorkers: datapath === "mmsg",
      updates: async () => (await knownOptions()).has("config"),
    },
    async prepare(settings) {
      const { port, zoneFile, workers } = settings;
      if (settings.updates) return withConfig(settings, datapath);
      const options = await knownOptions();
      return {
        command: [
          ...[process.execPath, meridianMain, "dns"],
          ...["--zone-file", zoneFile, "--origin", origin, "--listen", `127.0.0.1:${port}`],
          ...(options.has("datapath") ? ["--datapath", datapath] : []),
          ...(options.has("workers") ? ["--workers", String(workers)] : []),
          // Off on all sides: one client asks as fast as it can.
          ...(options.has("no-rate-limit") ? ["--no-rate-limit"] : []),
        ],
      };
    },
  };
}

/** Keys and what they may change stand in a configuration file (JSON is YAML). */
async function withConfig(
  { folder, port, zoneFile, workers }: ServerSettings,
  datapath: string,
): Promise<ServerCommand> {
  const config = path.join(folder, "dns.yaml");
  const zone = {
    origin,
    file: zoneFile,
    journal: path.join(folder, "journal"),
    updates: [{ key: benchKey.name, match: "subdomain" }],
  };
  await writeFile(
    config,
    JSON.stringify({
      listen: [`127.0.0.1:${port}`],
      ...{ workers, datapath, rateLimit: "off", keys: [benchKey], zones: [zone] },
    }),
  );
  return { command: [process.execPath, meridianMain, "dns", "--config", config] };
}

let known: Promise<ReadonlySet<string>> | undefined;

/** The names of the options that `meridian dns --help` lists, asked for once. */
function knownOptions(): Promise<ReadonlySet<string>> {
  known ??= output(process.execPath, [meridianMain, "dns", "--help"]).then(
    (help) => new Set([...help.matchAll(/--([a-z][a-z-]*)/g)].map((match) => match[1]!)),
  );
  return known;
}
