import { apiVersionOf, configMapType } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { KubeClient } from "../../client/kube-client.ts";
import { Informer } from "../../informer/informer.ts";
import type { InformerOptions } from "../../informer/informer.ts";
import type { HandlerRegistration, InformerHandler } from "../../informer/informer-handler.ts";
import { refusals } from "../faults/fault.ts";
import { FaultyHttp } from "../faults/faulty-http.ts";
import { ApiTruth } from "../truth/api-truth.ts";
import { HandlerHistory } from "./handler-history.ts";
import type { Act, Program } from "./program.ts";

/** What a program is played over. */
export interface ModelOptions<T extends KubeObject = KubeObject> {
  /** What the collection holds. Default: ConfigMaps. */
  readonly type?: ResourceType;
  /** An object of that type; `value` is another one at each write. `labels` have to be among its labels. */
  readonly object?: (at: ModelObject) => T;
  /** What is to be tested: made anew for each handler of each copy. Default: a handler that does nothing. */
  readonly subject?: (world: ModelWorld) => ModelSubject<T>;
  /** Changes the informers. */
  readonly informer?: Partial<InformerOptions<T>>;
  /** Called at the end, when everything has come to rest: throws where something is not as it should be. */
  readonly atRest?: (world: ModelWorld) => void | Promise<void>;
}

/** A handler under test. */
export interface ModelSubject<T extends KubeObject = KubeObject> {
  readonly handler: InformerHandler<T>;
  /** Called at the end with the objects that there are for the handler's copy: throws where it has arrived somewhere else. */
  readonly check?: (objects: readonly T[]) => void | Promise<void>;
}

/** What an object of the model is to be made from. */
export interface ModelObject {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Where a program is played. */
export interface ModelWorld {
  readonly truth: ApiTruth;
  readonly box: FaultyHttp;
  /** Of the process that the copies are in. */
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly type: ResourceType;
}

const shownLabel = { shown: "yes" };
/** Where objects are, by their names. */
const namespaceOf = (name: string): string => (name < "d" ? "model" : "other");

/** Which part of the collection a copy follows; the first two are there from the start. */
const parts: readonly Part[] = [
  { selection: {}, selects: () => true },
  {
    selection: { labelSelector: "shown=yes" },
    selects: ({ metadata }) => metadata.labels?.["shown"] === "yes",
  },
  { selection: { namespace: "model" }, selects: ({ metadata }) => metadata.namespace === "model" },
  // Each namespace has a version of its own, and the copy's is only that of the one furthest behind.
  { selection: { namespaces: ["model", "other"] }, selects: () => true, ofSeveralVersions: true },
];

interface Part {
  readonly selection: {
    labelSelector?: string;
    namespace?: string;
    namespaces?: readonly [string, ...string[]];
  };
  readonly selects: (object: KubeObject) => boolean;
  readonly ofSeveralVersions?: true;
}

/** A copy, and which part of the collection it follows. */
interface Followed<T extends KubeObject> {
  readonly informer: Informer<T>;
  readonly part: Part;
  readonly listeners: Listener<T>[];
}

/** A handler of a copy. */
interface Listener<T extends KubeObject> {
  readonly history: HandlerHistory<T>;
  readonly subject: ModelSubject<T> | undefined;
  readonly registration: HandlerRegistration;
}

/**
 * Plays a program. At each moment every synced copy has to be the collection at the copy's version; in the end, when all
 * faults are over, every copy and what every handler was told have to equal the truth.
 *
 * @throws Error that says what was wrong
 */
export async function playProgram<T extends KubeObject = KubeObject>(
  program: Program,
  options: ModelOptions<T> = {},
): Promise<void> {
  const play = await Play.start(program, options);
  for (const act of program.acts) await play.perform(act);
  await play.end();
}

class Play<T extends KubeObject> {
  readonly #program: Program;
  readonly #options: ModelOptions<T>;
  readonly #simulation: Simulation;
  readonly #server: Runtime;
  readonly #world: ModelWorld;
  readonly #copies: Followed<T>[] = [];
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];
  #value = 0;

  private constructor(program: Program, options: ModelOptions<T>) {
    this.#program = program;
    this.#options = options;
    this.#simulation = new Simulation({ seed: program.seed });
    this.#server = this.#simulation.node({ name: "server", addresses: ["10.0.0.1"] }).runtime;
    const { runtime } = this.#simulation.node({ name: "client", addresses: ["10.0.0.2"] });
    const type = options.type ?? configMapType;
    const truth = new ApiTruth({ types: [type], clock: this.#server.clock });
    const box = new FaultyHttp({ clock: runtime.clock, random: this.#simulation.random("box") });
    const client = new KubeClient(box.inFrontOf(runtime), { origin: "http://10.0.0.1:6443" });
    this.#world = { truth, box, runtime, client, type };
    this.#simulation.onStep(() => this.#checkFaithful());
  }

  static async start<T extends KubeObject>(program: Program, options: ModelOptions<T>): Promise<Play<T>> {
    const play = new Play(program, options);
    const { truth } = play.#world;
    await play.#simulation.complete(
      play.#server.network.serveHttp({
        address: "10.0.0.1",
        port: 6443,
        handler: truth.handler,
        bodyBytesMax: 1e6,
      }),
    );
    for (const name of ["a", "b", "c"]) play.#put(name, true);
    play.#follow();
    play.#follow();
    return play;
  }

  async perform(act: Act): Promise<void> {
    const { truth, box, type } = this.#world;
    const simulation = this.#simulation;
    switch (act.do) {
      case "put":
        return this.#put(act.name, act.shown);
      case "remove":
        return truth.remove(type, { ...this.#scope(act.name), name: act.name });
      case "tick":
        return truth.tick();
      case "compact":
        // All that is known up to now, and a little more, is too old.
        truth.tick();
        return truth.compact();
      case "bookmark":
        return truth.bookmark();
      case "end watches":
        return truth.endWatches();
      case "garbage":
        return box.forge("<html>502 Bad Gateway</html>\n");
      case "silence":
        return box.silence();
      case "cut":
        return box.cut();
      case "connect":
        return box.connect();
      case "partition":
        return simulation.partition("client", "server");
      case "heal":
        return simulation.heal();
      case "no bookmarks":
        box.suppressBookmarks = true;
        return;
      case "no initial end":
        box.stripInitialEventsEnd = true;
        return;
      case "overtaking":
        box.answerDelayMs = { min: 0, max: 3_000 };
        return;
      case "calm":
        return box.calm();
      case "handler":
        return this.#addHandler(this.#copies[0]);
      case "remove handler":
        return this.#removeHandler();
      case "copy":
        if (this.#copies.length < 6) this.#follow();
        return;
      case "cut watches":
        return box.cutWatches(act.how);
      case "befall request":
        return box.befallRequest(act.fault);
      case "befall event":
        return box.befallEvent(act.fault);
      case "fail watches":
        return box.failWatches(refusals[act.how]);
      case "repeat":
        return box.repeat(act.back);
      case "hold":
        return box.hold(act.ms);
      case "pass":
        return simulation.run({ untilMs: simulation.nowMs + act.ms });
    }
  }

  /** Ends all faults, lets everything come to rest, and compares. */
  async end(): Promise<void> {
    const { truth, box, type, client } = this.#world;
    const simulation = this.#simulation;
    box.calm();
    simulation.heal();
    // The longest that anything may take: a watch that was made silent, and the waits behind it.
    await simulation.run({ untilMs: simulation.nowMs + 900_000 });
    for (const { informer, part, listeners } of this.#copies) {
      await simulation.run({ until: () => informer.connected, untilMs: simulation.nowMs + 60_000 });
      const there = truth.list<T>(type).filter(part.selects);
      if (statesOf(informer.lister.list()) !== statesOf(there)) {
        throw new Error("in the end a copy does not equal the truth");
      }
      for (const { history, subject } of listeners) {
        history.check(there);
        await simulation.complete(Promise.resolve(subject?.check?.(there)));
      }
    }
    await simulation.complete(Promise.resolve(this.#options.atRest?.(this.#world)));
    this.#stopping.abort(new Error("the program is over"));
    await simulation.complete(Promise.all(this.#running));
    await simulation.complete(client[Symbol.asyncDispose]());
    await simulation.run({ untilMs: simulation.nowMs + 1_000 });
    if (truth.openWatches > 0) throw new Error(`${truth.openWatches} watches were left open`);
  }

  #scope(name: string): { readonly namespace?: string } {
    return this.#world.type.namespaced ? { namespace: namespaceOf(name) } : {};
  }

  #put(name: string, shown: boolean): void {
    const { truth, type } = this.#world;
    const labels = shown ? shownLabel : {};
    const at = { name, namespace: namespaceOf(name), labels, value: ++this.#value };
    truth.put(this.#options.object?.(at) ?? plainObject(type, this.#scope(name), at));
  }

  #follow(): void {
    const { runtime, client, type } = this.#world;
    const { pageSize, watchList } = this.#program;
    const choice = type.namespaced ? parts : parts.slice(0, 2);
    const part = choice[this.#copies.length % choice.length] as Part;
    const settings = { pageSize, watchList, ...part.selection, ...this.#options.informer };
    const informer = new Informer<T>(runtime, { client, type, ...settings });
    const copy: Followed<T> = { informer, part, listeners: [] };
    this.#copies.push(copy);
    this.#addHandler(copy);
    this.#running.push(informer.run(this.#stopping.signal));
  }

  #addHandler(copy: Followed<T> | undefined): void {
    if (copy === undefined || copy.listeners.length > 5) return;
    const subject = this.#options.subject?.(this.#world);
    const history = new HandlerHistory<T>(subject?.handler);
    copy.listeners.push({ history, subject, registration: copy.informer.addHandler(history.handler) });
  }

  /** Of the first copy the newest handler but its first; it may know anything from then on, but nothing impossible. */
  #removeHandler(): void {
    const [copy] = this.#copies;
    if (copy === undefined || copy.listeners.length < 2) return;
    const listener = copy.listeners.pop();
    listener?.registration.remove();
    const problem = listener?.history.problems[0];
    if (problem !== undefined) throw new Error(problem);
  }

  #checkFaithful(): void {
    const { truth, type } = this.#world;
    for (const { informer, part } of this.#copies) {
      if (!informer.hasSynced || part.ofSeveralVersions === true) continue;
      const there = truth.list<T>(type, Number(informer.version)).filter(part.selects);
      if (statesOf(informer.lister.list()) !== statesOf(there)) {
        throw new Error(`the copy at ${informer.version} is not the truth at that version`);
      }
    }
  }
}

function plainObject<T extends KubeObject>(
  type: ResourceType,
  scope: { readonly namespace?: string },
  { name, labels, value }: ModelObject,
): T {
  const object = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, labels, ...scope },
    data: { value: String(value) },
  };
  return object as unknown as T;
}

/** Content and version of all objects, so that a copy with the right versions and a wrong content is noticed, too. */
function statesOf(objects: readonly KubeObject[]): string {
  const lines = objects.map(({ metadata, ...object }) => {
    const { name, namespace: place, uid, resourceVersion, labels } = metadata;
    const content = Object.entries({ ...object, labels }).sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify([place, name, uid, resourceVersion, content]);
  });
  return lines.sort().join("\n");
}
