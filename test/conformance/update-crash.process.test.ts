import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { DnsClient, updateZone } from "@meridian/dns";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer } from "./child-server.ts";
import { key } from "./update-world.ts";

const child = fileURLToPath(new URL("./update-crash-child.js", import.meta.url));
const rounds = 5;

test("kill -9 in the middle of updates loses none that was acknowledged", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-update-crash-"));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  await using client = new DnsClient(runtime);
  const acknowledged: string[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const server = await ChildServer.start(
        [process.execPath, child, folder],
        /serving on (\d+), serial (\d+)\n/,
      );
      const at: Endpoint = { address: "127.0.0.1", port: Number(server.match[1]) };
      for (const name of acknowledged) {
        const verdict = await client.query({ name, type: "A", servers: [at], deadlineMs: 5_000 });
        assert.ok(
          verdict.state === "answered" && verdict.outcome === "data",
          `${name} was lost in round ${round}`,
        );
      }
      // Sent at once; the server is killed as soon as some are acknowledged and the rest is under way.
      const stop = new AbortController();
      const enough = (round + 1) * 20;
      const sent = Array.from({ length: 100 }, async (_, index) => {
        const name = `r${round}n${index}.u.test`;
        const { state } = await updateZone(client, {
          zone: "u.test",
          primary: { servers: [at] },
          key,
          changes: [{ kind: "add", name, type: "A", ttl: 60, data: "192.0.2.1" }],
          deadlineMs: 60_000,
          signal: stop.signal,
        });
        if (state === "applied") acknowledged.push(name);
        if (acknowledged.length >= enough) stop.abort();
      });
      await Promise.allSettled(sent);
      await server.kill();
    }
    assert.ok(acknowledged.length >= rounds * 20);
  } finally {
    await rm(folder, { recursive: true });
  }
});
