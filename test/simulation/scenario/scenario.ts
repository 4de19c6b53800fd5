import type { Random } from "@meridian/runtime";
import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import { between, chance, integer, pick } from "../fleet/draws.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetSettings } from "../fleet/fleet-settings.ts";
import { clientName, dnsAddressesOf, parentName, tags, type Tag } from "../fleet/fleet-map.ts";
import { drawBadObject } from "./bad-objects.ts";
import { drawApplications, drawStrategy } from "./draw-applications.ts";

/** One thing that happens. */
export interface Step {
  readonly atMs: number;
  /** For people. */
  readonly text: string;
  readonly act: (fleet: Fleet) => void;
}

/** What happens to a fleet, by virtual time. */
export interface Scenario {
  readonly applications: readonly Application[];
  /** What is there from the start. */
  readonly initial: readonly Step[];
  /** In the order of time. */
  readonly steps: readonly Step[];
  /** When everything is repaired and no more changes. */
  readonly repairMs: number;
}

/** How long the fleet is left alone before anything happens. */
const settlingMs = 12_000;

const kinds = [
  "flip",
  "edit",
  "readdress",
  "recreate",
  "bad",
  "cut",
  "storm",
  "ill",
  "crash",
  "watches",
  "compact",
  "clock",
  "disk",
  "tamper",
  "address",
  "hang",
  "operator",
] as const;
type Kind = (typeof kinds)[number];

/** Draws a scenario. Each one has its own mixture of kinds: few at a time show more than all at once. */
export function drawScenario(random: Random, settings: FleetSettings): Scenario {
  const applications = drawApplications(random, settings);
  return new ScenarioDraw(random, { settings, applications }).draw();
}

interface Wanted {
  ready: boolean;
  targets: readonly string[];
  strategy: GslbStrategySpec | undefined;
}

class ScenarioDraw {
  readonly #random: Random;
  readonly #settings: FleetSettings;
  readonly #ours: readonly Tag[];
  readonly #k8gbs: readonly Tag[];
  readonly #applications: readonly Application[];
  readonly #steps: Step[] = [];
  readonly #wanted = new Map<string, Wanted>();
  readonly #enabled: readonly Kind[];
  readonly #clockMovedMs = new Map<Tag, number>();
  #badCount = 0;

  constructor(
    random: Random,
    of: { readonly settings: FleetSettings; readonly applications: readonly Application[] },
  ) {
    this.#random = random;
    this.#settings = of.settings;
    this.#applications = of.applications;
    this.#ours = tags.filter((tag) => of.settings.kinds[tag] === "meridian");
    this.#k8gbs = tags.filter((tag) => of.settings.kinds[tag] === "k8gb");
    const enabled = kinds.filter((kind) => chance(random, 0.6) && this.#isPossible(kind));
    // Without changes there is little to see, so those come three times as often.
    this.#enabled = ["flip", "flip", "flip", "edit", ...enabled];
  }

  /** Some things happen only to clusters of a kind. */
  #isPossible(kind: Kind): boolean {
    const isOfOurs = ["bad", "watches", "compact", "clock", "disk", "operator"].includes(kind);
    if (isOfOurs) return this.#ours.length > 0;
    if (kind === "hang") return this.#k8gbs.length > 0;
    return kind !== "address" || tags.some((tag) => this.#settings.secondAddress[tag]);
  }

  draw(): Scenario {
    const initial = this.#applications.flatMap((application) => {
      const strategy = drawStrategy(this.#random);
      return tags.map((tag) => {
        const targets = this.#drawTargets(tag, application);
        this.#wanted.set(`${tag} ${application.name}`, {
          ready: chance(this.#random, 0.8),
          targets,
          strategy,
        });
        return this.#apply(0, tag, application);
      });
    });
    const endMs = settlingMs + between(this.#random, 60_000, 120_000);
    const pauseMsMax = pick(this.#random, [1_500, 3_000, 6_000]);
    for (let atMs = settlingMs; atMs < endMs; atMs += between(this.#random, 100, pauseMsMax)) {
      this.#add(pick(this.#random, this.#enabled), atMs);
    }
    const steps = this.#steps.toSorted((a, b) => a.atMs - b.atMs);
    return { applications: this.#applications, initial, steps, repairMs: endMs + 1_000 };
  }

  #add(kind: Kind, atMs: number): void {
    switch (kind) {
      case "flip":
        return this.#flip(atMs);
      case "edit":
        return this.#edit(atMs);
      case "readdress":
        return this.#readdress(atMs);
      case "recreate":
        return this.#recreate(atMs);
      case "bad":
        return this.#bad(atMs);
      case "cut":
        return this.#cut(atMs);
      case "storm":
        return this.#storm(atMs);
      case "ill":
        return this.#ill(atMs);
      case "crash":
        return this.#crash(atMs);
      case "watches":
        return this.#onCluster(atMs, "break all watches of", (fleet, tag) =>
          fleet.cluster(tag).breakWatches(),
        );
      case "compact":
        return this.#onCluster(atMs, "compact the history of", (fleet, tag) => fleet.cluster(tag).compact());
      case "clock":
        return this.#clock(atMs);
      case "disk":
        return this.#disk(atMs);
      case "tamper":
        return this.#tamper(atMs);
      case "address":
        return this.#address(atMs);
      case "hang":
        return this.#hang(atMs);
      case "operator":
        return this.#operator(atMs);
    }
  }

  #flip(atMs: number): void {
    const tag = pick(this.#random, tags);
    const application = pick(this.#random, this.#applications);
    const wanted = this.#wanted.get(`${tag} ${application.name}`)!;
    wanted.ready = !wanted.ready;
    this.#steps.push(this.#apply(atMs, tag, application));
  }

  /** The load balancer gets other addresses, or the last one is taken from it. */
  #readdress(atMs: number): void {
    const tag = pick(this.#random, tags);
    const application = pick(this.#random, this.#applications);
    this.#wanted.get(`${tag} ${application.name}`)!.targets = this.#drawTargets(tag, application);
    this.#steps.push(this.#apply(atMs, tag, application));
  }

  #drawTargets(tag: Tag, application: Application): readonly string[] {
    const all = application.targets[tag];
    return chance(this.#random, 0.6) ? all : all.filter(() => chance(this.#random, 0.6));
  }

  /** The same new spec for all clusters, not quite at once. */
  #edit(atMs: number): void {
    const application = pick(this.#random, this.#applications);
    const strategy = drawStrategy(this.#random);
    for (const tag of tags) {
      const wanted = this.#wanted.get(`${tag} ${application.name}`)!;
      if (wanted.strategy === undefined) continue;
      wanted.strategy = strategy;
      this.#steps.push(this.#apply(atMs + between(this.#random, 0, 2_000), tag, application));
    }
  }

  /** Deletes a Gslb in one cluster and makes it again later. The first application's, whose host others want, stays. */
  #recreate(atMs: number): void {
    const application = pick(this.#random, this.#applications.slice(1));
    const tag = pick(this.#random, tags);
    const wanted = this.#wanted.get(`${tag} ${application.name}`)!;
    const { strategy } = wanted;
    if (strategy === undefined) return;
    wanted.strategy = undefined;
    this.#steps.push(this.#apply(atMs, tag, application));
    wanted.strategy = strategy;
    this.#steps.push(this.#apply(atMs + between(this.#random, 10, 30_000), tag, application));
  }

  #apply(atMs: number, tag: Tag, application: Application): Step {
    const wanted = { application, ...this.#wanted.get(`${tag} ${application.name}`)! };
    const { ready, targets, strategy } = wanted;
    const text =
      `${tag} wants ${application.host} ${ready ? "ready" : "not ready"} at ${targets.join(" ") || "no address"}, ` +
      JSON.stringify(strategy ?? "no Gslb");
    return { atMs, text, act: (fleet) => fleet.member(tag).user.want(wanted) };
  }

  #bad(atMs: number): void {
    const tag = pick(this.#random, this.#ours);
    const bad = drawBadObject(this.#random, `bad-${this.#badCount++}`, this.#applications.slice(0, 1));
    this.#steps.push({
      atMs,
      text: `${tag} gets ${bad.name}: ${bad.about}`,
      act: (fleet) => fleet.cluster(tag).user.addBad(bad),
    });
    if (chance(this.#random, 0.5)) return;
    this.#steps.push({
      atMs: atMs + between(this.#random, 100, 40_000),
      text: `${tag} loses ${bad.name}`,
      act: (fleet) => fleet.cluster(tag).user.removeBad(bad.name),
    });
  }

  #cut(atMs: number): void {
    const [a, b] = this.#pair();
    const both = chance(this.#random, 0.6);
    const untilMs = atMs + this.#durationMs();
    this.#steps.push(
      { atMs, text: `cut ${a} ${both ? "and" : "to"} ${b}`, act: ({ paths }) => paths.cut(a, b, both) },
      { atMs: untilMs, text: `heal ${a} and ${b}`, act: ({ paths }) => paths.heal(a, b) },
    );
  }

  #storm(atMs: number): void {
    const [a, b] = this.#pair();
    const weather = {
      delayMs: { min: 1, max: pick(this.#random, [20, 200, 900]) },
      loss: pick(this.#random, [0, 0.05, 0.3]),
      duplication: pick(this.#random, [0, 0.3]),
    };
    const untilMs = atMs + this.#durationMs();
    this.#steps.push(
      {
        atMs,
        text: `storm between ${a} and ${b}: ${JSON.stringify(weather)}`,
        act: ({ paths }) => paths.storm(a, b, weather),
      },
      { atMs: untilMs, text: `calm between ${a} and ${b}`, act: ({ paths }) => paths.calm(a, b) },
    );
  }

  #ill(atMs: number): void {
    const tag = pick(this.#random, tags);
    const illness = pick(this.#random, ["silent", "servfail"] as const);
    const turn = (value: typeof illness | undefined) => (fleet: Fleet) => {
      fleet.member(tag).dnsIllness = value;
    };
    this.#steps.push(
      { atMs, text: `the DNS server of ${tag} is ${illness}`, act: turn(illness) },
      { atMs: atMs + this.#durationMs(), text: `the DNS server of ${tag} is well`, act: turn(undefined) },
    );
  }

  #crash(atMs: number): void {
    const tag = pick(this.#random, tags);
    const kind = pick(this.#random, ["power", "process"] as const);
    const downMs = pick(this.#random, [between(this.#random, 1, 300), between(this.#random, 300, 25_000)]);
    this.#steps.push(
      { atMs, text: `${tag} crashes (${kind})`, act: (fleet) => fleet.member(tag).crash(kind) },
      {
        atMs: atMs + downMs,
        text: `${tag} starts again`,
        act: (fleet) => void fleet.member(tag).start(),
      },
    );
  }

  #clock(atMs: number): void {
    const tag = pick(this.#random, this.#ours);
    const before = this.#clockMovedMs.get(tag) ?? 0;
    // Whose claim on a host is the older is told by creation times, so rivals must not come from the past.
    const hasRivals = this.#enabled.includes("bad");
    const byMs = Math.max(integer(this.#random, -60_000, 60_000), hasRivals ? -8_000 - before : -Infinity);
    this.#clockMovedMs.set(tag, before + byMs);
    this.#steps.push({
      atMs,
      text: `the clock of ${tag} jumps by ${byMs} ms`,
      act: (fleet) => fleet.cluster(tag).moveClock(byMs),
    });
  }

  #disk(atMs: number): void {
    const tag = pick(this.#random, this.#ours);
    const endMs = atMs + between(this.#random, 100, 20_000);
    this.#steps.push(
      { atMs, text: `the disk of ${tag} breaks`, act: (fleet) => fleet.cluster(tag).breakDisk() },
      {
        atMs: endMs,
        text: `${tag} gets another disk`,
        act: (fleet) => {
          const cluster = fleet.cluster(tag);
          if (!cluster.isDiskBroken) return;
          cluster.crash("process");
          void cluster.start();
        },
      },
    );
  }

  #tamper(atMs: number): void {
    const tag = pick(this.#random, tags);
    const application = pick(this.#random, this.#applications);
    const how = pick(this.#random, ["delete", "edit"] as const);
    this.#steps.push({
      atMs,
      text: `somebody ${how}s the DNSEndpoint of ${application.name} in ${tag}`,
      act: (fleet) => void fleet.member(tag).user.tamper(application, how),
    });
  }

  /** One of the addresses of a DNS server that has two goes silent. */
  #address(atMs: number): void {
    const tag = pick(
      this.#random,
      tags.filter((each) => this.#settings.secondAddress[each]),
    );
    const address = pick(this.#random, dnsAddressesOf(tag, this.#settings));
    const set = (value: string | undefined) => (fleet: Fleet) => {
      fleet.member(tag).deadAddress = value;
    };
    this.#steps.push(
      { atMs, text: `nothing comes from ${address} of ${tag}`, act: set(address) },
      { atMs: atMs + this.#durationMs(), text: `all addresses of ${tag} are well`, act: set(undefined) },
    );
  }

  /** The operator of k8gb hangs while its DNS server answers on. */
  #hang(atMs: number): void {
    const tag = pick(this.#random, this.#k8gbs);
    const hang = (isHanging: boolean) => (fleet: Fleet) => fleet.k8gbClusters.get(tag)?.hang(isHanging);
    this.#steps.push(
      { atMs, text: `the operator of ${tag} hangs`, act: hang(true) },
      { atMs: atMs + this.#durationMs(), text: `the operator of ${tag} goes on`, act: hang(false) },
    );
  }

  /** The operator of one of ours dies while its DNS server answers on, until the whole is started again. */
  #operator(atMs: number): void {
    const tag = pick(this.#random, this.#ours);
    this.#steps.push(
      { atMs, text: `the operator of ${tag} dies`, act: (fleet) => fleet.cluster(tag).killOperator() },
      {
        atMs: atMs + this.#durationMs(),
        text: `${tag} is started again`,
        act: (fleet) => {
          const cluster = fleet.cluster(tag);
          if (cluster.operatorDiedAtMs === undefined) return;
          cluster.crash("process");
          void cluster.start();
        },
      },
    );
  }

  #onCluster(atMs: number, what: string, act: (fleet: Fleet, tag: Tag) => void): void {
    const tag = pick(this.#random, this.#ours);
    this.#steps.push({ atMs, text: `${what} ${tag}`, act: (fleet) => act(fleet, tag) });
  }

  /** Two nodes; most often clusters. */
  #pair(): readonly [string, string] {
    const a = pick(this.#random, tags);
    const others = [
      ...tags.filter((tag) => tag !== a),
      ...tags.filter((tag) => tag !== a),
      clientName,
      parentName,
    ];
    return [a, pick(this.#random, others)];
  }

  #durationMs(): number {
    return pick(this.#random, [between(this.#random, 50, 2_000), between(this.#random, 2_000, 50_000)]);
  }
}
