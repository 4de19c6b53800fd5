import { setMaxListeners } from "node:events";
import { serveMetrics } from "@meridian/runtime";
import type { Endpoint, HttpServer, MetricsText, Runtime } from "@meridian/runtime";
import type { Controller } from "../controller/controller.ts";
import type { SourceInformer } from "../controller/source.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { InformerFactory } from "../informer/informer-factory.ts";
import type { LeaderElector } from "../leader/leader-elector.ts";
import { freshness, liveness } from "./health.ts";
import type { StalenessOptions } from "./health.ts";

/** What a program of controllers consists of. Whatever is left out, it does without. */
export interface ControllerProgram {
  readonly controllers: readonly Controller[];
  /** Whose copies the controllers read; it is run with them. */
  readonly factory?: Pick<InformerFactory, "run" | "informers">;
  /** Other copies, beside those that the controllers' sources read. None of them may be run by somebody else. */
  readonly informers?: readonly SourceInformer[];
  readonly events?: Pick<EventRecorder, "run">;
  /** The controllers run only while this elector leads; the copies are kept all the time. */
  readonly election?: Pick<LeaderElector, "name" | "run" | "status">;
  /** Where `/healthz`, `/readyz` and `/metrics` are served. */
  readonly health?: HealthOptions;
}

/** Where health is told, and what is bad health. */
export interface HealthOptions extends StalenessOptions {
  readonly listen: Endpoint;
  /** Whose metrics are told: a `Registry` of prom-client. Default: none. */
  readonly registry?: MetricsText;
  /** Whatever else must be so before the process should be asked. */
  readonly ready?: () => boolean | string;
}

/**
 * Runs a program of controllers until the signal aborts: serves its health, follows its copies, waits to lead, and works. It
 * stops in the opposite order: controllers end what they do, the lease is released, events that wait are written, and the
 * copies and the listener go last. Resolves when nothing of it runs any more.
 *
 * A part that fails ends the whole, since half a program is harder to notice than none.
 *
 * @throws what the first part failed with: among others ControllerError `DeadlineExceeded` (no complete copy in time; a stop
 *   that took too long) and `LeadershipLost`, NetworkError where the listener cannot be bound
 */
export async function runControllers(
  runtime: Pick<Runtime, "clock" | "network">,
  program: ControllerProgram,
  signal: AbortSignal,
): Promise<void> {
  const { controllers, factory, events, election } = program;
  const sources = controllers.flatMap((controller) => controller.sources);
  const own = new Set([...(program.informers ?? []), ...sources.map(({ informer }) => informer)]);
  for (const informer of factory?.informers ?? []) own.delete(informer);
  const copiesOf = [...own, ...(factory === undefined ? [] : [factory])];
  using bounds = deadlineSignal(runtime.clock, { signal });
  setMaxListeners(0, bounds.signal); // one for each part is what it is for, not a leak to warn of
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    bounds.abort(error);
  };

  const informers = (): readonly SourceInformer[] => [...own, ...(factory?.informers ?? [])];
  const listener = await listen(runtime, program, informers);
  const copies = start(
    copiesOf.map((each) => (ending) => each.run(ending)),
    fail,
  );
  const notes = start(events === undefined ? [] : [(ending) => events.run(ending)], fail);
  const work = (ending: AbortSignal): Promise<void> => {
    setMaxListeners(0, ending);
    return allEnded(
      controllers.map((controller) => controller.run(ending)),
      fail,
    );
  };
  try {
    if (election === undefined) await work(bounds.signal);
    else await election.run(bounds.signal, (term) => work(term.signal));
  } catch (error) {
    fail(error);
  } finally {
    await notes.stop();
    await copies.stop();
    await listener?.[Symbol.asyncDispose]();
  }
  if (failures.length > 0) throw failures[0];
}

async function listen(
  runtime: Pick<Runtime, "network">,
  { controllers, election, health }: ControllerProgram,
  informers: () => readonly SourceInformer[],
): Promise<HttpServer | undefined> {
  if (health === undefined) return undefined;
  return serveMetrics(runtime, {
    listen: health.listen,
    registry: health.registry ?? { metrics: () => Promise.resolve(""), contentType: "text/plain" },
    alive: () => liveness(controllers, election),
    ready: () => {
      const fresh = freshness(informers(), health);
      return fresh === true ? (health.ready?.() ?? true) : fresh;
    },
  });
}

/** Parts that run until they are stopped. */
interface Running {
  stop(): Promise<void>;
}

function start(
  parts: readonly ((signal: AbortSignal) => Promise<void>)[],
  fail: (error: unknown) => void,
): Running {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const ended = allEnded(
    parts.map((part) => part(ending.signal)),
    fail,
  );
  return {
    stop() {
      ending.abort(new Error("the program stops"));
      return ended;
    },
  };
}

/** Resolves when all have ended, however. */
async function allEnded(running: readonly Promise<void>[], fail: (error: unknown) => void): Promise<void> {
  await Promise.all(running.map((each) => each.catch(fail)));
}
