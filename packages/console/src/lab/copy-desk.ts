import type { Runtime } from "@meridian/runtime";
import type { LabRefusal } from "../lab-commands.ts";
import type { ArmedFault, ServerCounters } from "../lab-state.ts";
import type { WireIncident } from "../wire/wire-incident.ts";
import { countersSince, noCounters, sumOfCounters } from "./compose-state.ts";
import { LabCopy } from "./lab-copy.ts";
import type { LabApiServer } from "./lab-copy.ts";
import { copyNames } from "./lab-users.ts";
import type { LabView } from "./lab-view.ts";
import type { Truth } from "./truth.ts";

/** How long a copy may take to be complete before a command answers without it. */
const syncMs = 5_000;
const steadyWatchMs = 1_100;

/** What the copies are made of, and who tells of them. */
export interface CopyDeskParts {
  readonly apiServer: LabApiServer;
  readonly truth: Truth;
  readonly view: LabView;
  /** Ends what waits. */
  readonly signal: AbortSignal;
}

/** Makes copies and takes them away, does to their wires what was asked, and tells the log. */
export class CopyDesk {
  readonly #runtime: Runtime;
  readonly #parts: CopyDeskParts;
  #copies: readonly LabCopy[] = [];

  constructor(runtime: Runtime, parts: CopyDeskParts) {
    this.#runtime = runtime;
    this.#parts = parts;
  }

  /** All of them, by name. */
  get copies(): readonly LabCopy[] {
    return this.#copies;
  }

  /** Makes one by the first name that is free, and waits a while until it is complete. */
  async add(): Promise<LabRefusal | undefined> {
    const name = copyNames.find((each) => !this.#copies.some((copy) => copy.name === each));
    if (name === undefined) return { code: "TooMany", about: "copies" };
    const { apiServer, truth, view } = this.#parts;
    const counters = await truth.counters();
    const copy = new LabCopy(this.#runtime, {
      name,
      apiServer,
      countedBefore: counters.get(name) ?? noCounters,
      onChange: () => view.lookSoon(),
      onIncident: (of, incident) => this.#incident(of, incident),
    });
    this.#copies = [...this.#copies, copy].toSorted((a, b) => a.name.localeCompare(b.name));
    view.tell({ code: "copyAdded", copy: name });
    const waiting = new AbortController();
    const patience = this.#runtime.clock.sleep(syncMs, waiting.signal).catch(() => {});
    await Promise.race([copy.informer.synced, patience]);
    waiting.abort();
    return undefined;
  }

  async remove(copy: LabCopy): Promise<void> {
    this.#copies = this.#copies.filter((each) => each !== copy);
    await copy[Symbol.asyncDispose]();
    this.#parts.view.tell({ code: "copyRemoved", copy: copy.name });
  }

  /** Takes all away, and tells nobody. */
  async reset(): Promise<void> {
    const copies = this.#copies;
    this.#copies = [];
    await Promise.all(copies.map((copy) => copy[Symbol.asyncDispose]()));
  }

  /** Reads a copy so often, and tells what the server counted before and after. */
  async read(copy: LabCopy, times: number): Promise<void> {
    const before = await this.#countedByServer();
    let pods = 0;
    for (let read = 0; read < times; read++) pods = copy.read().length;
    copy.reads += times;
    const after = await this.#countedByServer();
    this.#parts.view.tell({ code: "copyRead", copy: copy.name, times, pods, before, after });
  }

  /** Breaks what is under way; nothing comes through until `connect`. */
  async cut(copy: LabCopy): Promise<void> {
    if (copy.wire.mode === "cut") return;
    await this.#letWatchLast(copy);
    const { view } = this.#parts;
    copy.beginGap(view.line, "broken");
    copy.wire.cut();
    view.tell({ code: "wireCut", copy: copy.name, version: this.#versionOf(copy) });
  }

  /** Keeps what is under way; nothing comes through until `connect`. */
  silence(copy: LabCopy): void {
    if (copy.wire.mode === "silent") return;
    const { view } = this.#parts;
    copy.beginGap(view.line, "silent");
    copy.wire.silence();
    view.tell({ code: "wireSilent", copy: copy.name, version: this.#versionOf(copy) });
  }

  /** Ends a `cut` or `silence`. */
  async connect(copy: LabCopy): Promise<void> {
    if (copy.wire.mode === "open") return;
    const { view } = this.#parts;
    // The history is cut to its length before the copy comes back.
    await view.look();
    const behind = view.state.copies.find(({ name }) => name === copy.name)?.behind ?? 0;
    view.tell({ code: "wireConnected", copy: copy.name, behind });
    copy.wire.connect();
  }

  /** The next event of this copy's watch meets the fault. */
  arm(copy: LabCopy, fault: ArmedFault): void {
    copy.arm(fault);
    this.#parts.view.tell({ code: "faultArmed", copy: copy.name, ...fault });
  }

  /**
   * An informer takes a watch that ends within a second and without an event for one that its server ends at once, and reads
   * everything to be sure. A person who cuts the wire so soon wants to see something else.
   */
  async #letWatchLast(copy: LabCopy): Promise<void> {
    const { clock } = this.#runtime;
    const openMs = clock.monotonicMs() - copy.wire.watchAnsweredMs;
    if (openMs < steadyWatchMs) await clock.sleep(steadyWatchMs - openMs, this.#parts.signal);
  }

  #incident(copy: LabCopy, { code, event, ms }: WireIncident): void {
    const { view } = this.#parts;
    if (code === "eventLost") copy.beginGap(view.line, "broken");
    const { change, name, resourceVersion } = event;
    const version = view.line.versionOf(resourceVersion);
    view.tellInOrder({ code, copy: copy.name, name, change, version, ms });
  }

  #versionOf(copy: LabCopy): number | null {
    return this.#parts.view.line.versionIfAny(copy.informer.version);
  }

  async #countedByServer(): Promise<ServerCounters> {
    const counters = await this.#parts.truth.counters();
    return countersSince(this.#parts.view.countedBefore, sumOfCounters(counters.values()));
  }
}
