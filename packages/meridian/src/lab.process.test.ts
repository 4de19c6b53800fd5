import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { LabCommand, LabState } from "@meridian/console";

const main = fileURLToPath(new URL("./main.js", import.meta.url));
const root = await mkdtemp(join(tmpdir(), "meridian-lab-"));
after(() => rm(root, { recursive: true, force: true }));
const withinMs = 60_000;

/** A `meridian` command that serves the lab, and where. */
class LabProcess implements AsyncDisposable {
  readonly url: string;
  readonly printed: () => string;
  readonly #stop: () => Promise<number | null>;

  private constructor(parts: { url: string; printed: () => string; stop: () => Promise<number | null> }) {
    this.url = parts.url;
    this.printed = parts.printed;
    this.#stop = parts.stop;
  }

  static async start(...args: readonly string[]): Promise<LabProcess> {
    const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const url = await new Promise<string>((resolve, reject) => {
      const look = (chunk: Buffer): void => {
        printed += chunk.toString();
        const found = /informer lab is at (http:\S+)\n/.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.on("close", () => reject(new Error(`ended early: ${printed}`)));
    });
    const stop = (): Promise<number | null> => {
      child.kill("SIGTERM");
      return ended;
    };
    return new LabProcess({ url, printed: () => printed, stop });
  }

  stop(): Promise<number | null> {
    return this.#stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** A page's view of the lab: commands by fetch, states by server-sent events. */
class Viewer implements AsyncDisposable {
  readonly #url: string;
  readonly #leaving = new AbortController();
  readonly #states: LabState[] = [];
  readonly #reading: Promise<void>;
  #wake: () => void = () => {};
  #failure: Error | undefined;

  constructor(url: string) {
    this.#url = url;
    this.#reading = this.#read().catch((error: unknown) => {
      if (!this.#leaving.signal.aborted) this.#failure = error as Error;
      this.#wake();
    });
  }

  get newest(): LabState {
    return this.#states.at(-1)!;
  }

  get counters(): readonly number[] {
    return this.#states.map(({ counter }) => counter);
  }

  /** Sends commands, and waits for the state that shows what the last one did. */
  async do(...commands: readonly LabCommand[]): Promise<LabState> {
    let counter = 0;
    for (const command of commands) {
      const response = await fetch(`${this.#url}lab/commands`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(command),
      });
      const answer = (await response.json()) as { readonly counter: number };
      assert.equal(response.status, 200, `${JSON.stringify(command)}: ${JSON.stringify(answer)}`);
      ({ counter } = answer);
    }
    return this.until((state) => state.counter >= counter);
  }

  /** Waits until a state that was sent is like this. */
  async until(fits: (state: LabState) => boolean): Promise<LabState> {
    const deadline = AbortSignal.timeout(withinMs);
    deadline.addEventListener("abort", () => this.#wake());
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const state = this.#states.at(-1);
      if (state !== undefined && fits(state)) return state;
      assert.ok(!deadline.aborted, `not within ${withinMs} ms: ${JSON.stringify(state)}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const response = await fetch(`${this.#url}lab/events`, { signal: this.#leaving.signal });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.ok(response.body !== null);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = /^event: state\nid: \d+\ndata: (.*)$/.exec(block)?.[1];
        if (data !== undefined) this.#states.push(JSON.parse(data) as LabState);
      }
      this.#wake();
    }
    throw new Error("the stream of states has ended");
  }
}

const fresh = (state: LabState): boolean => state.copies.every(({ stale }) => !stale);
const told = (state: LabState): readonly string[] => state.log.map(({ event }) => event.code);
const names = (state: LabState): string => state.truth.pods.map(({ name }) => name).join(" ");
const create: LabCommand = { do: "create" };
const cut: LabCommand = { do: "cut", copy: "copy-1" };
const connect: LabCommand = { do: "connect", copy: "copy-1" };

test("the story of the lab, from outside", { timeout: 5 * withinMs }, async (t) => {
  await using lab = await LabProcess.start("lab", "--listen", "127.0.0.1:0");
  await using viewer = new Viewer(lab.url);

  await t.test("the copy is read once, and follows by differences", async () => {
    const start = await viewer.until((state) => state.copies.length === 1 && fresh(state));
    assert.equal(names(start), "web-1 web-2");
    await viewer.do(create);
    const state = await viewer.until(fresh);
    assert.deepEqual(state.truth.counters, { fullReads: 1, watches: 1, watchesOpen: 1 });
  });

  await t.test("cut off for a few changes, it is caught up by the differences", async () => {
    const behind = await viewer.do(cut, { do: "delete", name: "web-1" }, create, {
      do: "change",
      name: "web-2",
    });
    assert.equal(behind.copies[0]?.behind, 3);
    assert.deepEqual(
      behind.copies[0]?.pods.map(({ mark, name }) => `${name} ${mark}`),
      ["web-1 gone", "web-2 older", "web-3 same"],
    );
    assert.deepEqual(behind.copies[0]?.missing, ["web-4"]);
    await viewer.do(connect);
    const state = await viewer.until(fresh);
    assert.ok(told(state).includes("caughtUp"));
    assert.equal(state.truth.counters.fullReads, 1);
  });

  await t.test("cut off for more than the history holds, it reads everything again", async () => {
    await viewer.do(cut, create, create, create, create, create, connect);
    const state = await viewer.until((now) => fresh(now) && now.truth.counters.fullReads === 2);
    assert.ok(told(state).includes("tooOld"));
    assert.equal(state.copies[0]?.counters.resyncs, 1);
  });

  await t.test("100 reads leave the server's counters where they are", async () => {
    const state = await viewer.do({ do: "readCopy", copy: "copy-1", times: 100 });
    const read = state.log.at(-1)?.event;
    assert.ok(read?.code === "copyRead");
    assert.equal(read.times, 100);
    assert.deepEqual(read.after, read.before);
  });

  await t.test("a change sent from a stale copy is refused with 409", async () => {
    const state = await viewer.do(...([cut, { do: "change", name: "web-2" }] as const), {
      do: "staleWrite",
      copy: "copy-1",
      name: "web-2",
    });
    const refused = state.log.findLast(({ event }) => event.code === "staleWriteRefused")?.event;
    assert.ok(refused?.code === "staleWriteRefused");
    assert.equal(refused.status, 409);
    await viewer.do(connect);
    await viewer.until(fresh);
  });

  await t.test("the controller is wrong while its copy is stale, and right in the end", async () => {
    await viewer.do({ do: "startController", copy: "copy-1", desired: 3 });
    const three = await viewer.until((state) => state.truth.pods.length === 3 && fresh(state));
    const [first = ""] = names(three).split(" ");
    await viewer.do(cut, { do: "delete", name: first });
    const counted = viewer.newest.controller.counts;
    const wrong = await viewer.until((state) => state.controller.counts > counted);
    assert.equal(wrong.truth.pods.length, 2);
    assert.equal(wrong.controller.last?.seen, 3);
    await viewer.do(connect);
    const right = await viewer.until((state) => state.truth.pods.length === 3 && fresh(state));
    assert.equal(right.truth.history.at(-1)?.by.who, "controller");
  });

  for (const [fault, code] of [
    [{ do: "loseEvent", copy: "copy-1" }, "eventLost"],
    [{ do: "doubleEvent", copy: "copy-1" }, "eventDoubled"],
    [{ do: "delayEvent", copy: "copy-1", ms: 2_000 }, "eventDelivered"],
  ] as const satisfies readonly (readonly [LabCommand, string])[]) {
    await t.test(`after ${fault.do} the end state is right`, async () => {
      const last = viewer.newest.truth.pods.at(-1)?.name ?? "";
      const since = viewer.newest.log.at(-1)?.number ?? 0;
      await viewer.do(fault, { do: "delete", name: last });
      await viewer.until(
        (state) =>
          state.log.some(({ event, number }) => number > since && event.code === code) &&
          state.truth.pods.length === 3 &&
          fresh(state),
      );
    });
  }

  await t.test("states come in order, and a second viewer sees the same", async () => {
    assert.deepEqual(
      viewer.counters,
      viewer.counters.toSorted((a, b) => a - b),
    );
    await using second = new Viewer(lab.url);
    const state = await second.do({ do: "stopController" });
    await viewer.until(({ counter }) => counter >= state.counter);
    const plain = await (await fetch(`${lab.url}lab/state`)).json();
    assert.ok((plain as LabState).counter >= state.counter);
  });
});

/** A request with headers that `fetch` does not let one set. */
function ask(url: string, headers: Readonly<Record<string, string>>, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject);
  });
}

test(
  "the page is served to its own address only, and lets nothing else in",
  { timeout: withinMs },
  async () => {
    await using lab = await LabProcess.start("lab", "--listen", "127.0.0.1:0", "--host", "Lab.example");
    const page = await fetch(lab.url);
    assert.equal(page.status, 200);
    const html = await page.text();
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|https?:|\*|data:/);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.equal(page.headers.get("x-content-type-options"), "nosniff");

    // Nothing stands in the document that the policy would refuse, and nothing is fetched from elsewhere.
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:\/\//);
    const sources = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1] ?? "");
    assert.ok(
      sources.some((source) => source.endsWith(".js")) && sources.some((source) => source.endsWith(".css")),
    );
    for (const source of sources) {
      const asset = await fetch(lab.url + source);
      assert.equal(asset.status, 200, source);
      assert.equal(asset.headers.get("cache-control"), "no-store");
      assert.doesNotMatch(asset.headers.get("content-type") ?? "", /octet-stream/);
      await asset.arrayBuffer();
    }

    assert.equal(await ask(lab.url, { host: "evil.example" }), 403);
    assert.equal(await ask(lab.url, { host: "lab.example:80" }), 200);
    assert.equal(await ask(`${lab.url}lab/state`, { host: "evil.example" }), 403);
    const { host } = new URL(lab.url);
    assert.equal(await ask(`${lab.url}lab/state`, { host: host.replace("127.0.0.1", "localhost") }), 200);
    assert.equal(await ask(`${lab.url}lab/state`, { "sec-fetch-site": "cross-site" }), 403);
    assert.equal(await ask(`${lab.url}lab/commands`, {}), 405);

    const post = (headers: Readonly<Record<string, string>>, body: string): Promise<Response> =>
      fetch(`${lab.url}lab/commands`, { method: "POST", headers, body });
    const json = { "content-type": "application/json" };
    assert.equal((await post({ ...json, origin: "http://evil.example" }, '{"do":"create"}')).status, 403);
    assert.equal((await post({ "content-type": "text/plain" }, '{"do":"create"}')).status, 415);
    assert.equal((await post(json, "{")).status, 400);
    assert.equal((await post(json, '{"do":"connect","copy":"copy-9"}')).status, 404);
    assert.equal((await post(json, JSON.stringify({ do: "create", name: "a".repeat(8_000) }))).status, 413);
    const state = (await (await fetch(`${lab.url}lab/state`)).json()) as LabState;
    assert.equal(state.truth.version, 2, "none of these was carried out");
  },
);

test(
  "streams are bounded, and the lab stops with its readers still there",
  { timeout: withinMs },
  async () => {
    const lab = await LabProcess.start("lab", "--listen", "127.0.0.1:0");
    const leaving = new AbortController();
    const open = (): Promise<Response> => fetch(`${lab.url}lab/events`, { signal: leaving.signal });
    const streams = await Promise.all(Array.from({ length: 32 }, open));
    assert.ok(streams.every(({ status }) => status === 200));
    const refused = await open();
    assert.equal(refused.status, 503);
    assert.equal(await lab.stop(), 0);
    leaving.abort();
  },
);

test(
  "the playground serves the lab and prints where, on another port where the usual one is taken",
  {
    timeout: 2 * withinMs,
  },
  async () => {
    // Whoever has the port already, this server or another program: it is taken.
    const taken = createServer().on("error", () => {});
    await new Promise<void>((resolve) => {
      taken.once("listening", resolve).once("error", () => resolve());
      taken.listen(8090, "127.0.0.1");
    });
    const args = ["up", "--data", join(root, "up"), "--ephemeral", "--clusters", "1", "--no-examples"];
    await using up = await LabProcess.start(...args);
    taken.close();
    assert.notEqual(new URL(up.url).port, "8090");
    await using viewer = new Viewer(up.url);
    const state = await viewer.do(create);
    assert.equal(names(state), "web-1 web-2 web-3");
    assert.equal((await fetch(up.url)).status, 200);
  },
);

test("where the port is taken, the lab says how to get another one", { timeout: withinMs }, async () => {
  await using first = await LabProcess.start("lab", "--listen", "127.0.0.1:0");
  const { host } = new URL(first.url);
  const taken = new RegExp(
    `the informer lab on ${host}: the port is taken.* --listen 127\\.0\\.0\\.1:0 for a free`,
  );
  await assert.rejects(LabProcess.start("lab", "--listen", host), taken);
});

test("a place that is no place is refused", { timeout: withinMs }, async () => {
  await assert.rejects(LabProcess.start("lab", "--listen", "here"), /--listen here: must be an address/);
  await assert.rejects(LabProcess.start("lab", "--host", "a:80"), /--host a:80: must be a name/);
  await assert.rejects(
    LabProcess.start("up", "--data", join(root, "never"), "--lab", "127.0.0.1:1", "--no-lab"),
    /give either --lab ADDR:PORT or --no-lab/,
  );
});
