import { Informer, KubeClient } from "@meridian/controller";
import { podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import type { Runtime } from "@meridian/runtime";
import type { LabCommand, LabCommandAnswer, LabRefusal } from "../lab-commands.ts";
import { labLimits } from "../lab-state.ts";
import type { ArmedFault, LabState, ServerCounters } from "../lab-state.ts";
import type { WireIncident } from "../wire/faulty-wire.ts";
import { countersSince, noCounters, sumOfCounters } from "./compose-state.ts";
import { ControllerDesk, desiredDefault } from "./controller-desk.ts";
import { LabCopy } from "./lab-copy.ts";
import type { LabApiServer } from "./lab-copy.ts";
import { labNamespace, nextName } from "./lab-pods.ts";
import { beginningManager, controllerUser, copyNames, lookerUser, pageUser } from "./lab-users.ts";
import { LabView } from "./lab-view.ts";
import { PageWriter } from "./page-writer.ts";
import { Truth } from "./truth.ts";

/** How long a copy may take to be complete before a command answers without it. */
const syncMs = 5_000;
const requestMs = 10_000;
const steadyWatchMs = 1_100;
const historyMaxDefault = 4;
const readsDefault = 100;
const delayMsDefault = 5_000;
/** Commands that may wait for their turn: many more than people press buttons, few enough to be carried out in moments. */
const waitingMax = 64;

/** What the lab is about. */
export interface LabOptions {
  readonly apiServer: LabApiServer;
}

type RefusalOrNothing = LabRefusal | undefined;

/**
 * The lab: one API server, which it knows by its address, copies of its Pods, and what is done to them. Commands are carried out
 * one after another; whoever subscribes gets each new state.
 */
export class Lab implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #options: LabOptions;
  readonly #truth: Truth;
  readonly #page: KubeClient;
  readonly #small: KubeClient;
  readonly #view: LabView;
  readonly #writer: PageWriter;
  readonly #desk: ControllerDesk;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  /** Looks and commands: each waits for the one before. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Commands that are carried out or wait for that. */
  #waiting = 0;
  /** The look that has not begun: all who ask until then share it. */
  #nextLook: Promise<void> | undefined;
  #historyMax = historyMaxDefault;
  #copies: readonly LabCopy[] = [];

  /** Empties the namespace `default` of Pods and begins. @throws what the API server answers */
  static async open(runtime: Runtime, options: LabOptions): Promise<Lab> {
    const lab = new Lab(runtime, options);
    try {
      await lab.#inTurn(async () => {
        await lab.#reset();
        await lab.#view.look();
      });
      lab.#view.watchTheClock();
      return lab;
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(runtime: Runtime, options: LabOptions) {
    const { apiServer } = options;
    const { origin } = apiServer;
    this.#runtime = runtime;
    this.#options = options;
    const clientOf = (user: string): KubeClient =>
      new KubeClient(runtime, {
        origin,
        token: apiServer.tokenOf(user),
        deadlineMs: requestMs,
        userAgent: user,
      });
    this.#truth = new Truth(runtime.clock, {
      client: clientOf(lookerUser),
      http: runtime.network.httpClient({ origin }),
      token: apiServer.tokenOf(lookerUser),
    });
    this.#page = clientOf(pageUser);
    this.#small = clientOf(controllerUser);
    this.#view = new LabView(runtime, {
      truth: this.#truth,
      scene: () => ({ copies: this.#copies, controller: this.#desk.state, historyMax: this.#historyMax }),
      inTurn: (work) => this.#inTurn(work),
      signal: this.#closing.signal,
    });
    this.#writer = new PageWriter(this.#page, this.#view);
    this.#desk = new ControllerDesk(runtime, { client: this.#small, view: this.#view });
    // It only says when to look: other programs may write as well.
    const follower = new Informer<Pod>(
      { ...runtime, log: silentLogger },
      { client: this.#truth.client, type: podType, namespace: labNamespace },
    );
    const look = (): void => this.#view.lookSoon();
    follower.addHandler({ onAdd: look, onUpdate: look, onDelete: look });
    this.#following = follower.run(this.#closing.signal);
  }

  /** The newest state. */
  get state(): LabState {
    return this.#view.state;
  }

  /** Calls `listener` with each new state until the returned function is called. */
  subscribe(listener: (state: LabState) => void): () => void {
    return this.#view.subscribe(listener);
  }

  /** The state as it is right now. @throws what the API server answers */
  async look(): Promise<LabState> {
    this.#nextLook ??= this.#inTurn(() => {
      this.#nextLook = undefined;
      return this.#view.look();
    });
    await this.#nextLook;
    return this.state;
  }

  /**
   * Carries a command out. The state that shows what it did has at least the counter of the answer. Where too many wait it is
   * refused: one connection can send thousands without waiting for an answer.
   */
  async do(command: LabCommand): Promise<LabCommandAnswer> {
    if (this.#waiting >= waitingMax) return { refusal: { code: "Unavailable", about: "busy" } };
    this.#waiting++;
    try {
      return await this.#inTurn(() => this.#doNow(command));
    } finally {
      this.#waiting--;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(closed());
    this.#truth.stop(closed());
    await this.#turn;
    await this.#desk.reset();
    await Promise.all(this.#copies.map((copy) => copy[Symbol.asyncDispose]()));
    await this.#following;
    await Promise.all([this.#truth, this.#page, this.#small].map((client) => client[Symbol.asyncDispose]()));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #doNow(command: LabCommand): Promise<LabCommandAnswer> {
    try {
      const refusal = await this.#carryOut(command);
      await this.#view.look();
      return refusal === undefined ? { counter: this.state.counter } : { refusal };
    } catch (error) {
      if (this.#closing.signal.aborted) return { refusal: { code: "Unavailable", about: "closing" } };
      this.#runtime.log.warn("a command of the lab failed", { command: command.do, error });
      return { refusal: { code: "Unavailable", about: command.do } };
    }
  }

  async #carryOut(command: LabCommand): Promise<RefusalOrNothing> {
    switch (command.do) {
      case "create":
        return this.#createPod(command.name);
      case "change":
        await this.#writer.change(command.name);
        return undefined;
      case "delete":
        await this.#writer.delete(command.name);
        return undefined;
      case "compact":
        return this.#compact(command.keep ?? 0);
      case "setHistory":
        this.#historyMax = command.records;
        this.#view.tell({ code: "historyMaxSet", historyMax: command.records });
        return undefined;
      case "addCopy":
        return this.#addCopy();
      case "stopController":
        await this.#desk.stop();
        return undefined;
      case "reset":
        return this.#reset();
      case "cut":
      case "connect":
      case "removeCopy":
      case "readCopy":
      case "staleWrite":
      case "loseEvent":
      case "doubleEvent":
      case "delayEvent":
      case "startController": {
        const copy = this.#copies.find(({ name }) => name === command.copy);
        if (copy === undefined) return { code: "NoSuchCopy", about: command.copy };
        return this.#carryOutOn(copy, command);
      }
    }
  }

  async #carryOutOn(
    copy: LabCopy,
    command: Extract<LabCommand, { readonly copy: string }>,
  ): Promise<RefusalOrNothing> {
    switch (command.do) {
      case "cut":
        return command.how === "silence" ? this.#silence(copy) : this.#cut(copy);
      case "connect":
        return this.#connect(copy);
      case "removeCopy":
        return this.#removeCopy(copy);
      case "readCopy":
        return this.#readCopy(copy, command.times ?? readsDefault);
      case "staleWrite":
        return (await this.#writer.changeAsSeenBy(copy, command.name))
          ? undefined
          : { code: "NoSuchPod", about: command.name };
      case "loseEvent":
        return this.#arm(copy, { fault: command.silently === true ? "loseSilently" : "lose", ms: 0 });
      case "doubleEvent":
        return this.#arm(copy, { fault: "double", ms: 0 });
      case "delayEvent":
        return this.#arm(copy, { fault: "delay", ms: command.ms ?? delayMsDefault });
      case "startController":
        await this.#desk.start(copy, command.desired ?? desiredDefault);
        return undefined;
    }
  }

  async #createPod(given: string | undefined): Promise<RefusalOrNothing> {
    const pods = this.#view.reading?.pods ?? [];
    if (pods.length >= labLimits.pods) return { code: "TooMany", about: "pods" };
    const all = [...pods, ...this.#copies.flatMap((copy) => copy.read())];
    await this.#writer.create(given ?? nextName(all.map(({ metadata }) => metadata.name ?? "")));
    return undefined;
  }

  // The history.

  async #compact(keep: number): Promise<RefusalOrNothing> {
    // What is about to be forgotten is to be seen first.
    await this.#view.look();
    await this.#truth.compact({ keep });
    await this.#view.look();
    const oldestResumable = this.#view.line.versionOf(this.#view.reading?.compactedResourceVersion ?? "");
    this.#view.tell({ code: "compacted", keep, oldestResumable });
    return undefined;
  }

  // Copies.

  async #addCopy(): Promise<RefusalOrNothing> {
    const name = copyNames.find((each) => !this.#copies.some((copy) => copy.name === each));
    if (name === undefined) return { code: "TooMany", about: "copies" };
    const counters = await this.#truth.counters();
    const copy = new LabCopy(this.#runtime, {
      name,
      apiServer: this.#options.apiServer,
      countedBefore: counters.get(name) ?? noCounters,
      onChange: () => this.#view.lookSoon(),
      onIncident: (of, incident) => this.#incident(of, incident),
    });
    this.#copies = [...this.#copies, copy].toSorted((a, b) => a.name.localeCompare(b.name));
    this.#view.tell({ code: "copyAdded", copy: name });
    const waiting = new AbortController();
    const patience = this.#runtime.clock.sleep(syncMs, waiting.signal).catch(() => {});
    await Promise.race([copy.informer.synced, patience]);
    waiting.abort();
    return undefined;
  }

  async #removeCopy(copy: LabCopy): Promise<RefusalOrNothing> {
    await this.#desk.stop(copy);
    this.#copies = this.#copies.filter((each) => each !== copy);
    await copy[Symbol.asyncDispose]();
    this.#view.tell({ code: "copyRemoved", copy: copy.name });
    return undefined;
  }

  async #readCopy(copy: LabCopy, times: number): Promise<RefusalOrNothing> {
    const before = await this.#countedByServer();
    let pods = 0;
    for (let read = 0; read < times; read++) pods = copy.read().length;
    copy.reads += times;
    const after = await this.#countedByServer();
    this.#view.tell({ code: "copyRead", copy: copy.name, times, pods, before, after });
    return undefined;
  }

  async #countedByServer(): Promise<ServerCounters> {
    const counters = await this.#truth.counters();
    return countersSince(this.#view.countedBefore, sumOfCounters(counters.values()));
  }

  // The wire.

  async #cut(copy: LabCopy): Promise<RefusalOrNothing> {
    if (copy.wire.mode === "cut") return undefined;
    await this.#letWatchLast(copy);
    copy.beginGap(this.#view.line, "broken");
    copy.wire.cut();
    this.#view.tell({ code: "wireCut", copy: copy.name, version: this.#versionOf(copy) });
    return undefined;
  }

  #silence(copy: LabCopy): RefusalOrNothing {
    if (copy.wire.mode === "silent") return undefined;
    copy.beginGap(this.#view.line, "silent");
    copy.wire.silence();
    this.#view.tell({ code: "wireSilent", copy: copy.name, version: this.#versionOf(copy) });
    return undefined;
  }

  /**
   * An informer takes a watch that ends within a second and without an event for one that its server ends at once, and reads
   * everything to be sure. A person who cuts the wire so soon wants to see something else.
   */
  async #letWatchLast(copy: LabCopy): Promise<void> {
    const { clock } = this.#runtime;
    const openMs = clock.monotonicMs() - copy.wire.watchOpenedAtMs;
    if (openMs < steadyWatchMs) await clock.sleep(steadyWatchMs - openMs, this.#closing.signal);
  }

  #versionOf(copy: LabCopy): number | null {
    return this.#view.line.versionIfAny(copy.informer.version);
  }

  async #connect(copy: LabCopy): Promise<RefusalOrNothing> {
    if (copy.wire.mode === "open") return undefined;
    // The history is cut to its length before the copy comes back.
    await this.#view.look();
    const behind = this.state.copies.find(({ name }) => name === copy.name)?.behind ?? 0;
    this.#view.tell({ code: "wireConnected", copy: copy.name, behind });
    copy.wire.connect();
    return undefined;
  }

  #arm(copy: LabCopy, fault: ArmedFault): RefusalOrNothing {
    copy.wire.arm(fault);
    this.#view.tell({ code: "faultArmed", copy: copy.name, ...fault });
    return undefined;
  }

  #incident(copy: LabCopy, { event, ms, what }: WireIncident): void {
    if (what === "lost") copy.beginGap(this.#view.line, "broken");
    this.#view.tellInOrder({
      code: incidentCodes[what],
      copy: copy.name,
      name: event.name,
      change: event.change,
      version: this.#view.line.versionOf(event.resourceVersion),
      ms,
    });
  }

  // Back to the start.

  async #reset(): Promise<RefusalOrNothing> {
    await this.#desk.reset();
    const copies = this.#copies;
    this.#copies = [];
    await Promise.all(copies.map((copy) => copy[Symbol.asyncDispose]()));
    this.#historyMax = historyMaxDefault;

    const { pods } = await this.#truth.read();
    for (const { metadata } of pods) await this.#writer.delete(metadata.name ?? "");
    const { counters, resourceVersion } = await this.#truth.read();
    await this.#truth.compact({ resourceVersion });
    this.#view.begin(resourceVersion, sumOfCounters(counters.values()));
    this.#view.tell({ code: "started", historyMax: historyMaxDefault });
    for (const name of ["web-1", "web-2"]) await this.#writer.create(name, beginningManager);
    await this.#view.look();
    return this.#addCopy();
  }
}

const closed = (): Error => new Error("the lab is closed");

const incidentCodes = {
  lost: "eventLost",
  lostSilently: "eventLostSilently",
  doubled: "eventDoubled",
  delayed: "eventDelayed",
  delivered: "eventDelivered",
} as const;
