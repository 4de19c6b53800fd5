import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { output } from "../e2e/harness/command.ts";
import { dig } from "../e2e/harness/dig.ts";
import { eventually } from "../e2e/harness/eventually.ts";
import { meridianMain } from "../e2e/harness/fleet.ts";
import { summary } from "./summary.ts";
import type { Summary } from "./summary.ts";

// CPU per query of `meridian dns` beside BIND's named: one zone file, one load (dnsperf), rounds in turn.

export interface ServerFigures {
  readonly server: string;
  readonly cpuMicrosecondsPerQuery: Summary;
  readonly queriesPerSecond: Summary;
  readonly lost: number;
}

const zoneName = "cloud.example.com";
const hosts = 10_000;

function zoneText(): string {
  const lines = [
    `$ORIGIN ${zoneName}.`,
    "$TTL 30",
    `@ IN SOA ns1 hostmaster 1 3600 600 86400 30`,
    "@ IN NS ns1",
    "@ IN NS ns2",
    "ns1 IN A 127.0.0.1",
    "ns2 IN A 127.0.0.2",
  ];
  for (let n = 0; n < hosts; n++) {
    lines.push(`host${n} IN A 192.0.2.${(n % 250) + 1}`, `host${n} IN A 198.51.100.${(n % 250) + 1}`);
  }
  return `${lines.join("\n")}\n`;
}

const namedConfig = (folder: string, port: number): string => `options {
  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; minimal-responses yes; allow-query { any; };
};
controls { };
zone "${zoneName}" { type primary; file "zone"; };
`;

export async function measureDnsCpu(options: {
  readonly rounds: number;
  readonly seconds: number;
}): Promise<ServerFigures[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-bench-"));
  try {
    await writeFile(path.join(folder, "zone"), zoneText());
    const queries = Array.from({ length: 50_000 }, (_, n) => `host${(n * 7919) % hosts}.${zoneName} A`).join(
      "\n",
    );
    await writeFile(path.join(folder, "queries"), `${queries}\n`);
    await writeFile(path.join(folder, "named.conf"), namedConfig(folder, 5391));
    const servers: { readonly name: string; readonly port: number; readonly command: readonly string[] }[] = [
      {
        name: "meridian dns",
        port: 5390,
        command: [
          process.execPath,
          meridianMain,
          "dns",
          "--zone-file",
          path.join(folder, "zone"),
          "--origin",
          zoneName,
          "--listen",
          "127.0.0.1:5390",
        ],
      },
      {
        name: "BIND named",
        port: 5391,
        command: ["named", "-f", "-n", "1", "-c", path.join(folder, "named.conf")],
      },
    ];
    const running: ChildProcess[] = [];
    try {
      for (const server of servers) {
        const child = spawn("taskset", ["-c", "0", ...server.command], { stdio: "ignore" });
        running.push(child);
        await eventually(`${server.name} answers`, async () => {
          const answer = await dig({ server: "127.0.0.1", port: server.port, name: `host1.${zoneName}` });
          if (answer.addresses.length !== 2) throw new Error(answer.raw);
        });
      }
      const cpu = servers.map((): number[] => []);
      const rate = servers.map((): number[] => []);
      const lost = servers.map(() => 0);
      for (let round = -1; round < options.rounds; round++) {
        for (const [index, server] of servers.entries()) {
          const pid = running[index]!.pid!;
          const before = await cpuSeconds(pid);
          const printed = await output("taskset", [
            ...[
              "-c",
              "1",
              "dnsperf",
              "-s",
              "127.0.0.1",
              "-p",
              String(server.port),
              "-d",
              path.join(folder, "queries"),
            ],
            ...["-e", "-c", "8", "-T", "1", "-q", "100", "-l", String(options.seconds)],
          ]);
          const used = (await cpuSeconds(pid)) - before;
          const completed = Number(/Queries completed:\s+(\d+)/.exec(printed)![1]);
          if (round < 0) continue; // the first round warms caches and the JIT compiler
          cpu[index]!.push((used / completed) * 1e6);
          rate[index]!.push(Number(/Queries per second:\s+([\d.]+)/.exec(printed)![1]));
          lost[index]! += Number(/Queries lost:\s+(\d+)/.exec(printed)![1]);
        }
      }
      return servers.map((server, index) => ({
        server: server.name,
        cpuMicrosecondsPerQuery: summary(cpu[index]!),
        queriesPerSecond: summary(rate[index]!),
        lost: lost[index]!,
      }));
    } finally {
      await Promise.all(
        running.map((child) => {
          const closed = new Promise((resolve) => child.on("close", resolve));
          child.kill("SIGTERM");
          return closed;
        }),
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** User and system time of a process with all its threads, in seconds (Linux, 100 ticks a second). */
async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
