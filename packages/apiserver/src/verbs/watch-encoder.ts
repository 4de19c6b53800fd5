import type { Status } from "@meridian/kube";
import type { ApiRequest } from "../http/api-request.ts";
import { encodeJson } from "../json/json-text.ts";
import type { ObjectChange } from "../objects/object-store.ts";
import { resourceVersionOf } from "../objects/resource-version.ts";
import { matchesSelection, type Selection } from "../objects/selection.ts";
import { type ApiObject, servedApiVersion } from "../resource/definition.ts";
import { partialObject } from "../resource/partial-object.ts";
import { type IncludeObject, tableOf } from "../resource/table.ts";
import type { Revision } from "../storage/storage.ts";
import { includeObjectOf } from "./respond-object.ts";

type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

/** JSON of objects that went out in an event: watchers of one version share it, for as long as the object lives. */
const objectTexts = new WeakMap<ApiObject, string>();

/** Turns changes into the lines of a watch, in the representation that the client asked for. */
export class WatchEncoder {
  readonly #request: ApiRequest;
  readonly #selection: Selection;
  readonly #now: () => number;
  readonly #includeObject: IncludeObject;
  #columnsSent = false;

  /** @throws StatusError 400. */
  constructor(request: ApiRequest, options: { readonly selection: Selection; readonly now: () => number }) {
    this.#request = request;
    this.#selection = options.selection;
    this.#now = options.now;
    this.#includeObject = includeObjectOf(request.query);
  }

  /** The line of an object that exists when the watch starts; empty if it is not selected. */
  initial(object: ApiObject): string {
    return this.#matches(object) ? this.#line("ADDED", object) : "";
  }

  /** The line of a change: entering the selection is ADDED, leaving it is DELETED. Empty when it never was in it. */
  change({ current, previous, revision }: ObjectChange): string {
    const before = previous !== undefined && this.#matches(previous);
    if (current !== undefined && this.#matches(current))
      return this.#line(before ? "MODIFIED" : "ADDED", current);
    if (!before) return "";
    // The last state that matched, at the version of the write that ended it: who resumes there does not see it again.
    const resourceVersion = resourceVersionOf(revision);
    return this.#line("DELETED", { ...previous, metadata: { ...previous.metadata, resourceVersion } });
  }

  /** Says that the stream is complete up to `revision`; `initialEnd` also that the initial state has been sent. */
  bookmark(revision: Revision, options: { readonly initialEnd?: boolean } = {}): string {
    const { resource } = this.#request;
    return this.#line("BOOKMARK", {
      kind: resource.definition.kind,
      apiVersion: servedApiVersion(resource),
      metadata: {
        resourceVersion: resourceVersionOf(revision),
        ...(options.initialEnd === true && { annotations: { "k8s.io/initial-events-end": "true" } }),
      },
    });
  }

  error(status: Status): string {
    return `{"type":"ERROR","object":${encodeJson(status)}}\n`;
  }

  #matches(object: ApiObject): boolean {
    return matchesSelection(this.#request.resource, object, this.#selection);
  }

  #line(type: EventType, object: ApiObject): string {
    return `{"type":"${type}","object":${this.#text(type, object)}}\n`;
  }

  #text(type: EventType, object: ApiObject): string {
    const { form, resource } = this.#request;
    switch (form.representation) {
      case "object":
        return objectText(object);
      case "partial":
        return encodeJson(partialObject(object, form.metaVersion));
      case "table": {
        const withColumns = !this.#columnsSent;
        this.#columnsSent = true;
        const { resourceVersion = "" } = object.metadata;
        return encodeJson(
          tableOf(resource, type === "BOOKMARK" ? [] : [object], {
            metaVersion: form.metaVersion,
            includeObject: this.#includeObject,
            now: this.#now(),
            metadata: { ...(type === "BOOKMARK" ? object.metadata : { resourceVersion }) },
            withColumns,
          }),
        );
      }
    }
  }
}

function objectText(object: ApiObject): string {
  let text = objectTexts.get(object);
  if (text === undefined) {
    text = encodeJson(object);
    objectTexts.set(object, text);
  }
  return text;
}
