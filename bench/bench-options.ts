import { parseArgs } from "node:util";
import { BenchUsageError } from "./bench-usage-error.ts";
import type { BenchSettings } from "./dns/bench-run.ts";
import { sectionNames } from "./dns/section-names.ts";
import type { SectionName } from "./dns/section-names.ts";

export interface BenchOptions {
  readonly failover: boolean;
  readonly dnsSections: readonly SectionName[];
  readonly dnsSettings: BenchSettings;
  /** Names of the servers to measure; all where it is absent. */
  readonly dnsServers?: readonly string[];
  readonly smoke: boolean;
  readonly resume: boolean;
}

export const benchUsage: string = `usage: npm run bench -- [options]

Measures Meridian beside its peers and writes bench/results/.

  --only NAME      a part, several times for several: failover, dns (all of the following),
                   ${sectionNames.join(", ")}
  --smoke          a short cut that shows that the benches work; writes to .cache/bench-smoke only
  --resume         go on with the dns run that was aborted, with the same options
  --sizes N,N      numbers of hosts in the zone (dns; default 10,10000,1000000)
  --servers A,B    only these servers (dns; Meridian, "Meridian (dgram)", gdnsd, NSD, Knot, BIND, CoreDNS)
  --rounds N       rounds over all servers (dns; default 5)
  --seconds N      length of one load (dns; default 2)
  --help           this text

Needs Debian's bind9, nsd, knot, gdnsd and dnsperf, and Go for CoreDNS; what is missing is skipped and said so, and is a
failure with CI=true. Run it on a quiet machine.`;

/** @throws BenchUsageError */
export function parseBenchOptions(args: readonly string[]): BenchOptions | "help" {
  const values = parsed(args);
  if (values.help) return "help";
  const known = ["failover", "dns", ...sectionNames];
  const only = (values.only ?? ["failover", "dns"]).flatMap((names) => names.split(","));
  for (const name of only) {
    if (!known.includes(name))
      throw new BenchUsageError(`--only ${name}: there is no such part; the parts are ${known.join(", ")}`);
  }
  const { smoke } = values;
  return {
    failover: only.includes("failover"),
    dnsSections: sectionNames.filter((name) => only.includes("dns") || only.includes(name)),
    dnsSettings: {
      sizes: numbers("sizes", values.sizes) ?? (smoke ? [1000] : [10, 10_000, 1_000_000]),
      rounds: numbers("rounds", values.rounds)?.[0] ?? (smoke ? 1 : 5),
      seconds: numbers("seconds", values.seconds)?.[0] ?? (smoke ? 0.3 : 2),
      startWithinMs: smoke ? 20_000 : 120_000,
      warmSeconds: smoke ? 0.1 : 0.5,
      queries: smoke ? 20_000 : 500_000,
    },
    ...(values.servers === undefined ? {} : { dnsServers: values.servers.split(",") }),
    smoke,
    resume: values.resume,
  };
}

interface Values {
  readonly help: boolean;
  readonly smoke: boolean;
  readonly resume: boolean;
  readonly only?: string[];
  readonly sizes?: string;
  readonly servers?: string;
  readonly rounds?: string;
  readonly seconds?: string;
}

function parsed(args: readonly string[]): Values {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", default: false },
        smoke: { type: "boolean", default: false },
        resume: { type: "boolean", default: false },
        only: { type: "string", multiple: true },
        sizes: { type: "string" },
        servers: { type: "string" },
        rounds: { type: "string" },
        seconds: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new BenchUsageError(error instanceof Error ? error.message : String(error));
  }
}

function numbers(name: string, text: string | undefined): number[] | undefined {
  const values = text?.split(",").map(Number);
  if (values?.some((value) => !(value > 0)) === true)
    throw new BenchUsageError(`--${name} ${text}: numbers above 0 are expected, for example --${name} 5`);
  return values;
}
