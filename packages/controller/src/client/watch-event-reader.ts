import type { KubeObject, Status } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import type { ContainerSpan } from "./container-scanner.ts";
import {
  endOfPlainText,
  isText,
  isWhiteSpace,
  noKey,
  skipToKey,
  skipToValue,
  unsure,
} from "./json-octets.ts";
import { parseDocument } from "./json-stream.ts";
import { ObjectReader } from "./object-reader.ts";
import { readingOf } from "./object-reading.ts";
import type { JsonSpan, ObjectReading } from "./object-reading.ts";
import type { WatchEvent } from "./requests.ts";

/** One event of a watch whose object is not decoded. The reading is valid until the call that hands it over returns. */
export type RawWatchEvent =
  | { readonly type: ChangeType; readonly reading: ObjectReading }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };

type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

const quote = 0x22;
const openBrace = 0x7b;

const octetsOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const typeName: Uint8Array = octetsOf('type"');
const objectName: Uint8Array = octetsOf('object"');
const changeTypes: readonly (readonly [ChangeType, Uint8Array])[] = [
  ["MODIFIED", octetsOf('MODIFIED"')],
  ["ADDED", octetsOf('ADDED"')],
  ["DELETED", octetsOf('DELETED"')],
];

/** Takes the events of a watch out of their documents. Objects stay as they came; the rest, which is rare, is parsed. */
export class WatchEventReader {
  readonly #kind: string;
  readonly #reader: ObjectReader;
  readonly #object: { -readonly [Field in keyof JsonSpan]: JsonSpan[Field] } = {
    octets: Buffer.alloc(0),
    start: 0,
    end: 0,
    ascii: true,
  };

  constructor(type: { readonly kind: string; readonly namespaced: boolean }) {
    this.#kind = type.kind;
    this.#reader = new ObjectReader(type);
  }

  /**
   * The event in a document; `undefined` for a type that a newer server may have, and for an object of another kind.
   *
   * @throws ControllerError `MalformedResponse`
   */
  read(span: ContainerSpan): RawWatchEvent | undefined {
    const change = changeOf(span);
    if (change !== undefined) {
      const object = this.#object;
      object.octets = span.octets;
      object.start = span.innerStart;
      object.end = span.innerEnd;
      object.ascii = span.ascii;
      const reading = this.#reader.read(object);
      return reading === undefined ? undefined : { type: change, reading };
    }
    const event = parseWatchEvent(parseDocument(span.octets.subarray(span.start, span.end)));
    if (event === undefined || event.type === "ERROR") return event;
    if (event.object.kind !== this.#kind) return undefined;
    return event.type === "BOOKMARK" ? event : { type: event.type, reading: readingOf(event.object) };
  }
}

/** The type of `{"type":"MODIFIED","object":{…}}`; `undefined` for anything else. */
function changeOf({
  octets,
  start,
  end,
  innerCount,
  innerStart,
  innerEnd,
}: ContainerSpan): ChangeType | undefined {
  if (innerCount !== 1 || octets[innerStart] !== openBrace) return undefined;
  let at = skipToKey(octets, start + 1);
  if (at === unsure || at === noKey || !isText(octets, at, typeName)) return undefined;
  at = skipToValue(octets, at + typeName.length - 1);
  if (at === unsure || octets[at] !== quote) return undefined;
  const typeStart = at + 1;
  at = endOfPlainText(octets, typeStart);
  if (at === unsure) return undefined;
  at = skipToKey(octets, at + 1);
  if (at === unsure || at === noKey || !isText(octets, at, objectName)) return undefined;
  if (skipToValue(octets, at + objectName.length - 1) !== innerStart) return undefined;
  for (let rest = innerEnd; rest < end - 1; rest++)
    if (!isWhiteSpace(octets[rest] as number)) return undefined;
  return changeTypes.find(([, text]) => isText(octets, typeStart, text))?.[0];
}

const eventTypes: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);

/**
 * The event that a document is; `undefined` for a type that a newer server may have.
 *
 * @throws ControllerError `MalformedResponse`
 */
export function parseWatchEvent<T extends KubeObject>(document: unknown): WatchEvent<T> | undefined {
  const { type, object } = document as { readonly type?: unknown; readonly object?: unknown };
  if (typeof type !== "string" || typeof object !== "object" || object === null) {
    throw new ControllerError("MalformedResponse", "a document of the stream is no watch event");
  }
  if (!eventTypes.has(type)) return undefined;
  const { metadata } = object as { readonly metadata?: unknown };
  if (type !== "ERROR" && (typeof metadata !== "object" || metadata === null)) {
    throw new ControllerError("MalformedResponse", `the object of a ${type} event has no metadata`);
  }
  return { type, object } as WatchEvent<T>;
}
