import { spawn } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { TestAuthority } from "../../e2e/harness/test-authority.ts";
import { transports } from "./bench-transports.ts";
import type { BenchTarget, BenchTransport } from "./bench-transports.ts";

/**
 * Measures what a client of an API server can be built on: `node dist/bench/controller/transport.js [--rounds N] [--smoke]`.
 * All transports meet the same server on the same port, one after another in each round; what is printed are medians, and
 * of the CPU that of this process alone. It ends with what an import of `@kubernetes/client-node` costs, where
 * `--client-node FOLDER` names an installed one.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    smoke: { type: "boolean", default: false },
    "client-node": { type: "string" },
  },
});
const scale = values.smoke ? 0.01 : 1;
const rounds = values.smoke ? 1 : Number(values.rounds);
const times = (count: number): number => Math.max(1, Math.round(count * scale));

/** What is done, and in how many units it is told. */
interface Task {
  readonly name: string;
  readonly unit: string;
  readonly count: number;
  readonly run: (transport: BenchTransport) => Promise<void>;
}

const tasks: readonly Task[] = [
  {
    name: "reads of 1 KB, one at a time",
    unit: "µs each",
    count: times(2000),
    run: (transport) => atOnce(times(2000), 1, () => drain(transport, "/small")),
  },
  {
    name: "reads of 1 KB, 64 at a time",
    unit: "µs each",
    count: times(8000),
    run: (transport) => atOnce(times(8000), 64, () => drain(transport, "/small")),
  },
  {
    name: "a list of 20,000 objects of 1 KB",
    unit: "ms",
    count: times(5),
    run: (transport) => atOnce(times(5), 1, () => drain(transport, "/list")),
  },
  {
    name: "a watch with 50,000 events of 1 KB",
    unit: "ms",
    count: 1,
    run: (transport) => drain(transport, `/watch?events=${times(50_000)}`),
  },
  {
    name: "200 watches opened and ended",
    unit: "ms",
    count: 1,
    run: async (transport) => {
      const stop = manyWatches();
      const open = await Promise.all(
        Array.from({ length: times(200) }, async () => {
          const events = (await transport.get("/quiet", stop.signal))[Symbol.asyncIterator]();
          await events.next();
          return events;
        }),
      );
      stop.abort();
      await Promise.all(open.map((events) => events.next().catch(() => {})));
    },
  },
];

function manyWatches(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}

async function drain(transport: BenchTransport, target: string): Promise<void> {
  for await (const _ of await transport.get(target));
}

async function atOnce(count: number, width: number, run: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: width }, worker));
}

interface Sample {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function measure(transport: BenchTransport, task: Task): Promise<Sample> {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await task.run(transport);
  const wallMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

async function connectionsOf(transport: BenchTransport, count: number): Promise<number> {
  const stop = manyWatches();
  const open = await Promise.all(Array.from({ length: count }, () => transport.get("/quiet", stop.signal)));
  let text = "";
  for await (const chunk of await transport.get("/connections")) text += Buffer.from(chunk).toString();
  stop.abort();
  await Promise.all(
    open.map((body) =>
      body[Symbol.asyncIterator]()
        .next()
        .catch(() => {}),
    ),
  );
  return Number(text);
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const folder = await mkdtemp(path.join(tmpdir(), "meridian-transport-"));
const authority = await TestAuthority.create(folder);
const identity = await authority.issueServer("bench", ["127.0.0.1"]);
const serverFile = fileURLToPath(new URL("./transport-server.js", import.meta.url));
const server = spawn(process.execPath, [serverFile, identity.certificateFile, identity.privateKeyFile], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [port] = (await once(createInterface(server.stdout), "line")) as [string];
  const target: BenchTarget = { origin: `https://127.0.0.1:${port}`, caPem: authority.certificatePem };
  const samples = new Map<string, Sample[]>();
  const connections = new Map<string, number>();
  for (let round = 0; round <= rounds; round++) {
    for (const [name, open] of Object.entries(transports)) {
      await using transport = open(target);
      for (const task of tasks) {
        const sample = await measure(transport, task);
        // The first round is for the compiler.
        if (round > 0)
          samples.set(`${name}/${task.name}`, [...(samples.get(`${name}/${task.name}`) ?? []), sample]);
      }
      if (round === rounds) connections.set(name, await connectionsOf(transport, 100));
    }
  }
  report(samples, connections);
} finally {
  server.kill();
  await rm(folder, { recursive: true, force: true });
}
if (values["client-node"] !== undefined) await reportImports(values["client-node"]);

function report(
  samples: ReadonlyMap<string, readonly Sample[]>,
  connections: ReadonlyMap<string, number>,
): void {
  const names = Object.keys(transports);
  const ofBase = names[0] ?? "";
  for (const task of tasks) {
    console.log(`\n${task.name} (${task.unit}; in brackets: times ${ofBase})`);
    const figure = (name: string, part: keyof Sample): number => {
      const each =
        median((samples.get(`${name}/${task.name}`) ?? []).map((sample) => sample[part])) / task.count;
      return task.unit.startsWith("µs") ? each * 1000 : each;
    };
    for (const name of names) {
      const columns = (["wallMs", "cpuMs"] as const).map((part) => {
        const ratio = (figure(name, part) / figure(ofBase, part)).toFixed(2);
        return `${part === "wallMs" ? "wall" : "CPU"} ${figure(name, part).toFixed(1).padStart(7)} (${ratio})`;
      });
      console.log(`  ${name.padEnd(20)} ${columns.join("   ")}`);
    }
  }
  console.log("\nconnections with 100 watches open");
  for (const [name, count] of connections) console.log(`  ${name.padEnd(20)} ${count}`);
}

/** What it costs a new process to import a module. */
async function reportImports(clientNodeFolder: string): Promise<void> {
  console.log("\nimport in a new process (median of 5)");
  const ours = fileURLToPath(new URL("../../../packages/controller/dist/index.js", import.meta.url));
  const theirs = path.resolve(clientNodeFolder, "node_modules/@kubernetes/client-node/dist/index.js");
  for (const [name, file] of [
    ["@meridian/controller", ours],
    ["@kubernetes/client-node", theirs],
  ] as const) {
    const runs = [];
    for (let run = 0; run < 5; run++) runs.push(await importOnce(file));
    const [cpuMs, mebibytes] = [median(runs.map(([ms]) => ms)), median(runs.map(([, size]) => size))];
    console.log(`  ${name.padEnd(24)} CPU ${cpuMs.toFixed(0)} ms   memory ${mebibytes.toFixed(0)} MiB`);
  }
}

async function importOnce(file: string): Promise<[number, number]> {
  const script = `const cpu = process.cpuUsage(), size = process.memoryUsage().rss;
    await import(${JSON.stringify(file)});
    const { user, system } = process.cpuUsage(cpu);
    console.log(JSON.stringify([(user + system) / 1000, (process.memoryUsage().rss - size) / 1048576]));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return JSON.parse(line) as [number, number];
}
