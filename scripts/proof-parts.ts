/** One step of a part: a command, and the environment that makes it this step. */
export interface ProofStep {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How many units it proves. */
  readonly units: number;
}

/** One proof of which CI runs a cut. */
export interface ProofPart {
  readonly name: string;
  readonly unit: string;
  /** The whole. */
  readonly goal: number;
  /** The step with this number, from 1. Steps depend on nothing but their number. */
  readonly step: (number: number) => ProofStep;
}

const node = [process.execPath, "--enable-source-maps"];

function testStep(file: string, units: number, env: Readonly<Record<string, number>>): ProofStep {
  const texts = Object.entries(env).map(([name, value]) => [name, String(value)]);
  return { command: [...node, file], units, env: Object.fromEntries(texts) as Record<string, string> };
}

export const proofParts: readonly ProofPart[] = [
  {
    name: "kill -9 of a process that writes, per storage",
    unit: "kills",
    goal: 1_000,
    step: () =>
      testStep("packages/apiserver/dist/storage/lmdb-crash.process.test.js", 20, {
        MERIDIAN_STORAGE_KILLS: 20,
      }),
  },
  {
    name: "crashes of the write-ahead log on a simulated disk",
    unit: "seeds",
    goal: 1_000,
    step: () =>
      testStep("packages/apiserver/dist/storage/storage-crash.test.js", 1_000, {
        MERIDIAN_STORAGE_SEEDS: 1_000,
      }),
  },
  {
    name: "the simulated fleet",
    unit: "seeds",
    goal: 10_000,
    step: (number) => ({
      command: [
        ...node,
        "dist/test/simulation/main.js",
        "--seeds",
        "10",
        "--from",
        String(10 * (number - 1) + 1),
      ],
      env: {},
      units: 10,
    }),
  },
  {
    name: "copies against the truth, through a hostile network and restarts",
    unit: "programs",
    goal: 20_000,
    step: (number) =>
      testStep("dist/test/conformance/copy-equals-truth.test.js", 100, {
        MERIDIAN_RUNS: 100,
        MERIDIAN_SEED: number,
      }),
  },
  {
    name: "copies and handlers against the testing kit's API",
    unit: "programs",
    goal: 50_000,
    step: (number) =>
      testStep("packages/controller/dist/testing/programs/check-copies.test.js", 500, {
        MERIDIAN_RUNS: 500,
        MERIDIAN_SEED: number,
      }),
  },
  {
    name: "one leader at most, through pauses, cuts, restarts and clocks of other rates",
    unit: "programs",
    goal: 20_000,
    step: (number) =>
      testStep("packages/controller/dist/leader/leader-elector.property.test.js", 500, {
        MERIDIAN_RUNS: 500,
        MERIDIAN_SEED: number,
      }),
  },
  {
    name: "copies that are cut off every five seconds, with no growth of memory or handles",
    unit: "minutes",
    goal: 60,
    step: () => testStep("dist/e2e/copy-soak.test.js", 60, { MERIDIAN_SOAK_SECONDS: 3_600 }),
  },
  {
    name: "the controller library on kube-apiserver as others configure it",
    unit: "suites",
    goal: 1,
    step: () =>
      testStep("dist/e2e/controller-conformance-configurations.test.js", 1, {
        MERIDIAN_CONFIGURATIONS: 1,
      }),
  },
  {
    name: "lost updates",
    unit: "seeds",
    goal: 1_000,
    step: (number) =>
      testStep("dist/test/conformance/lost-updates.test.js", 5, {
        MERIDIAN_SEEDS: 5,
        MERIDIAN_SEED: 5 * number,
      }),
  },
  {
    name: "answers beside BIND's, NSD's and Knot's, over random zones",
    unit: "zones",
    goal: 5_000,
    step: (number) =>
      testStep("dist/test/conformance/dns-differential.process.test.js", 50, {
        MERIDIAN_ZONES: 50,
        MERIDIAN_SEED: number,
      }),
  },
  {
    name: "mutated DNS packets through the authority",
    unit: "packets",
    goal: 10_000_000,
    step: (number) =>
      testStep("dist/test/fuzz/dns-packets.test.js", 1_000_000, {
        MERIDIAN_FUZZ_SEED: number,
        MERIDIAN_FUZZ_RUNS: 5,
      }),
  },
  {
    name: "mutated datagrams and TCP frames to a running server",
    unit: "datagrams",
    goal: 10_000_000,
    step: (number) =>
      testStep("dist/test/fuzz/dns-server.process.test.js", 1_000_000, { MERIDIAN_FUZZ_SEED: number }),
  },
  {
    name: "hostile API requests",
    unit: "requests",
    goal: 2_000_000,
    step: (number) => testStep("dist/test/fuzz/api-requests.test.js", 25_000, { MERIDIAN_FUZZ_SEED: number }),
  },
  {
    name: "mutated inputs of every parser",
    unit: "seeds",
    goal: 500,
    step: (number) => testStep("dist/test/fuzz/parsers.test.js", 1, { MERIDIAN_FUZZ_SEED: number }),
  },
];
