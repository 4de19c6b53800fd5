import { Counter, Gauge, type Registry } from "prom-client";
import type { SourceInformer } from "../controller/source.ts";
import type { InformerStatus } from "../informer/informer.ts";

/**
 * Registers metrics of copies, by resource: how often they were read whole and watched (under the names of client-go's
 * reflectors), how far they are and how old. They are read when they are scraped.
 */
export function registerInformerMetrics(registry: Registry, informers: readonly SourceInformer[]): void {
  const names = namesOf(informers);
  const read = (kind: typeof Counter | typeof Gauge, name: string, metric: ReadMetric): void => {
    new kind({
      name,
      help: metric.help,
      labelNames: ["name"],
      registers: [registry],
      collect() {
        this.reset();
        informers.forEach(({ status }, index) => {
          const value = metric.of(status);
          const labels = { name: names[index] ?? "" };
          if (this instanceof Counter) this.inc(labels, value);
          else this.set(labels, value);
        });
      },
    });
  };
  read(Counter, "reflector_lists_total", {
    help: "How often the collection was read as a whole.",
    of: ({ replaces }) => replaces,
  });
  read(Counter, "reflector_watches_total", { help: "Watches opened.", of: ({ watches }) => watches });
  read(Counter, "reflector_expired_total", {
    help: "How often the history was gone (410).",
    of: ({ expired }) => expired,
  });
  read(Counter, "reflector_failures_total", {
    help: "Lists and watches that failed.",
    of: ({ failures }) => failures,
  });
  read(Counter, "reflector_events_total", { help: "Events received.", of: ({ events }) => events });
  read(Counter, "reflector_bookmarks_total", {
    help: "Bookmarks received.",
    of: ({ bookmarks }) => bookmarks,
  });
  read(Gauge, "reflector_last_resource_version", {
    help: "The version that the copy is complete up to.",
    of: ({ version }) => Number(version),
  });
  read(Gauge, "informer_connected", {
    help: "1 while a watch is open.",
    of: ({ connected }) => (connected ? 1 : 0),
  });
  read(Gauge, "informer_lag_seconds", {
    help: "Time since the server last confirmed the copy by a list, an event or a bookmark.",
    of: ({ lagMs }) => lagMs / 1000,
  });
  read(Gauge, "informer_objects", { help: "Objects in the copy.", of: ({ objects }) => objects });
  read(Gauge, "informer_bytes", { help: "Memory of the objects as octets.", of: ({ bytes }) => bytes });
  read(Counter, "informer_handler_errors_total", {
    help: "Errors of handlers, transforms and index functions.",
    of: ({ handlerErrors }) => handlerErrors,
  });
}

interface ReadMetric {
  readonly help: string;
  readonly of: (status: InformerStatus) => number;
}

/** The resource, and a number where several copies are of one. */
function namesOf(informers: readonly SourceInformer[]): readonly string[] {
  const counts = new Map<string, number>();
  return informers.map(({ type }) => {
    const name = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  });
}
