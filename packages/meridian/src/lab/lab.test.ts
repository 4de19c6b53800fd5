import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabCommand, LabCommandAnswer, LabEventCode, LabState } from "@meridian/console";
import type { HttpClient, Random } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { startLab, type RunningLab } from "./start-lab.ts";

/** The whole lab on simulated machines: API server, informers and page server on one, a browser on another. */
class SimulatedLab {
  readonly simulation: Simulation;
  readonly random: Random;
  readonly #browser: HttpClient;
  readonly #lab: RunningLab;

  private constructor(parts: { simulation: Simulation; browser: HttpClient; lab: RunningLab }) {
    this.simulation = parts.simulation;
    this.random = parts.simulation.random("commands");
    this.#browser = parts.browser;
    this.#lab = parts.lab;
  }

  static async start(seed = 1): Promise<SimulatedLab> {
    const simulation = new Simulation({ seed });
    const server = simulation.node({ name: "server", addresses: ["10.0.0.1"] });
    const browser = simulation.node({ name: "browser", addresses: ["10.0.0.2"] });
    const lab = await simulation.complete(
      startLab(server.runtime, { listen: { address: "10.0.0.1", port: 8090 }, page: new Map() }),
    );
    const client = browser.runtime.network.httpClient({ origin: "http://10.0.0.1:8090" });
    return new SimulatedLab({ simulation, browser: client, lab });
  }

  /** Sends a command, lets a moment pass, and returns the answer. */
  async answerTo(command: LabCommand): Promise<LabCommandAnswer> {
    const body = new TextEncoder().encode(JSON.stringify(command));
    const answer = (await this.#ask("POST", "/lab/commands", body)) as LabCommandAnswer;
    await this.pass(100);
    return answer;
  }

  /** Sends commands that have to be carried out, one after another. */
  async do(...commands: readonly LabCommand[]): Promise<LabState> {
    for (const command of commands) {
      const answer = await this.answerTo(command);
      assert.ok("counter" in answer, `${JSON.stringify(command)}: ${JSON.stringify(answer)}`);
    }
    return this.state();
  }

  /** Sends a command so often without waiting for an answer. */
  flood(command: LabCommand, times: number): Promise<readonly LabCommandAnswer[]> {
    const body = new TextEncoder().encode(JSON.stringify(command));
    const answers = Array.from({ length: times }, () => this.#send("POST", "/lab/commands", body));
    return this.simulation.complete(Promise.all(answers)) as Promise<readonly LabCommandAnswer[]>;
  }

  async state(): Promise<LabState> {
    return (await this.#ask("GET", "/lab/state")) as LabState;
  }

  async pass(ms: number): Promise<void> {
    await this.simulation.run({ untilMs: this.simulation.nowMs + ms });
  }

  /** Lets time pass until a state is like this. */
  async until(fits: (state: LabState) => boolean, ms = 60_000): Promise<LabState> {
    const endsAtMs = this.simulation.nowMs + ms;
    for (;;) {
      const state = await this.state();
      if (fits(state)) return state;
      assert.ok(this.simulation.nowMs < endsAtMs, `not within ${ms} ms: ${JSON.stringify(state)}`);
      await this.pass(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.simulation.complete(Promise.resolve(this.#browser[Symbol.asyncDispose]()));
    await this.simulation.complete(Promise.resolve(this.#lab[Symbol.asyncDispose]()));
  }

  #ask(method: string, target: string, body?: Uint8Array): Promise<unknown> {
    return this.simulation.complete(this.#send(method, target, body));
  }

  async #send(method: string, target: string, body?: Uint8Array): Promise<unknown> {
    const headers = { host: "10.0.0.1:8090", "content-type": "application/json" };
    const response = await this.#browser.request({ method, target, headers, ...(body && { body }) });
    let text = "";
    for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
    return JSON.parse(text);
  }
}

const copy = (state: LabState, name = "copy-1"): LabState["copies"][number] => {
  const found = state.copies.find((each) => each.name === name);
  assert.ok(found !== undefined, `there is no ${name}`);
  return found;
};
const names = (pods: readonly { readonly name: string }[]): string => pods.map(({ name }) => name).join(" ");
const fresh = (state: LabState): boolean => state.copies.every(({ stale }) => !stale);
const codes = (state: LabState): readonly LabEventCode[] => state.log.map(({ event }) => event.code);
const last = <C extends LabEventCode>(state: LabState, code: C) => {
  const found = state.log.findLast(({ event }) => event.code === code)?.event;
  assert.ok(found !== undefined, `the log does not tell ${code}: ${codes(state).join(" ")}`);
  return found as Extract<LabState["log"][number]["event"], { readonly code: C }>;
};
const create: LabCommand = { do: "create" };
const cut: LabCommand = { do: "cut", copy: "copy-1" };
const connect: LabCommand = { do: "connect", copy: "copy-1" };

test("the lab begins with two Pods, and a copy that has read everything once", async () => {
  await using lab = await SimulatedLab.start();
  const state = await lab.state();
  assert.equal(state.truth.version, 2);
  assert.equal(names(state.truth.pods), "web-1 web-2");
  assert.equal(state.truth.historyMax, 4);
  assert.equal(state.truth.oldestResumable, 0);
  assert.deepEqual(state.truth.counters, { fullReads: 1, watches: 1, watchesOpen: 1 });
  const { counters, pods, server, version } = copy(state);
  assert.equal(version, 2);
  assert.equal(names(pods), "web-1 web-2");
  assert.deepEqual({ ...counters }, { ...counters, fullReads: 1, resyncs: 0, watches: 1, expired: 0 });
  assert.deepEqual(server, state.truth.counters);
});

test("nothing is written by anybody else", async () => {
  await using lab = await SimulatedLab.start();
  const { resourceVersion } = (await lab.state()).truth;
  await lab.pass(3_600_000);
  assert.equal((await lab.state()).truth.resourceVersion, resourceVersion);
});

test("a connected copy follows by differences, without another full read", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do(create, { do: "change", name: "web-1" }, { do: "delete", name: "web-2" });
  const state = await lab.until(fresh);
  assert.equal(state.truth.version, 5);
  assert.deepEqual(
    copy(state).pods.map(({ name, value }) => `${name} ${value}`),
    ["web-1 web:2", "web-3 web:1"],
  );
  assert.equal(state.truth.counters.fullReads, 1);
  assert.deepEqual(
    state.truth.history.map(({ by, change, name }) => `${change} ${name} by ${by.who}`),
    ["created web-2 by lab", "created web-3 by page", "changed web-1 by page", "deleted web-2 by page"],
  );
});

test("a copy that is cut off stays as it was; what it missed still fits the history, so differences are enough", async () => {
  await using lab = await SimulatedLab.start();
  const behind = await lab.do(cut, { do: "delete", name: "web-1" }, create, { do: "change", name: "web-2" });
  const { missing, pods, ...stale } = copy(behind);
  assert.equal(stale.version, 2);
  assert.equal(stale.behind, 3);
  assert.equal(stale.stale, true);
  assert.equal(stale.connected, false);
  assert.deepEqual(
    pods.map(({ mark, name }) => `${name} ${mark}`),
    ["web-1 gone", "web-2 older"],
  );
  assert.deepEqual(missing, ["web-3"]);

  await lab.do(connect);
  const state = await lab.until(fresh);
  assert.deepEqual(last(state, "caughtUp"), {
    ...{ code: "caughtUp", copy: "copy-1", fromVersion: 2, toVersion: 5, changes: 3 },
  });
  assert.equal(copy(state).counters.resyncs, 0);
  assert.deepEqual(copy(state).server, { fullReads: 1, watches: 2, watchesOpen: 1 });
});

test("a copy that missed more than the history holds reads everything again", async () => {
  await using lab = await SimulatedLab.start();
  const behind = await lab.do(cut, create, create, create, create, create);
  assert.equal(behind.truth.history.length, 4);
  assert.equal(behind.truth.oldestResumable, 3);
  assert.equal(copy(behind).behind, 5);

  await lab.do(connect);
  const state = await lab.until(fresh);
  assert.deepEqual(last(state, "tooOld"), {
    ...{ code: "tooOld", copy: "copy-1", version: 2, oldestResumable: 3 },
  });
  const { pods, version, why } = last(state, "everythingRead");
  assert.deepEqual({ pods, version, why }, { pods: 7, version: 7, why: "tooOld" });
  assert.ok(!codes(state).includes("caughtUp"));
  assert.equal(copy(state).counters.resyncs, 1);
  assert.equal(copy(state).counters.expired, 1);
  assert.equal(copy(state).server.fullReads, 2);
});

test("the boundary is exact: with four records four changes are differences, and the fifth is too much", async () => {
  for (const [changes, ending] of [
    [4, "caughtUp"],
    [5, "everythingRead"],
  ] as const) {
    await using lab = await SimulatedLab.start();
    await lab.do(cut, ...Array.from({ length: changes }, () => create), connect);
    const state = await lab.until(fresh);
    assert.equal(state.log.at(-1)?.event.code, ending, `${changes} changes`);
  }
});

test("a longer history carries a copy over more changes, and a compaction on request over none", async () => {
  await using lab = await SimulatedLab.start();
  const six = Array.from({ length: 6 }, () => create);
  await lab.do({ do: "setHistory", records: 10 }, cut, ...six, connect);
  const long = await lab.until(fresh);
  assert.equal(long.log.at(-1)?.event.code, "caughtUp");

  await lab.do(cut, create, { do: "compact" }, connect);
  const state = await lab.until(fresh);
  assert.equal(last(state, "everythingRead").why, "tooOld");
  assert.deepEqual(last(state, "compacted"), { code: "compacted", keep: 0, oldestResumable: 9 });
  assert.equal(state.truth.history.length, 0);
});

test("a compaction does not disturb a copy that is connected", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do(create, { do: "compact" }, create);
  const state = await lab.until(fresh);
  assert.equal(copy(state).counters.resyncs, 0);
  assert.equal(copy(state).server.watches, 1);
});

test("what comes back is the last state, not each state in between", async () => {
  await using lab = await SimulatedLab.start();
  const change: LabCommand = { do: "change", name: "web-2" };
  await lab.do(cut, change, change, change, connect);
  const state = await lab.until(fresh);
  assert.equal(copy(state).pods[1]?.value, "web:4");
});

test("reading a copy 100 times leaves the server's counters where they are", async () => {
  await using lab = await SimulatedLab.start();
  const state = await lab.do({ do: "readCopy", copy: "copy-1" });
  const { after, before, pods, times } = last(state, "copyRead");
  assert.deepEqual({ pods, times }, { pods: 2, times: 100 });
  assert.deepEqual(after, before);
  assert.equal(copy(state).reads, 100);
});

test("a change sent from a stale copy is refused with 409, and from a fresh one it is taken", async () => {
  await using lab = await SimulatedLab.start();
  const staleWrite: LabCommand = { do: "staleWrite", copy: "copy-1", name: "web-1" };
  const taken = await lab.do(staleWrite);
  assert.deepEqual(last(taken, "staleWriteAccepted"), {
    ...{ code: "staleWriteAccepted", copy: "copy-1", name: "web-1", sentVersion: 1, version: 3 },
  });

  await lab.until(fresh);
  const refused = await lab.do(cut, { do: "change", name: "web-1" }, staleWrite);
  assert.deepEqual(last(refused, "staleWriteRefused"), {
    ...{ code: "staleWriteRefused", copy: "copy-1", name: "web-1" },
    ...{ status: 409, reason: "Conflict", sentVersion: 3, currentVersion: 4 },
  });

  const gone = await lab.do({ do: "delete", name: "web-1" }, staleWrite);
  const { currentVersion, status } = last(gone, "staleWriteRefused");
  assert.deepEqual({ currentVersion, status }, { currentVersion: null, status: 404 });
});

test("on a silent wire a copy believes that it is connected; only its lag tells", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do({ do: "cut", copy: "copy-1", how: "silence" }, create, create);
  await lab.pass(20_000);
  const silent = copy(await lab.state());
  assert.equal(silent.connected, true);
  assert.equal(silent.behind, 2);
  assert.equal(silent.heldBack, 2);
  assert.ok((silent.lagSeconds ?? 0) >= 20, String(silent.lagSeconds));

  await lab.do(connect);
  const state = await lab.until(fresh);
  assert.equal(state.log.at(-1)?.event.code, "caughtUp");
  assert.equal(copy(state).server.watches, 1, "it is the watch of before");
});

test("the small controller keeps the number, and its writes are marked", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do({ do: "startController", copy: "copy-1", desired: 4 });
  const up = await lab.until((state) => state.truth.pods.length === 4 && fresh(state));
  assert.equal(names(up.truth.pods), "web-1 web-2 web-3 web-4");
  assert.deepEqual(up.truth.history.at(-1)?.by, {
    ...{ who: "controller", user: "small-controller", manager: "small-controller" },
  });

  await lab.do({ do: "delete", name: "web-2" });
  await lab.until((state) => state.truth.pods.length === 4 && fresh(state));
  await lab.do({ do: "startController", copy: "copy-1", desired: 1 });
  const down = await lab.until((state) => state.truth.pods.length === 1 && fresh(state));
  assert.equal(names(down.truth.pods), "web-1");
  assert.equal(down.controller.refusals, 0, "it waits for its own writes to come back");

  await lab.do({ do: "stopController" }, { do: "delete", name: "web-1" });
  await lab.pass(60_000);
  assert.equal((await lab.state()).truth.pods.length, 0);
});

test("while its copy is stale the controller does the wrong thing, and then the right one, whatever it missed", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do({ do: "startController", copy: "copy-1", desired: 3 });
  await lab.until((state) => state.truth.pods.length === 3 && fresh(state));

  await lab.do(cut, { do: "delete", name: "web-1" }, { do: "delete", name: "web-2" });
  await lab.pass(30_000);
  const wrong = await lab.state();
  assert.equal(names(wrong.truth.pods), "web-3", "it counts three in its copy");
  assert.equal(wrong.controller.last?.seen, 3);
  assert.equal(wrong.controller.last?.behind, 2);

  await lab.do(connect);
  const right = await lab.until((state) => state.truth.pods.length === 3 && fresh(state));
  assert.equal(names(right.truth.pods), "web-1 web-2 web-3");
});

test("a controller that acts on a stale copy is refused: the Pod that it wants is there, the one that it deletes is another", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do(cut, create, { do: "change", name: "web-2" });
  await lab.do({ do: "startController", copy: "copy-1", desired: 3 });
  const created = await lab.until((state) => state.controller.refusals > 0);
  const refusal = last(created, "controllerRefused");
  assert.deepEqual([refusal.action, refusal.name, refusal.status], ["create", "web-3", 409]);
  assert.equal(refusal.reason, "AlreadyExists");
  assert.equal(refusal.behind, 2);

  await lab.do({ do: "startController", copy: "copy-1", desired: 1 });
  const deleted = await lab.until((state) => last(state, "controllerRefused").action === "delete");
  const { name, reason, status } = last(deleted, "controllerRefused");
  assert.deepEqual({ name, reason, status }, { name: "web-2", reason: "Conflict", status: 409 });

  // It tries again every few seconds, and the log says so once.
  const lines = deleted.log.length;
  await lab.pass(30_000);
  assert.equal((await lab.state()).log.length, lines);

  await lab.do(connect);
  const right = await lab.until((state) => state.truth.pods.length === 1 && fresh(state));
  assert.equal(names(right.truth.pods), "web-1");
});

const faults: readonly (readonly [name: string, fault: LabCommand, told: LabEventCode])[] = [
  ["lost with its connection", { do: "loseEvent", copy: "copy-1" }, "eventLost"],
  ["doubled", { do: "doubleEvent", copy: "copy-1" }, "eventDoubled"],
  ["delayed", { do: "delayEvent", copy: "copy-1", ms: 8_000 }, "eventDelivered"],
];
for (const [name, fault, told] of faults) {
  test(`an event is ${name}, and the end state is right`, async () => {
    await using lab = await SimulatedLab.start();
    await lab.do({ do: "startController", copy: "copy-1", desired: 3 });
    await lab.until((state) => state.truth.pods.length === 3 && fresh(state));
    await lab.do(fault, { do: "delete", name: "web-2" });
    const state = await lab.until(
      (now) => codes(now).includes(told) && now.truth.pods.length === 3 && fresh(now),
    );
    assert.equal(names(state.truth.pods), "web-1 web-2 web-3");
    assert.equal(copy(state).armed, null);
    assert.equal(copy(state).counters.resyncs, 0, "differences were enough");
  });
}

test("an event that is taken out of the stream leaves a copy wrong at the newest version, until everything is read again", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do({ do: "loseEvent", copy: "copy-1", silently: true }, create, { do: "change", name: "web-1" });
  const wrong = copy(await lab.state());
  assert.equal(wrong.behind, 0);
  assert.equal(wrong.version, 4);
  assert.equal(wrong.stale, true);
  assert.deepEqual(wrong.missing, ["web-3"]);
  assert.equal(wrong.connected, true);

  await lab.do(cut, create, { do: "compact" }, connect);
  await lab.until(fresh);
});

test("copies come and go, each with counters of its own; the truth remembers all of them", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do({ do: "addCopy" }, { do: "addCopy" });
  await lab.do({ do: "cut", copy: "copy-2" }, create);
  const three = await lab.until((state) => !copy(state).stale && !copy(state, "copy-3").stale);
  assert.equal(copy(three, "copy-2").stale, true);
  assert.deepEqual(three.truth.counters, { fullReads: 3, watches: 3, watchesOpen: 2 });

  await lab.do({ do: "removeCopy", copy: "copy-2" });
  const two = await lab.state();
  assert.deepEqual(
    two.copies.map(({ name }) => name),
    ["copy-1", "copy-3"],
  );
  assert.equal(two.truth.counters.fullReads, 3);
  const again = await lab.do({ do: "addCopy" });
  assert.deepEqual(copy(again, "copy-2").server, { fullReads: 1, watches: 1, watchesOpen: 1 });
});

test("a controller stops with the copy that it trusts", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do(
    { do: "addCopy" },
    { do: "startController", copy: "copy-2" },
    { do: "removeCopy", copy: "copy-2" },
  );
  const state = await lab.state();
  assert.equal(state.controller.running, false);
  assert.equal(copy(state).connected, true);
});

test("a command that cannot be carried out says why, and changes nothing", async () => {
  await using lab = await SimulatedLab.start();
  const refusal = async (command: LabCommand): Promise<unknown> => {
    const answer = await lab.answerTo(command);
    return "refusal" in answer ? `${answer.refusal.code} ${answer.refusal.about}` : answer;
  };
  assert.equal(await refusal({ do: "cut", copy: "copy-9" }), "NoSuchCopy copy-9");
  assert.equal(await refusal({ do: "staleWrite", copy: "copy-1", name: "web-9" }), "NoSuchPod web-9");
  assert.equal(await refusal({ do: "explode" } as unknown as LabCommand), "BadCommand do");
  for (let added = 2; added <= 6; added++) await lab.do({ do: "addCopy" });
  assert.equal(await refusal({ do: "addCopy" }), "TooMany copies");
  for (let added = 3; added <= 20; added++) await lab.do(create);
  assert.equal(await refusal(create), "TooMany pods");
  const state = await lab.do({ do: "create", name: "web-1" }).catch(() => lab.state());
  assert.equal(state.truth.pods.length, 20);
});

test("a flood of commands is refused, but for as many as are carried out in moments", async () => {
  await using lab = await SimulatedLab.start();
  const answers = await lab.flood({ do: "readCopy", copy: "copy-1" }, 200);
  const refused = answers.filter((answer) => "refusal" in answer);
  assert.ok(refused.length > 100, `only ${refused.length} were refused`);
  for (const answer of refused) {
    assert.deepEqual(answer, { refusal: { code: "Unavailable", about: "busy" } });
  }
  assert.equal(copy(await lab.do(create)).reads, 100 * (answers.length - refused.length));
});

test("what the API server refuses is a line of the log", async () => {
  await using lab = await SimulatedLab.start();
  await lab.do({ do: "create", name: "web-1" });
  const missing = await lab.do({ do: "delete", name: "web-9" });
  assert.deepEqual(
    missing.log.slice(-2).map(({ event }) => event),
    [
      { code: "pageRefused", action: "create", name: "web-1", status: 409, reason: "AlreadyExists" },
      { code: "pageRefused", action: "delete", name: "web-9", status: 404, reason: "NotFound" },
    ],
  );
});

test("a reset is a new start, with versions from 1 and an empty log", async () => {
  await using lab = await SimulatedLab.start();
  const before = await lab.state();
  await lab.do(...([{ do: "setHistory", records: 9 }, { do: "addCopy" }, create, create, cut] as const), {
    do: "startController",
    copy: "copy-2",
    desired: 7,
  });
  await lab.pass(10_000);
  const after = await lab.do({ do: "reset" });
  const plain = (state: LabState): unknown => ({
    ...{ ...state, counter: 0, truth: { ...state.truth, resourceVersion: "" } },
    ...{ copies: state.copies.map((each) => ({ ...each, resourceVersion: "", lagSeconds: 0 })) },
    ...{ log: state.log.map(({ event }) => event) },
  });
  assert.deepEqual(plain(after), plain(before));
  assert.ok(after.counter > before.counter);
});

/** One command of a random program. */
function randomCommand(random: Random, state: LabState): LabCommand {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random.float() * of.length)]!;
  const some = pick(state.copies).name;
  const pod = pick([...state.truth.pods.map(({ name }) => name), "web-1", "web-30"]);
  return pick<LabCommand>([
    ...([create, create, { do: "change", name: pod }, { do: "delete", name: pod }] as const),
    ...([
      { do: "cut", copy: some },
      { do: "cut", copy: some, how: "silence" },
    ] as const),
    ...([{ do: "connect", copy: some }, { do: "compact", keep: 1 }, { do: "addCopy" }] as const),
    ...([
      { do: "loseEvent", copy: some },
      { do: "doubleEvent", copy: some },
    ] as const),
    ...([
      { do: "delayEvent", copy: some, ms: 700 },
      { do: "staleWrite", copy: some, name: pod },
    ] as const),
    ...([{ do: "startController", copy: some, desired: 3 }, { do: "stopController" }] as const),
    ...([{ do: "setHistory", records: 1 + Math.floor(random.float() * 6) }] as const),
    ...(state.copies.length > 1 ? [{ do: "removeCopy", copy: some } as const] : []),
  ]);
}

for (let seed = 1; seed <= 12; seed++) {
  test(`whatever is done (seed ${seed}), once all wires are open every copy ends equal to the truth`, async () => {
    await using lab = await SimulatedLab.start(seed);
    for (let step = 0; step < 40; step++) {
      await lab.answerTo(randomCommand(lab.random, await lab.state()));
      await lab.pass(lab.random.float() * 1_500);
    }
    for (const { name } of (await lab.state()).copies) await lab.do({ do: "connect", copy: name });
    await lab.do({ do: "startController", copy: (await lab.state()).copies[0]!.name, desired: 3 });
    const state = await lab.until((now) => fresh(now) && now.truth.pods.length === 3, 300_000);
    for (const each of state.copies) {
      assert.equal(each.counters.fullReads, each.server.fullReads, `${each.name}: both sides count alike`);
      assert.equal(each.server.watchesOpen, 1);
    }
  });
}
