import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer, openMemoryStorage, type ApiServer, type Storage } from "@meridian/apiserver";
import type { HttpResponse } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine } from "@meridian/runtime/sim";
import { hostileRequest, type FuzzRequest } from "./api-request-generator.ts";
import { apiSamples, widgetDefinition } from "./api-samples.ts";
import { fuzzRuns, fuzzSeed, pick, seededIntegers } from "./fuzz-seed.ts";

const requests = 20_000 * fuzzRuns;
/** Virtual time within which everything must have an answer; a list may wait some seconds for a version. */
const patienceMs = 30_000;
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** What the server said, its body read whole (of a watch: what came until it was stopped). */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

class FuzzedServer {
  readonly simulation: Simulation;
  readonly storage: Storage;
  readonly server: ApiServer;
  readonly errors: SimLogLine[];

  private constructor(simulation: Simulation, parts: Pick<FuzzedServer, "storage" | "server" | "errors">) {
    this.simulation = simulation;
    this.storage = parts.storage;
    this.server = parts.server;
    this.errors = parts.errors;
  }

  static async start(): Promise<FuzzedServer> {
    const errors: SimLogLine[] = [];
    const onLog = (line: SimLogLine): void => void (line.level === "error" && errors.push(line));
    const simulation = new Simulation({ seed: fuzzSeed, onLog });
    const { runtime } = simulation.node({ name: "api", addresses: ["10.0.0.1"] });
    const storage = await openMemoryStorage(runtime, {
      persistent: false,
      retention: { revisionsMax: 5_000 },
    });
    const server = createApiServer(runtime, {
      storage,
      tokens: [
        { token: "admin-token", username: "admin", groups: ["system:masters"] },
        { token: "guest-token", username: "guest" },
      ],
    });
    await simulation.complete(server.ready);
    const fuzzed = new FuzzedServer(simulation, { storage, server, errors });
    await fuzzed.expect([201], "POST", definitionsPath, widgetDefinition);
    await fuzzed.settle();
    return fuzzed;
  }

  /** Lets what was begun in the background come to its end. */
  async settle(): Promise<void> {
    await this.simulation.run({ untilMs: this.simulation.nowMs + 5_000 });
  }

  async ask(request: FuzzRequest, token: string | undefined): Promise<Answer> {
    const stopping = new AbortController();
    const asked = this.server.handler({
      ...request,
      headers: { ...request.headers, ...(token === undefined ? {} : { authorization: token }) },
      client: { address: "10.0.0.9", port: 40_000 },
      signal: stopping.signal,
    });
    const untilMs = this.simulation.nowMs + patienceMs;
    const response = await this.simulation.complete(asked, { untilMs });
    if (response.body instanceof Uint8Array) {
      return { ...response, text: new TextDecoder().decode(response.body) };
    }
    const reading = readAll(response);
    await this.simulation.run({ untilMs: this.simulation.nowMs + 10 });
    stopping.abort();
    return { ...response, text: await this.simulation.complete(reading, { untilMs }) };
  }

  async expect(
    statuses: readonly number[],
    method: string,
    ...[target, object]: [string, object?]
  ): Promise<void> {
    const body = object === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(object));
    const headers = object === undefined ? {} : { "content-type": "application/json" };
    const answer = await this.ask({ method, target, headers, body }, "Bearer admin-token");
    assert.ok(
      statuses.includes(answer.status),
      `${answer.status} for ${method} ${target}: ${answer.text.slice(0, 2_000)}`,
    );
  }

  /** Whatever was stored can be read, listed, shown as a table and watched, and the server takes work. */
  async checkHealth(): Promise<void> {
    // A deletion of all definitions is in order; then it is gone by now, and can be made anew.
    await this.settle();
    await this.expect([201, 409], "POST", definitionsPath, widgetDefinition);
    await this.settle();
    for (const { path } of apiSamples) {
      for (const query of [
        "",
        "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
      ]) {
        await this.expect([200], "GET", `${path}${query}`);
      }
    }
    const name = "probe";
    const path = "/api/v1/namespaces/kube-system/configmaps";
    await this.expect([201], "POST", path, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    await this.expect([200], "DELETE", `${path}/${name}`);
  }
}

async function readAll(response: HttpResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

/** Refusals say so in a Status; the only answers of a 5xx are those that tell a client what to do. */
function checkAnswer(answer: Answer): void {
  assert.ok(answer.status >= 200 && answer.status < 600 && answer.status !== 500, `status ${answer.status}`);
  if (answer.status > 500) assert.equal(answer.status, 504);
  if (answer.status < 400 || answer.headers["content-type"]?.startsWith("application/json") !== true) return;
  const status = JSON.parse(answer.text) as Readonly<Record<string, unknown>>;
  assert.equal(status["kind"], "Status");
  assert.equal(status["code"], answer.status);
  assert.ok(typeof status["message"] === "string" && status["message"] !== "");
}

function told(request: FuzzRequest): string {
  const body = Buffer.from(request.body.subarray(0, 2_000)).toString();
  return `${request.method} ${request.target.slice(0, 500)} ${JSON.stringify(request.headers).slice(0, 500)} ${body}`;
}

test(`${requests} hostile requests: never a 500, a hang or a poisoned collection (seed ${fuzzSeed})`, async () => {
  const fuzzed = await FuzzedServer.start();
  const integer = seededIntegers("api");
  const seen = new Map<number, number>();
  for (let index = 0; index < requests; index++) {
    const request = hostileRequest(integer);
    try {
      const answer = await fuzzed.ask(request, "Bearer admin-token");
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      assert.deepEqual(fuzzed.errors, []);
      checkAnswer(answer);
    } catch (cause) {
      throw new Error(`request ${index} of seed ${fuzzSeed}: ${told(request)}`, { cause });
    }
    if (index % 1_000 === 999) await fuzzed.checkHealth();
  }
  assert.equal((Object.prototype as Readonly<Record<string, unknown>>)["polluted"], undefined);
  for (const status of [200, 201, 400, 404, 409, 415, 422]) {
    assert.ok(
      (seen.get(status) ?? 0) > 10,
      `the requests are too tame or too wild: ${JSON.stringify([...seen])}`,
    );
  }
});

test("without a token that may, nothing is changed and nothing is told", async () => {
  const fuzzed = await FuzzedServer.start();
  const integer = seededIntegers("strangers");
  const tokens = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer wrong",
    "bearer",
    "Basic YWRtaW46YWRtaW4=",
    "Bearer admin-token2",
    "Bearer guest-token",
  ];
  const before = fuzzed.storage.revision();
  for (let index = 0; index < requests / 4; index++) {
    const request = hostileRequest(integer);
    const token = pick(tokens, integer);
    try {
      const answer = await fuzzed.ask(request, token);
      checkAnswer(answer);
      // Health, version and discovery say nothing about anybody's objects.
      if (/^\/(api|apis)\/.*\/(namespaces|customresourcedefinitions)/.test(request.target)) {
        assert.ok(
          [401, 403, 404, 405].includes(answer.status),
          `status ${answer.status}: ${answer.text.slice(0, 500)}`,
        );
      }
      assert.equal(fuzzed.storage.revision(), before);
      assert.deepEqual(fuzzed.errors, []);
    } catch (cause) {
      throw new Error(`request ${index} of seed ${fuzzSeed} as ${token}: ${told(request)}`, { cause });
    }
  }
});
