import { parseArgs } from "node:util";
import { BenchUsageError } from "./bench-usage-error.ts";
import type { ControllerSettings } from "./controller/controller-run.ts";
import { controllerSectionNames } from "./controller/section-names.ts";
import type { ControllerSectionName } from "./controller/section-names.ts";
import type { BenchSettings } from "./dns/bench-run.ts";
import { sectionNames } from "./dns/section-names.ts";
import type { SectionName } from "./dns/section-names.ts";
import type { GslbSettings } from "./gslb/gslb-bench.ts";
import type { FleetCase } from "./gslb/measure-fleet.ts";

export interface BenchOptions {
  /** Absent: the balancer is not measured. */
  readonly gslbSettings?: GslbSettings;
  readonly dnsSections: readonly SectionName[];
  readonly dnsSettings: BenchSettings;
  /** Names of the servers to measure; all where it is absent. */
  readonly dnsServers?: readonly string[];
  readonly controllerSections: readonly ControllerSectionName[];
  readonly controllerSettings: ControllerSettings;
  /** Names of the informers to measure; all where it is absent. */
  readonly controllerClients?: readonly string[];
  readonly smoke: boolean;
  readonly resume: boolean;
}

export const benchUsage: string = `usage: npm run bench -- [options]

Measures Meridian beside its peers and writes bench/results/.

  --only NAME      a part, several times for several: gslb; dns (all of the following),
                   ${sectionNames.join(", ")};
                   controller (all of the following), ${controllerSectionNames.join(", ")}
  --smoke          a short cut that shows that the benches work; writes to .cache/bench-smoke only
  --resume         go on with the run that was aborted, with the same options
  --sizes N,N      numbers of hosts in the zone (dns; default 10,10000,1000000), of objects (controller; default 20000,100000)
  --servers A,B    only these servers (dns; Meridian, "Meridian (dgram)", gdnsd, NSD, Knot, BIND, CoreDNS)
  --clients "A;B"  only these informers (controller; Meridian, "client-go, JSON", "client-node 2.0.1", …)
  --fleets CxN,…   numbers of clusters and of Gslbs in each (gslb; default 2x10,5x10,20x10,2x1000,5x1000,20x1000,2x10000)
  --rounds N       rounds over all (dns; default 5; controller; default 3)
  --seconds N      length of one load (dns; default 2), of live updates (controller; default 60)
  --help           this text

Needs Debian's bind9, nsd, knot, gdnsd and dnsperf, and Go for CoreDNS, kube-apiserver, etcd and client-go; other clients come from npm. What is missing is skipped and said so, and is a
failure with CI=true. Run it on a quiet machine.`;

/** @throws BenchUsageError */
export function parseBenchOptions(args: readonly string[]): BenchOptions | "help" {
  const values = parsed(args);
  if (values.help) return "help";
  const known = ["gslb", "dns", ...sectionNames, "controller", ...controllerSectionNames];
  const only = (values.only ?? ["gslb", "dns", "controller"]).flatMap((names) => names.split(","));
  for (const name of only) {
    if (!known.includes(name))
      throw new BenchUsageError(`--only ${name}: there is no such part; the parts are ${known.join(", ")}`);
  }
  const { smoke } = values;
  return {
    ...(only.includes("gslb") ? { gslbSettings: gslbSettings(values) } : {}),
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
    controllerSections: controllerSectionNames.filter(
      (name) => only.includes("controller") || only.includes(name),
    ),
    controllerSettings: controllerSettings(values),
    ...(values.clients === undefined ? {} : { controllerClients: values.clients.split(";") }),
    smoke,
    resume: values.resume,
  };
}

function controllerSettings(values: Values): ControllerSettings {
  const { smoke } = values;
  const rounds = numbers("rounds", values.rounds)?.[0];
  return {
    sizes: numbers("sizes", values.sizes) ?? (smoke ? [500] : [20_000, 100_000]),
    rounds: rounds ?? (smoke ? 1 : 3),
    largeRounds: rounds ?? (smoke ? 1 : 2),
    liveSeconds: numbers("seconds", values.seconds)?.[0] ?? (smoke ? 1 : 60),
    updatesPerSecond: smoke ? 50 : 200,
    halfOpenMs: smoke ? 1_000 : 70_000,
    reconcileKeys: smoke ? 1_000 : 20_000,
  };
}

function gslbSettings({ smoke, fleets }: Values): GslbSettings {
  const text = fleets ?? (smoke ? "2x10,4x40" : "2x10,5x10,20x10,2x1000,5x1000,20x1000,2x10000");
  const plans = text.split(",").map((each): FleetCase => {
    const [, clusters, gslbs] = (/^(\d+)x(\d+)$/.exec(each) ?? []).map(Number);
    if (clusters === undefined || gslbs === undefined || clusters < 2 || clusters > 200 || gslbs < 1)
      throw new BenchUsageError(
        `--fleets ${each}: clusters (2 to 200) and Gslbs are expected, for example --fleets 2x10,5x1000`,
      );
    return {
      ...{ program: "meridian-cluster", clusters, gslbs },
      tries: [
        ...(clusters < 20 && gslbs <= 100 ? (["apply"] as const) : []),
        ...(clusters === 2 ? (["restart"] as const) : []),
        ...(clusters > 3 && clusters < 20 && (gslbs >= 1_000 || smoke) ? (["lost peers"] as const) : []),
      ],
    };
  });
  const [first] = plans;
  const polling: FleetCase = {
    program: "polling-cluster",
    clusters: 2,
    gslbs: first?.gslbs ?? 10,
    tries: [],
  };
  return {
    fleets: [polling, ...plans],
    periodSeconds: smoke ? 3 : 30,
    changes: smoke ? 4 : 16,
    applied: smoke ? 20 : 1_000,
  };
}

interface Values {
  readonly help: boolean;
  readonly smoke: boolean;
  readonly resume: boolean;
  readonly only?: string[];
  readonly sizes?: string;
  readonly servers?: string;
  readonly clients?: string;
  readonly fleets?: string;
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
        clients: { type: "string" },
        fleets: { type: "string" },
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
