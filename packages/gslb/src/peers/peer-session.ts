import type { DnsClient, TsigKey, ZoneTransferClient } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { addressFamilies, type AddressFamily } from "../decide/address-family.ts";
import type { PeerAnswer } from "../decide/peer-view.ts";
import { Ending } from "../tasks/ending.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { Wakeup } from "../tasks/wakeup.ts";
import { HintGate } from "./hint-gate.ts";
import { HostQuestions } from "./host-questions.ts";
import type { PeerViews } from "./peer-views.ts";
import type { ViewCopy } from "./view-copy.ts";
import { ViewTransfer, type ViewCheck } from "./view-transfer.ts";

/** Which peer to talk with about which zone, and how often. */
export interface PeerSessionOptions {
  readonly zone: string;
  readonly geoTag: string;
  readonly dnsClient: Pick<DnsClient, "query">;
  /** Fetches the views of peers that share the key. Absent: every peer is asked host by host. */
  readonly transfers?: Pick<ZoneTransferClient, "fetchZone">;
  /** Where there is a key, who cannot prove itself by it counts as silent. Default: it is asked host by host. */
  readonly requiresProof?: boolean;
  readonly deadlineMs: number;
  readonly periodMs: number;
  readonly views: PeerViews;
  readonly tasks: TaskScope;
  /** The peer carries other hosts, or balances one otherwise; or it is known only now, or only now that it cannot tell. */
  readonly onCarriage?: () => void;
  /** The peer has proved to have the fleet's key, as it had not before; it may not know yet that we have it, too. */
  readonly onProved?: () => void;
}

/** How the talk with a peer goes. */
export interface PeerContact {
  readonly isUp: boolean;
  readonly heardAtMs: number | undefined;
  /** `copy`: its view is transferred; `questions`: it is asked for each host; `nothing`: neither works now. */
  readonly mode: "nothing" | "copy" | "questions";
}

/** The part of a period over which hosts are asked: the shortest pause between two rounds is longer. */
const spreadPart = 0.85;
const noAddress = "no address of its DNS server is known";

/**
 * The talk with one peer about one zone. It has its own loop, so a silent peer delays nobody else.
 *
 * Every period, and on a hint, it asks for the serial of the peer's own view. Where the peer proves itself by the fleet's
 * key, what is newer is transferred, and that is all. Any other peer is asked for each host: spread over the period, and
 * all at once on a hint whose serial is news.
 */
export class PeerSession {
  readonly zone: string;
  readonly geoTag: string;
  /** Resolves once it is known whether the peer's view can be copied, and then it is. */
  readonly heard: Promise<void>;
  readonly #runtime: Pick<Runtime, "clock" | "random" | "log">;
  readonly #options: PeerSessionOptions;
  readonly #hints: HintGate;
  readonly #tasks: TaskScope;
  readonly #transfer: ViewTransfer;
  readonly #questions: HostQuestions;
  readonly #news = new Wakeup();
  /** `undefined` until the addresses were looked for; empty where none is known. */
  #servers: readonly Endpoint[] | undefined;
  #goodServer: Endpoint | undefined;
  readonly #wanted = new Set<string>();
  #order = 0;
  #isReachable = false;
  #heardAtMs: number | undefined;
  #isNew = false;
  /** How the views were last learned. */
  #mode: PeerContact["mode"] = "nothing";
  #seenSerial: number | undefined;
  #isHintProved = false;
  #checking: Promise<ViewCheck> | undefined;
  #checkingNext: Promise<ViewCheck> | undefined;
  #setHeard: () => void = () => {};

  constructor(runtime: Pick<Runtime, "clock" | "random" | "log">, options: PeerSessionOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#tasks = options.tasks.child();
    this.zone = options.zone;
    this.geoTag = options.geoTag;
    const { clock } = runtime;
    const { zone, dnsClient, transfers, deadlineMs, periodMs } = options;
    this.#transfer = new ViewTransfer({
      ...{ zone, dnsClient, clock, deadlineMs, periodMs },
      ...(transfers === undefined ? {} : { transfers }),
    });
    this.#questions = new HostQuestions({
      ...{ dnsClient, clock, tasks: this.#tasks, deadlineMs, periodMs },
      servers: () => this.#orderedServers(),
      onServer: (server) => (this.#goodServer = server),
      nextOrder: () => this.#nextOrder(),
      onAnswer: (host, family, { answer, order, key }) => {
        // Asked before the key was another: who answered may be anybody.
        if (answer.kind === "answered" && key !== this.#transfer.key && this.#needsProof) return;
        this.#setReachable(answer.kind === "answered");
        this.#record({ host, family }, answer, order);
      },
      onRecovered: () =>
        this.#tasks.start("peer questions", async () => {
          await this.#askEach("now");
        }),
    });
    this.#hints = new HintGate(clock, () => this.#tasks.start("peer check", () => this.#takeHint()));
    this.heard = new Promise((resolve) => (this.#setHeard = resolve));
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

  /** The peer's own view as last transferred; its serial is `undefined` where it never was. */
  get copy(): ViewCopy {
    return this.#transfer.copy;
  }

  /** Whether the peer answered when it was last asked, when it last did by the clock that only rises, and how it is asked. */
  get contact(): PeerContact {
    return { isUp: this.#isReachable, heardAtMs: this.#heardAtMs, mode: this.#mode };
  }

  /** Whether it is known which hosts the peer carries, or that it cannot tell. */
  get isCarriageKnown(): boolean {
    return this.copy.serial !== undefined || this.#mode === "questions";
  }

  /** Sets where the peer is asked. Empty: nobody could say, so it counts as unreachable. A change is tried at once. */
  setServers(servers: readonly Endpoint[]): void {
    const isSame = this.#servers !== undefined && textOf(servers) === textOf(this.#servers);
    this.#servers = servers;
    if (!isSame) this.#startAnew();
  }

  /** Sets the key by which the peer proves itself; `undefined`: it cannot, and is asked host by host. */
  setKey(key: TsigKey | undefined): void {
    const before = this.#transfer.key;
    this.#transfer.setKey(key);
    if (before !== key) this.#startAnew();
  }

  /** Asks about one host, for example a new one, without waiting for the period. Many at once are asked as one round. */
  ask(host: string): void {
    this.#wanted.add(host);
    if (this.#wanted.size === 1) this.#tasks.start("peer questions", () => this.#askWanted());
  }

  /** What the peer is told is signed with: the fleet's key, where it has proved to have it. */
  get notifyKey(): TsigKey | undefined {
    return this.#provingKey;
  }

  /**
   * The peer may have changed: someone said so, with the fleet's key or without. Costs at most one serial check a second, or
   * ten that are proved.
   */
  hint(by: { readonly isProved?: boolean } = {}): void {
    this.#isHintProved ||= by.isProved === true;
    this.#hints.open(by);
  }

  close(): void {
    this.#hints.close();
    this.#questions.stop();
    this.#setHeard();
    this.#tasks.abort(new Error("the peer is not asked any more"));
  }

  #startAnew(): void {
    this.#isNew = true;
    this.#news.wake();
  }

  async #pollForEver(signal: AbortSignal): Promise<void> {
    const { random } = this.#runtime;
    const { periodMs } = this.#options;
    // Not in step with the other sessions, and never later than a period.
    for (
      let waitMs = periodMs * (0.5 + random.float() / 2);
      ;
      waitMs = periodMs * (0.9 + random.float() / 10)
    ) {
      await this.#newsWithin(waitMs, signal);
      if (signal.aborted) return;
      const isNew = this.#isNew;
      this.#isNew = false;
      this.#tasks.start("peer poll", () => this.#poll(isNew));
    }
  }

  async #newsWithin(ms: number, signal: AbortSignal): Promise<void> {
    using ending = new Ending(signal);
    const slept = this.#runtime.clock.sleep(ms, ending.signal).catch(() => {});
    await Promise.race([slept, this.#news.wait(ending.signal)]);
  }

  async #poll(isNew: boolean): Promise<void> {
    if (this.#servers === undefined) return;
    const isUnknown = this.#servers.length === 0;
    if (isUnknown) this.#failAll(noAddress, this.#nextOrder());
    const isAsked = !isUnknown && (!this.#canCopy || (await this.#check()).kind === "foreign");
    this.#setHeard();
    if (!isAsked) return;
    const isOtherMode = this.#mode !== "questions";
    this.#mode = "questions";
    if (isOtherMode) this.#options.onCarriage?.();
    await Promise.all([isNew || isOtherMode ? this.#askEach("now") : undefined, this.#askEach("spread")]);
  }

  get #canCopy(): boolean {
    return this.#transfer.key !== undefined && this.#options.transfers !== undefined;
  }

  get #needsProof(): boolean {
    return this.#options.requiresProof === true && this.#canCopy;
  }

  /** Nothing is to be asked before the peer has proved itself, as while it is asked the second time. */
  get #isProofDue(): boolean {
    return this.#needsProof && this.#provingKey === undefined;
  }

  /** @returns whether every question was answered */
  async #askEach(pace: "now" | "spread"): Promise<boolean> {
    if (this.#isProofDue) return false;
    const { views, periodMs } = this.#options;
    const hosts = views.hosts(this.zone);
    if (pace === "now") return this.#questions.askNow(hosts, this.#provingKey);
    await this.#questions.askSpread(hosts, periodMs * spreadPart, this.#provingKey);
    return true;
  }

  get #provingKey(): TsigKey | undefined {
    return this.#transfer.isProved ? this.#transfer.key : undefined;
  }

  async #askWanted(): Promise<void> {
    await Promise.resolve();
    const hosts = [...this.#wanted];
    this.#wanted.clear();
    if (this.#servers === undefined) return;
    if (this.#mode === "copy") for (const host of hosts) this.#recordCopied(host, "its view");
    else if (this.#servers.length === 0)
      for (const host of hosts) this.#recordFailure(host, noAddress, this.#nextOrder());
    else if (this.#mode === "questions" || !this.#canCopy) {
      if (this.#isProofDue && (await this.#check()).kind !== "foreign") return;
      for (const host of hosts) this.#questions.join(host);
      await this.#questions.askNow(hosts, this.#provingKey);
    } else await this.#check();
  }

  /** Asks for the hosts where the serial of the peer's view is not the one that they were last asked at. */
  async #takeHint(): Promise<void> {
    if (this.servers.length === 0) return;
    const wasReachable = this.#isReachable;
    const isSigned = this.#transfer.isProved || this.#isHintProved || this.#isProofDue;
    this.#isHintProved = false;
    // Who does not have the key leaves a signed question unanswered, and the change would wait for its deadline.
    const check =
      this.#mode === "questions" && !isSigned
        ? await this.#transfer.look({ servers: this.#orderedServers(), signal: this.#tasks.signal })
        : await this.#check();
    if (check.kind !== "foreign" || check.serial === undefined) return;
    if (check.serial === this.#seenSerial && wasReachable) return;
    // Only a whole round counts as having seen the serial.
    if (await this.#askEach("now")) this.#seenSerial = check.serial;
  }

  /** One at a time; whoever comes while one is under way shares the next, since that one may be past the change. */
  #check(): Promise<ViewCheck> {
    if (this.#checking === undefined) {
      const check = this.#checkNow().finally(() => (this.#checking = undefined));
      return (this.#checking = check);
    }
    const next =
      this.#checkingNext ??
      this.#checking
        .catch(() => {})
        .then(() => {
          this.#checkingNext = undefined;
          return this.#check();
        });
    return (this.#checkingNext = next);
  }

  async #checkNow(): Promise<ViewCheck> {
    const order = this.#nextOrder();
    const before = this.copy;
    const wasProved = this.#transfer.isProved;
    const look = (): Promise<ViewCheck> =>
      this.#transfer.check({ servers: this.#orderedServers(), signal: this.#tasks.signal });
    const first = await look();
    // A peer that was there is not gone because a few packets were lost.
    const check = this.#judged(first.kind === "silent" && this.#isReachable ? await look() : first);
    switch (check.kind) {
      case "copied":
        this.#takeCopy(check);
        break;
      case "silent":
        this.#setReachable(false);
        // Without a key nothing is known of who should have answered.
        if (this.#canCopy) this.#failAll(check.verdict, order);
        break;
      case "foreign":
        this.#setReachable(true);
        this.#goodServer = check.server ?? this.#goodServer;
        if (this.#mode === "copy") this.#mode = "nothing";
        if (this.copy !== before) this.#options.onCarriage?.();
    }
    if (this.#transfer.isProved && !wasProved) this.#options.onProved?.();
    return check;
  }

  /** What a check means where proof is required. */
  #judged(check: ViewCheck): ViewCheck {
    const isStrange = check.kind === "foreign" && !check.isProved && this.#needsProof;
    return isStrange ? { kind: "silent", verdict: "it does not prove by the fleet's key who it is" } : check;
  }

  #takeCopy(check: Extract<ViewCheck, { readonly kind: "copied" }>): void {
    const { views, onCarriage } = this.#options;
    const isFirst = this.#mode !== "copy";
    const hosts = isFirst ? views.hosts(this.zone) : (check.change?.hosts ?? []);
    this.#questions.stop();
    this.#mode = "copy";
    this.#setReachable(true);
    this.#goodServer = check.server;
    for (const host of hosts) this.#recordCopied(host, check.verdict);
    views.confirm(this.zone, this.geoTag);
    if (isFirst || check.change?.isCarriageChanged === true) onCarriage?.();
    // The replica that was reached lags behind the one that was told of: look again soon.
    if (check.isBehind) this.#hints.open();
  }

  /** The order is that of now: a copy is never older than what was said from it before. */
  #recordCopied(host: string, from: string): void {
    const { copy } = this.#transfer;
    const order = this.#nextOrder();
    const carried = copy.carries(host);
    for (const family of addressFamilies) {
      const targets = copy.targets(host, family);
      const verdict = carried
        ? `${targets.length} of type ${family}, by ${from}`
        : `it has no Gslb for it, by ${from}`;
      this.#record({ host, family }, { kind: "answered", targets, verdict, carried }, order);
    }
  }

  #failAll(verdict: string, order: number): void {
    this.#questions.stop();
    this.#mode = "nothing";
    this.#setReachable(false);
    for (const host of this.#options.views.hosts(this.zone)) this.#recordFailure(host, verdict, order);
  }

  #setReachable(isReachable: boolean): void {
    this.#isReachable = isReachable;
    if (isReachable) this.#heardAtMs = this.#runtime.clock.monotonicMs();
  }

  /** The server that answered last comes first; the others stay behind it in their order. */
  #orderedServers(): readonly Endpoint[] {
    const good = this.#goodServer;
    const isGood = (server: Endpoint): boolean =>
      server.address === good?.address && server.port === good.port;
    return [...this.servers.filter(isGood), ...this.servers.filter((server) => !isGood(server))];
  }

  #recordFailure(host: string, verdict: string, order: number): void {
    for (const family of addressFamilies) this.#record({ host, family }, { kind: "failed", verdict }, order);
  }

  #record(
    about: { readonly host: string; readonly family: AddressFamily },
    answer: PeerAnswer,
    order: number,
  ): void {
    this.#options.views.record({ ...about, zone: this.zone, geoTag: this.geoTag }, answer, order);
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }
}

function textOf(servers: readonly Endpoint[]): string {
  return servers.map((server) => `${server.address} ${server.port}`).join(",");
}
