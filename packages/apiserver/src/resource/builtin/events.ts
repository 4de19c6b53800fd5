import type { ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import type { PrinterColumn } from "../printer-column.ts";
import { numberAt, pathColumn, since, textAt, textColumn, wide } from "./cells.ts";
import { integer, kind, object, objectReference, text, time } from "./schema-nodes.ts";
import type { ApiObject } from "../definition.ts";

const series = object("The event has happened several times.", {
  count: integer("How many times."),
  lastObservedTime: time("When it happened last."),
});

const source = object("Who saw it.", { component: text("Program."), host: text("Machine.") });

/** Events (v1): what happened to objects. */
export const events: ResourceDefinition = builtIn({
  kind: "Event",
  shortNames: ["ev"],
  schema: kind("Event tells what happened to an object. It is kept for an hour.", {
    involvedObject: objectReference("The object that it happened to."),
    reason: text("A word that says what happened, for machines."),
    message: text("A sentence that says what happened, for people."),
    source,
    firstTimestamp: time("When it happened first."),
    lastTimestamp: time("When it happened last."),
    count: integer("How many times it happened."),
    type: text("Normal or Warning."),
    eventTime: time("When it was seen first, to the microsecond."),
    series,
    action: text("What was done or tried."),
    related: objectReference("Another object that had part in it."),
    reportingComponent: text("Which controller reports it."),
    reportingInstance: text("Which instance of it reports it."),
  }),
  allColumns: columnsFor({ message: "message", object: "involvedObject", source: "source" }),
  selectable: [
    ...referenceFields("involvedObject"),
    "reason",
    "reportingComponent",
    ["source", "source.component"],
    "type",
  ],
  rules: { microTimes: [["eventTime"], ["series", "lastObservedTime"]], allowsCreateOnUpdate: true },
});

/** Events (events.k8s.io/v1): the same objects under newer names of their fields. */
export const eventsOfEventsGroup: ResourceDefinition = builtIn({
  group: "events.k8s.io",
  kind: "Event",
  shortNames: ["ev"],
  schema: kind("Event tells what happened to an object. It is kept for an hour.", {
    eventTime: time("When it was seen first, to the microsecond."),
    series,
    reportingController: text("Which controller reports it."),
    reportingInstance: text("Which instance of it reports it."),
    action: text("What was done or tried."),
    reason: text("A word that says what happened, for machines."),
    regarding: objectReference("The object that it happened to."),
    related: objectReference("Another object that had part in it."),
    note: text("A sentence that says what happened, for people."),
    type: text("Normal or Warning."),
    deprecatedSource: source,
    deprecatedFirstTimestamp: time("When it happened first, from older reporters."),
    deprecatedLastTimestamp: time("When it happened last, from older reporters."),
    deprecatedCount: integer("How many times it happened, from older reporters."),
  }),
  allColumns: columnsFor({ message: "note", object: "regarding", source: "deprecatedSource" }),
  selectable: [...referenceFields("regarding"), "reason", "reportingController", "type"],
  stored: {
    folder: "core/events",
    apiVersion: "v1",
    renamedFields: new Map([
      ["reportingController", "reportingComponent"],
      ["regarding", "involvedObject"],
      ["note", "message"],
      ["deprecatedSource", "source"],
      ["deprecatedFirstTimestamp", "firstTimestamp"],
      ["deprecatedLastTimestamp", "lastTimestamp"],
      ["deprecatedCount", "count"],
    ]),
  },
  rules: { microTimes: [["eventTime"], ["series", "lastObservedTime"]], allowsCreateOnUpdate: true },
});

function referenceFields(field: string): readonly string[] {
  return ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
    (part) => `${field}.${part}`,
  );
}

/** When an event happened last: reporters fill in different fields. */
export function lastSeenOf(event: ApiObject): string {
  return (
    textAt(event, "series", "lastObservedTime") ||
    textAt(event, "lastTimestamp") ||
    textAt(event, "deprecatedLastTimestamp") ||
    textAt(event, "eventTime") ||
    textAt(event, "metadata", "creationTimestamp")
  );
}

function columnsFor(fields: {
  readonly message: string;
  readonly object: string;
  readonly source: string;
}): readonly PrinterColumn[] {
  return [
    textColumn("Last Seen", "How long ago it happened last.", (event, now) => since(lastSeenOf(event), now)),
    pathColumn("Type", ".type", "Normal or Warning."),
    pathColumn("Reason", ".reason", "What happened."),
    textColumn("Object", "The object that it happened to.", (event) => {
      const kindText = textAt(event, fields.object, "kind").toLowerCase();
      return `${kindText}/${textAt(event, fields.object, "name")}`;
    }),
    wide(
      pathColumn("Subobject", `.${fields.object}.fieldPath`, "The part of the object that it happened to."),
    ),
    wide(pathColumn("Source", `.${fields.source}.component`, "Who saw it.")),
    textColumn("Message", "What happened, for people.", (event) => textAt(event, fields.message).trim()),
    wide(
      textColumn("First Seen", "How long ago it happened first.", (event, now) =>
        since(
          textAt(event, "firstTimestamp") ||
            textAt(event, "eventTime") ||
            textAt(event, "metadata", "creationTimestamp"),
          now,
        ),
      ),
    ),
    wide({
      name: "Count",
      type: "integer",
      description: "How many times it happened.",
      cell: (event) => numberAt(event, "series", "count") || numberAt(event, "count") || 1,
    }),
    wide({
      name: "Name",
      type: "string",
      format: "name",
      description: "Name of the event.",
      cell: ".metadata.name",
    }),
  ];
}
