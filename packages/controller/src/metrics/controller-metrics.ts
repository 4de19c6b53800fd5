import { Counter, Gauge, Histogram, exponentialBuckets, type Registry } from "prom-client";
import type {
  ControllerMeter,
  ControllerObserver,
  MeteredController,
  ReconcileRun,
} from "../controller/controller.ts";
import type { WorkQueueObserver } from "../queue/work-queue.ts";

/** controller-runtime's. */
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** client-go's: ten nanoseconds to a thousand seconds. */
const queueBuckets = exponentialBuckets(1e-8, 10, 12);

const queueLabels = ["name", "controller"] as const;

/**
 * Metrics of controllers and their queues, under the names of client-go and controller-runtime, so that the dashboards and
 * alerts for those show these as well. Make one for a registry, and give it to each controller as its `meter`.
 */
export class ControllerMetrics implements ControllerMeter {
  readonly #controllers: MeteredController[] = [];
  readonly #registry: Registry;
  readonly #queue: QueueMetrics;
  readonly #reconciles: Counter<"controller" | "result">;
  readonly #errors: Counter<"controller">;
  readonly #terminalErrors: Counter<"controller">;
  readonly #panics: Counter<"controller">;
  readonly #timeouts: Counter<"controller">;
  readonly #time: Histogram<"controller">;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#queue = queueMetrics(registry);
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
    this.#gauges();
  }

  observe(controller: MeteredController): ControllerObserver {
    this.#controllers.push(controller);
    const { name } = controller;
    for (const result of ["success", "error", "requeue", "requeue_after"])
      this.#reconciles.inc({ controller: name, result }, 0);
    for (const counter of [this.#errors, this.#terminalErrors, this.#panics, this.#timeouts])
      counter.inc({ controller: name }, 0);
    return { queue: this.#queue(name), onReconcile: (run) => this.#count(name, run) };
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
  #gauges(): void {
    const registers = [this.#registry];
    const controllers = this.#controllers;
    const gauge = (name: string, help: string, read: (controller: MeteredController) => number): void => {
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
    const queueGauge = (name: string, help: string, read: (runningMs: readonly number[]) => number): void => {
      new Gauge({
        name: `workqueue_${name}`,
        help,
        labelNames: queueLabels,
        registers,
        collect() {
          for (const each of controllers)
            this.set({ name: each.name, controller: each.name }, read(each.runningMs()) / 1000);
        },
      });
    };
    queueGauge(
      "unfinished_work_seconds",
      "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads.",
      (runningMs) => runningMs.reduce((sum, ms) => sum + ms, 0),
    );
    queueGauge(
      "longest_running_processor_seconds",
      "How many seconds has the longest running processor for workqueue been running.",
      (runningMs) => runningMs.reduce((longest, ms) => Math.max(longest, ms), 0),
    );
    new Gauge({
      name: "workqueue_depth",
      help: "Current depth of workqueue by workqueue and priority",
      labelNames: [...queueLabels, "priority"],
      registers,
      collect() {
        this.reset();
        for (const { name, depths } of controllers) {
          for (const [priority, depth] of new Map([[0, 0], ...depths]))
            this.set({ name, controller: name, priority: String(priority) }, depth);
        }
      },
    });
  }
}

/** Makes the observer of one queue. */
type QueueMetrics = (name: string) => WorkQueueObserver;

function queueMetrics(registry: Registry): QueueMetrics {
  const labelNames = queueLabels;
  const registers = [registry];
  const adds = new Counter({
    name: "workqueue_adds_total",
    help: "Total number of adds handled by workqueue",
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: "workqueue_retries_total",
    help: "Total number of retries handled by workqueue",
    labelNames,
    registers,
  });
  const waits = new Histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long in seconds an item stays in workqueue before being requested",
    labelNames,
    buckets: queueBuckets,
    registers,
  });
  const works = new Histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long in seconds processing an item from workqueue takes.",
    labelNames,
    buckets: queueBuckets,
    registers,
  });
  return (name) => {
    const labels = { name, controller: name };
    const [add, retry] = [adds.labels(labels), retries.labels(labels)];
    const [wait, work] = [waits.labels(labels), works.labels(labels)];
    add.inc(0);
    retry.inc(0);
    return {
      onAdd: () => add.inc(),
      onRetry: () => retry.inc(),
      onTake: (ms) => wait.observe(ms / 1000),
      onDone: (ms) => work.observe(ms / 1000),
    };
  };
}
