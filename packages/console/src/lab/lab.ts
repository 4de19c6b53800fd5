import { Informer, KubeClient } from "@meridian/controller";
import { podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import type { Runtime } from "@meridian/runtime";
import type { LabCommand, LabCommandAnswer, LabRefusal } from "../lab-commands.ts";
import { labLimits } from "../lab-state.ts";
import type { LabState } from "../lab-state.ts";
import { sumOfCounters } from "./compose-state.ts";
import { ControllerDesk, desiredDefault } from "./controller-desk.ts";
import { CopyDesk } from "./copy-desk.ts";
import type { LabApiServer, LabCopy } from "./lab-copy.ts";
import { labNamespace, nextName } from "./lab-pods.ts";
import { beginningManager, controllerUser, lookerUser, pageUser } from "./lab-users.ts";
import { LabView } from "./lab-view.ts";
import { PageWriter } from "./page-writer.ts";
import { Truth } from "./truth.ts";
import { Turns } from "./turns.ts";

const requestMs = 10_000;
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
  readonly #truth: Truth;
  readonly #page: KubeClient;
  readonly #small: KubeClient;
  readonly #view: LabView;
  readonly #writer: PageWriter;
  readonly #copies: CopyDesk;
  readonly #controller: ControllerDesk;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  /** Looks and commands: each waits for the one before. */
  readonly #turns = new Turns();
  /** Commands that are carried out or wait for that. */
  #waiting = 0;
  /** The look that has not begun: all who ask until then share it. */
  #nextLook: Promise<void> | undefined;
  #historyMax = historyMaxDefault;

  /** Empties the namespace `default` of Pods and begins. @throws what the API server answers */
  static async open(runtime: Runtime, options: LabOptions): Promise<Lab> {
    const lab = new Lab(runtime, options);
    try {
      await lab.#turns.run(async () => {
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
      scene: () => ({
        copies: this.#copies.copies,
        controller: this.#controller.state,
        historyMax: this.#historyMax,
      }),
      inTurn: (work) => this.#turns.run(work),
      signal: this.#closing.signal,
    });
    this.#writer = new PageWriter(this.#page, this.#view);
    this.#copies = new CopyDesk(runtime, {
      apiServer,
      truth: this.#truth,
      view: this.#view,
      signal: this.#closing.signal,
    });
    this.#controller = new ControllerDesk(runtime, { client: this.#small, view: this.#view });
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
    this.#nextLook ??= this.#turns.run(() => {
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
      return await this.#turns.run(() => this.#doNow(command));
    } finally {
      this.#waiting--;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(closed());
    this.#truth.stop(closed());
    await this.#turns.settled();
    await this.#controller.reset();
    await this.#copies.reset();
    await this.#following;
    await Promise.all([this.#truth, this.#page, this.#small].map((client) => client[Symbol.asyncDispose]()));
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
        await this.#compact(command.keep ?? 0);
        return undefined;
      case "setHistory":
        this.#historyMax = command.records;
        this.#view.tell({ code: "historyMaxSet", historyMax: command.records });
        return undefined;
      case "addCopy":
        return this.#copies.add();
      case "stopController":
        await this.#controller.stop();
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
        const copy = this.#copies.copies.find(({ name }) => name === command.copy);
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
        if (command.how === "silence") this.#copies.silence(copy);
        else await this.#copies.cut(copy);
        return undefined;
      case "connect":
        await this.#copies.connect(copy);
        return undefined;
      case "removeCopy":
        await this.#controller.stop(copy);
        await this.#copies.remove(copy);
        return undefined;
      case "readCopy":
        await this.#copies.read(copy, command.times ?? readsDefault);
        return undefined;
      case "staleWrite":
        return (await this.#writer.changeAsSeenBy(copy, command.name))
          ? undefined
          : { code: "NoSuchPod", about: command.name };
      case "loseEvent":
        this.#copies.arm(copy, { fault: command.silently === true ? "loseSilently" : "lose", ms: 0 });
        return undefined;
      case "doubleEvent":
        this.#copies.arm(copy, { fault: "double", ms: 0 });
        return undefined;
      case "delayEvent":
        this.#copies.arm(copy, { fault: "delay", ms: command.ms ?? delayMsDefault });
        return undefined;
      case "startController":
        await this.#controller.start(copy, command.desired ?? desiredDefault);
        return undefined;
    }
  }

  async #createPod(given: string | undefined): Promise<RefusalOrNothing> {
    const pods = this.#view.reading?.pods ?? [];
    if (pods.length >= labLimits.pods) return { code: "TooMany", about: "pods" };
    const all = [...pods, ...this.#copies.copies.flatMap((copy) => copy.read())];
    await this.#writer.create(given ?? nextName(all.map(({ metadata }) => metadata.name ?? "")));
    return undefined;
  }

  async #compact(keep: number): Promise<void> {
    // What is about to be forgotten is to be seen first.
    await this.#view.look();
    await this.#truth.compact({ keep });
    await this.#view.look();
    const oldestResumable = this.#view.line.versionOf(this.#view.reading?.compactedResourceVersion ?? "");
    this.#view.tell({ code: "compacted", keep, oldestResumable });
  }

  /** Back to the start. */
  async #reset(): Promise<RefusalOrNothing> {
    await this.#controller.reset();
    await this.#copies.reset();
    this.#historyMax = historyMaxDefault;

    const { pods } = await this.#truth.read();
    for (const { metadata } of pods) await this.#writer.delete(metadata.name ?? "");
    const { counters, resourceVersion } = await this.#truth.read();
    await this.#truth.compact({ resourceVersion });
    this.#view.begin(resourceVersion, sumOfCounters(counters.values()));
    this.#view.tell({ code: "started", historyMax: historyMaxDefault });
    for (const name of ["web-1", "web-2"]) await this.#writer.create(name, beginningManager);
    await this.#view.look();
    return this.#copies.add();
  }
}

const closed = (): Error => new Error("the lab is closed");
