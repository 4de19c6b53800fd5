import { spawn } from "node:child_process";
import { run } from "./command.ts";

/**
 * A network namespace of its own for the test process: loopback only, where the test is root and may use port 53,
 * drop packets between two addresses, and disturb nobody. Linux; needs unprivileged user namespaces or root.
 */
const marker = "MERIDIAN_E2E_NAMESPACE";

/** True inside the namespace. */
export const inNamespace: boolean = process.env[marker] !== undefined;

/**
 * Starts this test file again inside a new namespace and waits for it, unless this already is the second start.
 * Returns true in the inside process: only there the tests are defined.
 */
export async function enterNamespace(): Promise<boolean> {
  if (inNamespace) return true;
  const probe = await run("unshare", ["-rn", "sh", "-c", "ip link set lo up && nft list ruleset"]).catch(
    () => undefined,
  );
  if (probe?.code !== 0) {
    const { test } = await import("node:test");
    const reason = `needs unshare -rn, ip and nft: ${probe?.stderr.trim() ?? "unshare is not installed"}`;
    test("network namespace", (t) => {
      if (process.env["CI"] === "true") throw new Error(reason);
      t.skip(reason);
    });
    return false;
  }
  const child = spawn(
    "unshare",
    [
      "-rn",
      "sh",
      "-c",
      'ip link set lo up && exec "$@"',
      "sh",
      process.execPath,
      ...process.execArgv,
      ...process.argv.slice(1),
    ],
    { stdio: "inherit", env: { ...process.env, [marker]: "1" } },
  );
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  process.exit(await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1))));
}

const nft = async (ruleset: string): Promise<void> => {
  const result = await run("nft", ["-f", "-"], { stdin: ruleset });
  if (result.code !== 0) throw new Error(`nft: ${result.stderr}`);
};

/** Drops everything between each pair of addresses, both ways; `heal` ends all cuts. */
export async function cut(pairs: readonly (readonly [string, string])[]): Promise<void> {
  const rules = pairs.flatMap(([a, b]) => [
    `ip saddr ${a} ip daddr ${b} drop`,
    `ip saddr ${b} ip daddr ${a} drop`,
  ]);
  await nft(
    `table inet cuts\ndelete table inet cuts\ntable inet cuts { chain out { type filter hook output priority 0;\n${rules.join("\n")}\n}\n}\n`,
  );
}

/** Drops everything that goes to a UDP or TCP port of an address: a server that is silent. */
export async function silence(address: string, port: number): Promise<void> {
  await nft(
    `table inet cuts\ndelete table inet cuts\ntable inet cuts { chain out { type filter hook output priority 0;\n` +
      `ip daddr ${address} udp dport ${port} drop\nip daddr ${address} tcp dport ${port} drop\n}\n}\n`,
  );
}

export async function heal(): Promise<void> {
  await nft("table inet cuts\ndelete table inet cuts\n");
}
