import type { DnsClient } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { addressFamilies } from "../decide/address-family.ts";
import { localTargetsName } from "../decide/local-targets-name.ts";
import type { PeerAnswer } from "../decide/peer-view.ts";
import { localTargetsZone } from "../decide/zone-names.ts";
import { forEachParallel } from "../tasks/parallel.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { HintGate } from "./hint-gate.ts";
import { peerAnswer } from "./peer-answer.ts";
import type { PeerViews, ViewKey } from "./peer-views.ts";

/** Hosts that one peer is asked about at once; each is two questions. */
const hostsAtOnce = 64;
/** After so many failures in a row in a round, the rest of the round counts as failed too, unasked. */
const failuresMax = 16;

/** Which peer to talk with about which zone, and how often. */
export interface PeerSessionOptions {
  readonly zone: string;
  readonly geoTag: string;
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly deadlineMs: number;
  readonly periodMs: number;
  readonly views: PeerViews;
  readonly tasks: TaskScope;
}

/**
 * The talk with one peer about one zone. It has its own loop, so a silent peer delays nobody else.
 *
 * Every period it asks for each host; on a hint it checks the serial of the peer's own view and, where that moved, asks
 * at once. Questions may overlap: their answers are applied in the order of asking.
 */
export class PeerSession {
  readonly zone: string;
  readonly geoTag: string;
  readonly #runtime: Pick<Runtime, "clock" | "random" | "log">;
  readonly #options: PeerSessionOptions;
  readonly #hints: HintGate;
  readonly #tasks: TaskScope;
  /** `undefined` until the addresses were looked for; empty where none is known. */
  #servers: readonly Endpoint[] | undefined;
  #goodServer: Endpoint | undefined;
  readonly #wanted = new Set<string>();
  #order = 0;
  #isReachable = false;
  #seenSerial: number | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "random" | "log">, options: PeerSessionOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#tasks = options.tasks.child();
    this.zone = options.zone;
    this.geoTag = options.geoTag;
    this.#hints = new HintGate(runtime.clock, () =>
      this.#tasks.start("peer serial check", () => this.#checkSerial()),
    );
    this.#tasks.start("peer polling", (signal) => this.#pollForEver(signal));
  }

  /** Where the peer is asked, in order. */
  get servers(): readonly Endpoint[] {
    return this.#servers ?? [];
  }

  /** Where the peer is told of changes: each address once, on the port that it last answered on. */
  get notifyServers(): readonly Endpoint[] {
    const port = this.#goodServer?.port ?? this.servers[0]?.port;
    return this.servers.filter((server) => server.port === port);
  }

  /** Sets where the peer is asked. Empty: nobody could say, so it counts as unreachable. A change is tried at once. */
  setServers(servers: readonly Endpoint[]): void {
    const isSame = this.#servers !== undefined && textOf(servers) === textOf(this.#servers);
    this.#servers = servers;
    if (!isSame) this.#tasks.start("peer poll", () => this.#poll());
  }

  /** Asks about one host, for example a new one, without waiting for the period. Many at once are asked as one round. */
  ask(host: string): void {
    this.#wanted.add(host);
    if (this.#wanted.size === 1) this.#tasks.start("peer questions", () => this.#askWanted());
  }

  /** The peer may have changed: someone said so. Costs at most one serial check a second. */
  hint(): void {
    this.#hints.open();
  }

  close(): void {
    this.#hints.close();
    this.#tasks.abort(new Error("the peer is not asked any more"));
  }

  async #pollForEver(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#runtime;
    // Not in step with the other sessions, and never later than a period.
    await clock.sleep(this.#options.periodMs * (0.5 + random.float() / 2), signal);
    while (!signal.aborted) {
      const started = clock.monotonicMs();
      await this.#poll();
      const spent = clock.monotonicMs() - started;
      await clock.sleep(Math.max(0, this.#options.periodMs * (0.9 + random.float() / 10) - spent), signal);
    }
  }

  async #poll(): Promise<void> {
    if (this.#servers !== undefined) await this.#askAll(this.#options.views.hosts(this.zone));
  }

  async #askWanted(): Promise<void> {
    await Promise.resolve();
    const hosts = [...this.#wanted];
    this.#wanted.clear();
    if (this.#servers !== undefined) await this.#askAll(hosts);
  }

  /** Asks about some hosts, many at a time. @returns whether every question was answered */
  async #askAll(hosts: Iterable<string>): Promise<boolean> {
    // A host that is given up in this round must not hide an answer to a question that another round asked meanwhile.
    const order = this.#nextOrder();
    let failuresInARow = 0;
    let isWhole = true;
    await forEachParallel(hosts, hostsAtOnce, async (host) => {
      if (failuresInARow >= failuresMax) {
        isWhole = false;
        this.#recordFailure(host, {
          verdict: "not asked, since the peer did not answer about other hosts",
          order,
        });
      } else if (await this.#askHost(host)) failuresInARow = 0;
      else {
        failuresInARow += 1;
        isWhole = false;
      }
    });
    return isWhole;
  }

  /** @returns whether the peer answered */
  async #askHost(host: string): Promise<boolean> {
    if (this.servers.length === 0) {
      this.#recordFailure(host, {
        verdict: "no address of its DNS server is known",
        order: this.#nextOrder(),
      });
      return false;
    }
    const order = this.#nextOrder();
    const outcomes = addressFamilies.map(async (family) => {
      const verdict = await this.#query(localTargetsName(host), family);
      const answer = peerAnswer(verdict, family);
      this.#record({ zone: this.zone, geoTag: this.geoTag, host, family }, answer, order);
      return answer.kind === "answered" || (family === "AAAA" && verdict.state === "refused");
    });
    return (await Promise.all(outcomes)).every((answered) => answered);
  }

  /** Asks for the serial of the peer's own view, and for the hosts where it is not the one that they were last asked at. */
  async #checkSerial(): Promise<void> {
    if (this.servers.length === 0) return;
    const wasReachable = this.#isReachable;
    const verdict = await this.#query(localTargetsZone(this.zone), "SOA");
    if (verdict.state !== "answered" || verdict.outcome !== "data") return;
    const serial = serialOf(verdict.records.find((record) => record.type === "SOA")?.data);
    if (serial === undefined || (serial === this.#seenSerial && wasReachable)) return;
    // Only a whole round counts as having seen the serial.
    if (await this.#askAll(this.#options.views.hosts(this.zone))) this.#seenSerial = serial;
  }

  async #query(name: string, type: string): ReturnType<DnsClient["query"]> {
    const { dnsClient, deadlineMs } = this.#options;
    const verdict = await dnsClient.query({
      name,
      type,
      servers: this.#orderedServers(),
      deadlineMs,
      recursionDesired: true,
      signal: this.#tasks.signal,
    });
    this.#isReachable = verdict.state === "answered";
    if (verdict.state === "answered") this.#goodServer = verdict.server;
    return verdict;
  }

  /** The server that answered last comes first; the others stay behind it in their order. */
  #orderedServers(): readonly Endpoint[] {
    const good = this.#goodServer;
    const isGood = (server: Endpoint): boolean =>
      server.address === good?.address && server.port === good.port;
    return [...this.servers.filter(isGood), ...this.servers.filter((server) => !isGood(server))];
  }

  #recordFailure(
    host: string,
    { verdict, order }: { readonly verdict: string; readonly order: number },
  ): void {
    for (const family of addressFamilies)
      this.#record(
        { zone: this.zone, geoTag: this.geoTag, host, family },
        { kind: "failed", verdict },
        order,
      );
  }

  #record(key: ViewKey, answer: PeerAnswer, order: number): void {
    this.#options.views.record(key, answer, order);
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }
}

function textOf(servers: readonly Endpoint[]): string {
  return servers.map((server) => `${server.address} ${server.port}`).join(",");
}

/** The serial in the presentation form of an SOA record. */
function serialOf(data: string | undefined): number | undefined {
  const serial = Number(data?.split(/\s+/)[2]);
  return Number.isInteger(serial) ? serial : undefined;
}
