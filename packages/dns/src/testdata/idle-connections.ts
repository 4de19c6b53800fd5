/**
 * Holds many connections, for the test of idle ones: without an argument a server that prints its port and, on each line of
 * its input, how many connections are open and how much memory has grown; with a port 10,000 clients of that server.
 */
import { silentLogger, type TcpConnection } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { toFrame } from "../message/frame-reader.ts";
import { Authority } from "../server/authority.ts";
import { serveDns } from "../server/serve-dns.ts";
import { caseZoneText, loadZone, question } from "./case-zone.ts";

const address = "127.0.0.1";
const connections = 10_000;
const www = toFrame(question("www.p.test", "A"));
const mebibyte = 1024 * 1024;

async function serve(): Promise<void> {
  const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });
  const authority = new Authority(runtime);
  authority.setZone(loadZone(caseZoneText));
  const server = await serveDns(runtime, {
    authority,
    listen: [{ address, port: 0 }],
    tcp: { idleMs: 120_000, connectionsMax: 20_000, connectionsPerClientMax: 20_000 },
  });
  const before = process.memoryUsage().rss;
  console.log(server.local[0]!.port);
  process.stdin.on("data", () => {
    const grownMiB = Math.round((process.memoryUsage().rss - before) / mebibyte);
    console.log(JSON.stringify({ open: server.counters.tcpOpen, grownMiB }));
  });
}

async function hold(port: number): Promise<void> {
  const { network } = nodeRuntime({ dataFolder: ".", log: silentLogger });
  const open: TcpConnection[] = [];
  while (open.length < connections) {
    const batch = Array.from({ length: 100 }, () => network.connectTcp({ to: { address, port } }));
    const connected = await Promise.all(batch);
    // Idle is who has asked before; who has not is let go sooner.
    await Promise.all(connected.map((connection) => connection.write(www)));
    open.push(...connected);
  }
  console.log(`connected ${open.length}`);
}

const port = process.argv[2];
await (port === undefined ? serve() : hold(Number(port)));
