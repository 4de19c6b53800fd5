import type { WireCursor } from "./wire-cursor.ts";
import { wireTypes } from "./wire-cursor.ts";

/** Reads a value that stands behind its tag, as JSON has it. @throws ControllerError `MalformedResponse` */
export type ValueReader = (cursor: WireCursor) => unknown;

/** How values of one type are read. */
export interface ScalarReader {
  readonly wireType: number;
  readonly read: ValueReader;
  /** What JSON has where the value is not on the wire. */
  readonly absent: unknown;
}

/** The types of values that are no messages, or messages that JSON has in another form, by their names in the schema. */
export const scalarReaders: ReadonlyMap<string, ScalarReader> = new Map(
  Object.entries({
    string: delimited((cursor) => cursor.text(cursor.delimited()), ""),
    int: { wireType: wireTypes.varint, read: (cursor) => cursor.integer(), absent: 0 },
    bool: { wireType: wireTypes.varint, read: (cursor) => cursor.integer() !== 0, absent: false },
    bytes: delimited((cursor) => octetsOf(cursor, "base64"), null),
    Time: delimited((cursor) => cursor.within(readTime), null),
    MicroTime: delimited((cursor) => cursor.within(readMicroTime), null),
    Quantity: delimited((cursor) => cursor.within(readQuantity), "0"),
    IntOrString: delimited((cursor) => cursor.within(readIntOrString), 0),
    Json: delimited((cursor) => cursor.within(readJson), null),
    Strings: delimited((cursor) => cursor.within(readStrings), null),
  } satisfies Record<string, ScalarReader>),
);

function delimited(read: ValueReader, absent: unknown): ScalarReader {
  return { wireType: wireTypes.delimited, read, absent };
}

function octetsOf(cursor: WireCursor, encoding: "base64" | "utf8"): string {
  const end = cursor.delimited();
  const text = cursor.octets.toString(encoding, cursor.at, end);
  cursor.at = end;
  return text;
}

/** A time to the second; of no time the message is empty, and JSON has null. */
function readTime(cursor: WireCursor): string | null {
  const instant = readInstant(cursor);
  return instant === undefined ? null : `${secondsText(cursor, instant.seconds)}Z`;
}

/** The same with six decimals. */
function readMicroTime(cursor: WireCursor): string | null {
  const instant = readInstant(cursor);
  if (instant === undefined) return null;
  const micros = String(Math.floor(instant.nanos / 1000)).padStart(6, "0");
  return `${secondsText(cursor, instant.seconds)}.${micros}Z`;
}

function readInstant(cursor: WireCursor): { readonly seconds: number; readonly nanos: number } | undefined {
  if (cursor.at === cursor.end) return undefined;
  let seconds = 0;
  let nanos = 0;
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === 0x08) seconds = cursor.integer();
    else if (tag === 0x10) nanos = cursor.integer();
    else cursor.skip(tag);
  }
  return { seconds, nanos };
}

/** The times of one object are often one: what was written last is remembered. */
let lastText: { readonly seconds: number; readonly text: string } = { seconds: Number.NaN, text: "" };

/** `2026-01-01T00:00:00` */
function secondsText(cursor: WireCursor, seconds: number): string {
  if (lastText.seconds === seconds) return lastText.text;
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) throw cursor.broken(`there is no time ${seconds} s after 1970`);
  lastText = { seconds, text: time.toISOString().slice(0, -5) };
  return lastText.text;
}

function readQuantity(cursor: WireCursor): string {
  let text = "0";
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === 0x0a) text = cursor.text(cursor.delimited());
    else cursor.skip(tag);
  }
  return text;
}

function readIntOrString(cursor: WireCursor): number | string {
  let isText = false;
  let number = 0;
  let text = "";
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === 0x08) isText = cursor.integer() === 1;
    else if (tag === 0x10) number = cursor.integer();
    else if (tag === 0x1a) text = cursor.text(cursor.delimited());
    else cursor.skip(tag);
  }
  return isText ? text : number;
}

/** JSON as it is: what owns which field, and what only a plugin understands. */
function readJson(cursor: WireCursor): unknown {
  let text = "";
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === 0x0a) text = octetsOf(cursor, "utf8");
    else cursor.skip(tag);
  }
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw cursor.broken(`${text.length} characters are not JSON`);
  }
}

/** A list that is the value of a map, and so a message of its own. */
function readStrings(cursor: WireCursor): readonly string[] | null {
  const texts: string[] = [];
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === 0x0a) texts.push(cursor.text(cursor.delimited()));
    else cursor.skip(tag);
  }
  return texts.length === 0 ? null : texts;
}
