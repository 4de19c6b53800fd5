import { Counter, Gauge, Histogram, exponentialBuckets, type Registry } from "prom-client";
import type { WorkQueueMeter, WorkQueueObserver } from "../queue/work-queue.ts";

/** client-go's: ten nanoseconds to a thousand seconds. */
const buckets = exponentialBuckets(1e-8, 10, 12);

/** controller-runtime has both, with the same value; client-go has `name`. */
const labelNames = ["name", "controller"] as const;

type Metered = Parameters<WorkQueueMeter["observe"]>[0];

/**
 * Metrics of work queues under the names of client-go. Make one for a registry, and give it to each queue as its `meter`; the
 * queues of controllers are in those of `ControllerMetrics`.
 */
export class WorkQueueMetrics implements WorkQueueMeter {
  readonly #queues: Metered[] = [];
  readonly #adds: Counter<"name" | "controller">;
  readonly #retries: Counter<"name" | "controller">;
  readonly #waits: Histogram<"name" | "controller">;
  readonly #works: Histogram<"name" | "controller">;

  constructor(registry: Registry) {
    const common = { labelNames, registers: [registry] };
    this.#adds = new Counter({
      name: "workqueue_adds_total",
      help: "Total number of adds handled by workqueue",
      ...common,
    });
    this.#retries = new Counter({
      name: "workqueue_retries_total",
      help: "Total number of retries handled by workqueue",
      ...common,
    });
    this.#waits = new Histogram({
      name: "workqueue_queue_duration_seconds",
      help: "How long in seconds an item stays in workqueue before being requested",
      buckets,
      ...common,
    });
    this.#works = new Histogram({
      name: "workqueue_work_duration_seconds",
      help: "How long in seconds processing an item from workqueue takes.",
      buckets,
      ...common,
    });
    this.#gauges(registry);
  }

  observe(queue: Metered): WorkQueueObserver {
    this.#queues.push(queue);
    const labels = { name: queue.name, controller: queue.name };
    const [add, retry] = [this.#adds.labels(labels), this.#retries.labels(labels)];
    const [wait, work] = [this.#waits.labels(labels), this.#works.labels(labels)];
    // So that there is a series from the start, and a rate from the first event on.
    add.inc(0);
    retry.inc(0);
    this.#waits.zero(labels);
    this.#works.zero(labels);
    return {
      onAdd: () => add.inc(),
      onRetry: () => retry.inc(),
      onTake: (ms) => wait.observe(ms / 1000),
      onDone: (ms) => work.observe(ms / 1000),
    };
  }

  /** Read when they are scraped. */
  #gauges(registry: Registry): void {
    const queues = this.#queues;
    const registers = [registry];
    const gauge = (name: string, help: string, read: (runningMs: readonly number[]) => number): void => {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          for (const each of queues)
            this.set({ name: each.name, controller: each.name }, read(each.runningMs()) / 1000);
        },
      });
    };
    gauge(
      "workqueue_unfinished_work_seconds",
      "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads.",
      (runningMs) => runningMs.reduce((sum, ms) => sum + ms, 0),
    );
    gauge(
      "workqueue_longest_running_processor_seconds",
      "How many seconds has the longest running processor for workqueue been running.",
      (runningMs) => runningMs.reduce((longest, ms) => Math.max(longest, ms), 0),
    );
    new Gauge({
      name: "workqueue_depth",
      help: "Current depth of workqueue by workqueue and priority",
      labelNames: [...labelNames, "priority"],
      registers,
      collect() {
        this.reset();
        for (const { name, depths } of queues) {
          for (const [priority, depth] of new Map([[0, 0], ...depths]))
            this.set({ name, controller: name, priority: String(priority) }, depth);
        }
      },
    });
  }
}
