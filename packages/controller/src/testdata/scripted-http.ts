import { silentLogger } from "@meridian/runtime";
import type { HttpClient, HttpClientOptions, HttpClientRequest, HttpClientResponse, HttpHeaders, Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";

/** One thing that a scripted body does. */
export type BodyStep =
  /** These octets arrive. A value that is no text arrives as a line of JSON. */
  | { readonly send: unknown }
  | { readonly waitMs: number }
  /** The connection breaks. */
  | { readonly fail: Error };

/** One scripted answer; without `steps` the body is empty. After the last step the body ends, unless it stays open. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: HttpHeaders;
  /** The headers come this much later. */
  readonly delayMs?: number;
  readonly steps?: readonly BodyStep[];
  /** The body never ends by itself. */
  readonly open?: boolean;
}

/** Answers the n-th request (from 0); an error is what the network says. */
export type Script = (request: HttpClientRequest, count: number) => ScriptedAnswer | Error;

/** A world whose only server does what a script says, and the requests that it got. */
export interface ScriptedWorld {
  readonly simulation: Simulation;
  readonly runtime: Runtime;
  readonly requests: readonly HttpClientRequest[];
  /** The parameters of each request to a path that contains `part`. */
  readonly queries: (part: string) => readonly Readonly<Record<string, string>>[];
  readonly clientOptions: readonly HttpClientOptions[];
  /** Bodies that are open now. */
  readonly openBodies: () => number;
}

export function scriptedWorld(script: Script): ScriptedWorld {
  const simulation = new Simulation({ seed: 1 });
  const { runtime: node } = simulation.node({ name: "client", addresses: ["10.0.0.1"] });
  const requests: HttpClientRequest[] = [];
  const clientOptions: HttpClientOptions[] = [];
  let openBodies = 0;

  const http: HttpClient = {
    async request(request): Promise<HttpClientResponse> {
      const answer = script(request, requests.length);
      requests.push(request);
      if (answer instanceof Error) throw answer;
      if (answer.delayMs !== undefined) await node.clock.sleep(answer.delayMs, request.signal);
      return { status: answer.status ?? 200, headers: answer.headers ?? {}, body: body(answer, request.signal) };
    },
    async [Symbol.asyncDispose]() {},
  };
  async function* body(answer: ScriptedAnswer, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
    openBodies++;
    try {
      for (const step of answer.steps ?? []) {
        signal?.throwIfAborted();
        if ("waitMs" in step) await node.clock.sleep(step.waitMs, signal);
        else if ("fail" in step) throw step.fail;
        else yield octetsOf(step.send);
      }
      if (answer.open === true) await node.clock.sleep(2 ** 40, signal);
    } finally {
      openBodies--;
    }
  }

  const httpClient = (options: HttpClientOptions): HttpClient => {
    clientOptions.push(options);
    return http;
  };
  return {
    simulation,
    runtime: { ...node, log: silentLogger, network: { ...node.network, httpClient } },
    requests,
    queries: (part) =>
      requests.filter(({ target }) => target.includes(part)).map(({ target }) => {
        return Object.fromEntries(new URLSearchParams(target.split("?")[1] ?? ""));
      }),
    clientOptions,
    openBodies: () => openBodies,
  };
}

/** An answer whose whole body is this value as JSON. */
export function json(value: unknown, status = 200, headers: HttpHeaders = {}): ScriptedAnswer {
  return { status, headers, steps: [{ send: value }] };
}

function octetsOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return new TextEncoder().encode(typeof value === "string" ? value : `${JSON.stringify(value)}\n`);
}
