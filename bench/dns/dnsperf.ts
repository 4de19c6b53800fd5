import { output } from "../../e2e/harness/command.ts";
import { waitedCpuSeconds } from "./session-figures.ts";

export interface DnsperfOptions {
  readonly port: number;
  readonly queryFile: string;
  readonly transport: "udp" | "tcp";
  readonly seconds: number;
  readonly threads: number;
  readonly clients: number;
  readonly outstanding: number;
  /** Queries a second at most; without it, as many as come back. */
  readonly pace?: number;
  /** Send this COOKIE option (RFC 7873) with each query. */
  readonly cookie?: Uint8Array;
  /** Also list each answer, for the percentiles; only for a paced run, as it costs the client time. */
  readonly percentiles: boolean;
  /** The words before the command: class and cores. */
  readonly placement: readonly string[];
}

export interface DnsperfFigures {
  readonly sent: number;
  readonly completed: number;
  readonly lost: number;
  readonly queriesPerSecond: number;
  readonly responseOctets: number;
  /** Share of one core that the client used. */
  readonly clientBusy: number;
  readonly rcodes: Readonly<Record<string, number>>;
  readonly latencyMicroseconds: {
    readonly mean: number;
    readonly p50?: number;
    readonly p99?: number;
  };
}

/** Runs dnsperf (EDNS on, RD set) and reads what it printed. */
export async function dnsperf(options: DnsperfOptions): Promise<DnsperfFigures> {
  const [program, ...args] = [
    ...options.placement,
    ...["dnsperf", "-s", "127.0.0.1", "-p", String(options.port), "-d", options.queryFile],
    ...["-e", "-m", options.transport, "-t", "2", "-l", String(options.seconds)],
    ...["-c", String(options.clients), "-T", String(options.threads), "-q", String(options.outstanding)],
    ...(options.pace === undefined ? [] : ["-Q", String(options.pace)]),
    ...(options.cookie === undefined ? [] : ["-E", `10:${Buffer.from(options.cookie).toString("hex")}`]),
    ...(options.percentiles ? ["-v"] : []),
  ];
  const cpuBefore = await waitedCpuSeconds();
  const printed = await output(program!, args, { timeoutMs: (options.seconds + 30) * 1000 });
  const cpu = (await waitedCpuSeconds()) - cpuBefore;
  const number = (pattern: RegExp): number => Number(pattern.exec(printed)?.[1] ?? Number.NaN);
  return {
    sent: number(/Queries sent:\s+(\d+)/),
    completed: number(/Queries completed:\s+(\d+)/),
    lost: number(/Queries lost:\s+(\d+)/),
    queriesPerSecond: number(/Queries per second:\s+([\d.]+)/),
    responseOctets: number(/Average packet size:\s+request \d+, response (\d+)/),
    clientBusy: cpu / number(/Run time \(s\):\s+([\d.]+)/),
    rcodes: rcodesOf(printed),
    latencyMicroseconds: {
      mean: number(/Average Latency \(s\):\s+([\d.]+)/) * 1e6,
      ...(options.percentiles ? percentilesOf(printed) : {}),
    },
  };
}

/** `Response codes: NOERROR 850 (85.00%), NXDOMAIN 150 (15.00%)`. */
function rcodesOf(printed: string): Record<string, number> {
  const line = /Response codes:\s+(.*)/.exec(printed)?.[1] ?? "";
  return Object.fromEntries(
    [...line.matchAll(/([A-Z]\w*) (\d+) \(/g)].map((match) => [match[1]!, Number(match[2])]),
  );
}

/** `> NOERROR host7.cloud.example.com A 0.000071`: one line per answer. */
function percentilesOf(printed: string): { readonly p50: number; readonly p99: number } {
  const latencies = [...printed.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)]
    .map((match) => Number(match[1]) * 1e6)
    .toSorted((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
