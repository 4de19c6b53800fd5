import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ControllerMeter, ControllerObserver, ReconcileRun } from "../controller/controller.ts";
import { WorkQueueMetrics } from "./work-queue-metrics.ts";

/** controller-runtime's. */
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

type Metered = Parameters<ControllerMeter["observe"]>[0];

/**
 * Metrics of controllers and their queues, under the names of client-go and controller-runtime, so that the dashboards and
 * alerts for those show these as well. Make one for a registry, and give it to each controller as its `meter`.
 */
export class ControllerMetrics implements ControllerMeter {
  readonly queues: WorkQueueMetrics;
  readonly #controllers: Metered[] = [];
  readonly #reconciles: Counter<"controller" | "result">;
  readonly #errors: Counter<"controller">;
  readonly #terminalErrors: Counter<"controller">;
  readonly #panics: Counter<"controller">;
  readonly #timeouts: Counter<"controller">;
  readonly #time: Histogram<"controller">;

  constructor(registry: Registry) {
    const registers = [registry];
    this.queues = new WorkQueueMetrics(registry);
    const counter = (name: string, help: string): Counter<"controller"> =>
      new Counter({ name: `controller_runtime_${name}`, help, labelNames: ["controller"], registers });
    this.#reconciles = new Counter({
      name: "controller_runtime_reconcile_total",
      help: "Total number of reconciliations per controller",
      labelNames: ["controller", "result"],
      registers,
    });
    this.#errors = counter("reconcile_errors_total", "Total number of reconciliation errors per controller");
    this.#terminalErrors = counter(
      "terminal_reconcile_errors_total",
      "Total number of terminal reconciliation errors per controller",
    );
    this.#panics = counter(
      "reconcile_panics_total",
      "Reconciles that threw at once, or rejected with what is no error",
    );
    this.#timeouts = counter(
      "reconcile_timeouts_total",
      "Total number of reconciliation timeouts per controller",
    );
    this.#time = new Histogram({
      name: "controller_runtime_reconcile_time_seconds",
      help: "Length of time per reconciliation per controller",
      labelNames: ["controller"],
      buckets: reconcileBuckets,
      registers,
    });
    this.#gauges(registry);
  }

  observe(controller: Metered): ControllerObserver {
    this.#controllers.push(controller);
    const { name } = controller;
    for (const result of ["success", "error", "requeue", "requeue_after"])
      this.#reconciles.inc({ controller: name, result }, 0);
    for (const counter of [this.#errors, this.#terminalErrors, this.#panics, this.#timeouts])
      counter.inc({ controller: name }, 0);
    return { onReconcile: (run) => this.#count(name, run) };
  }

  #count(controller: string, { result, thrown, ms }: ReconcileRun): void {
    const isError = result !== "success" && result !== "requeue_after";
    this.#reconciles.inc({ controller, result: isError ? "error" : result });
    this.#time.observe({ controller }, ms / 1000);
    if (isError) this.#errors.inc({ controller });
    if (result === "terminal_error") this.#terminalErrors.inc({ controller });
    if (result === "timeout") this.#timeouts.inc({ controller });
    if (thrown) this.#panics.inc({ controller });
  }

  /** Read when they are scraped. */
  #gauges(registry: Registry): void {
    const registers = [registry];
    const controllers = this.#controllers;
    const gauge = (name: string, help: string, read: (controller: Metered) => number): void => {
      new Gauge({
        name: `controller_runtime_${name}`,
        help,
        labelNames: ["controller"],
        registers,
        collect() {
          for (const each of controllers) this.set({ controller: each.name }, read(each));
        },
      });
    };
    gauge(
      "active_workers",
      "Number of currently used workers per controller",
      ({ counts }) => counts.running,
    );
    gauge("max_concurrent_reconciles", "Maximum number of concurrent reconciles per controller", (each) => {
      return each.concurrency;
    });
    gauge(
      "stuck_reconciles",
      "Reconciles that have not ended since their deadline",
      ({ counts }) => counts.stuck,
    );
  }
}
